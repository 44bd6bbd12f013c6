"""The core as a browser sees it: a configuration, an engine, and files given as `{path, content}`.

Nothing here, or in what it imports, needs a file system, a clock or a compiled wheel. Tokens are an estimate
and structure comes from patterns, and the metadata says so.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import tether
from tether.errors import TetherError
from tether.pack.budget import check_strategy, parse_budget
from tether.pack.compose import Settings
from tether.pack.engine import pack
from tether.pack.entry import Pack
from tether.pack.formats import find_format
from tether.pack.lenses import find_lens
from tether.pack.redaction import find_secrets


@dataclass(frozen=True, slots=True)
class EncoderConfig:
    """How to pack. Every `with_…` gives a new configuration."""

    settings: Settings = field(default_factory=Settings)
    sensitive: bool = False

    @classmethod
    def new(cls) -> EncoderConfig:
        """The defaults."""
        return cls(Settings(version=tether.__version__))

    def with_format(self, name: str) -> EncoderConfig:
        """plus-minus, claude-xml, xml, markdown or json."""
        return replace(self, settings=replace(self.settings, format=find_format(name).name))

    def with_frozen(self, frozen: bool = True) -> EncoderConfig:
        """The same bytes for the same files."""
        return replace(self, settings=replace(self.settings, frozen=bool(frozen)))

    def with_lens(self, name: str) -> EncoderConfig:
        """architecture, debug, security or onboarding."""
        return replace(self, settings=replace(self.settings, lens=find_lens(name)))

    def with_budget(self, budget: str | float, strategy: str = "hybrid") -> EncoderConfig:
        """The most tokens, as `15k` or a number."""
        number = parse_budget(int(budget) if isinstance(budget, (int, float)) else budget)
        settings = replace(self.settings, budget=number, strategy=check_strategy(strategy))
        return replace(self, settings=settings)

    def with_allow_sensitive(self, allow: bool = True) -> EncoderConfig:
        """Keep secrets."""
        return replace(self, sensitive=bool(allow))

    def with_timestamp(self, timestamp: str) -> EncoderConfig:
        """When the pack is made: the core has no clock."""
        return replace(self, settings=replace(self.settings, timestamp=timestamp))


class ContextEngine:
    """Packs files under one configuration."""

    def __init__(self, config: EncoderConfig) -> None:
        self.config = config

    @classmethod
    def with_config(cls, config: EncoderConfig) -> ContextEngine:
        """An engine."""
        return cls(config)

    def pack_files(self, files: Iterable[Any]) -> Pack:
        """The pack, and what became of each file."""
        # A list that comes from JavaScript is a proxy until it is asked to be Python's.
        given = files.to_py() if hasattr(files, "to_py") else files
        if not isinstance(given, list):
            raise TetherError("BAD_ARGUMENTS", "files must be a list of {path, content}")
        settings = self.config.settings
        if not self.config.sensitive:
            settings = replace(settings, redact=find_secrets, redactor="tether")
        return pack(given, settings=settings)

    def serialize_files(self, files: Iterable[Any]) -> str:
        """The text of the pack."""
        return self.pack_files(files).text
