"""A small project in several languages, and its index."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tether.index.code import CodeIndex

FILES = {
    "src/shop/cart.py": '''"""The shopping cart."""

import json
from shop.prices import find_price


class Cart:
    """What a customer is about to buy."""

    def __init__(self, owner):
        self.owner = owner
        self.lines = []

    def add_line(self, product, quantity):
        """Put a product into the cart."""
        self.lines.append((product, quantity))

    def total(self):
        """The sum of all lines, taxes included."""
        return sum(find_price(product) * quantity for product, quantity in self.lines)


def load_cart(text):
    """Read a cart from JSON."""
    return json.loads(text)
''',
    "src/shop/prices.py": '''"""Prices and taxes."""

TAX_RATE = 0.19


def find_price(product):
    """The gross price of a product, tax added."""
    return product.net * (1 + TAX_RATE)
''',
    "src/web/session.ts": """import { randomBytes } from "crypto";

export interface Session { id: string; expires: number }

export class SessionStore {
  private sessions = new Map<string, Session>();

  create(ttl: number): Session {
    const session = { id: randomBytes(16).toString("hex"), expires: Date.now() + ttl };
    this.sessions.set(session.id, session);
    return session;
  }

  expireOld(): void {
    for (const [id, session] of this.sessions) {
      if (session.expires < Date.now()) this.sessions.delete(id);
    }
  }
}
""",
    "tests/test_cart.py": '''from shop.cart import Cart


def test_total_of_an_empty_cart():
    """The cart total of nothing is nothing."""
    assert Cart("ann").total() == 0
''',
    "docs/guide.md": "# Guide\n\nThe cart total includes taxes.\n\n## Sessions\n\nSessions expire.\n",
    "settings.json": '{"cart": {"currency": "EUR"}}\n',
}


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str], Path]:
    """Write a file of the project, old enough to be trusted by its time."""

    def write_file(path: str, text: str, *, age: float = 3600) -> Path:
        full = tmp_path / path
        full.parent.mkdir(parents=True, exist_ok=True)
        full.write_text(text, encoding="utf-8")
        then = full.stat().st_mtime - age
        os.utime(full, (then, then))
        return full

    return write_file


@pytest.fixture
def project(tmp_path: Path, write: Callable[[str, str], Path]) -> Path:
    """The sample project's directory."""
    for path, text in FILES.items():
        write(path, text)
    return tmp_path


@pytest.fixture
def index(project: Path) -> Iterator[CodeIndex]:
    """The sample project, indexed."""
    with CodeIndex(str(project)) as opened:
        opened.index()
        yield opened
