"""Made-up secrets of the right shape, assembled when a test runs so that no file holds one."""

from __future__ import annotations

import base64
import random
import re

_ALPHABETS = {
    "a": "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
    "l": "abcdefghijklmnopqrstuvwxyz0123456789",
    "u": "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
    "h": "0123456789abcdef",
    "H": "0123456789ABCDEF",
    "d": "0123456789",
    "b": "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
    "B": "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
    "A": "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
    "k": "abcdefghijklmnopqrstuvwxyz",
}
_MARK = re.compile(r"<([a-zA-Z])(\d+)>")
_SYMBOLS = "!#%^*+?@$&"


def make(recipe: str, seed: object) -> str:
    """`recipe` with `<h32>` replaced by 32 random hex digits, and so on; the same seed gives the same string.

    Also: <p12> a password of that length, <g0> a UUID, <w64> base64 with padding, <j0> a JSON web token.
    """
    dice = random.Random(f"{recipe}|{seed}")

    def fill(match: re.Match[str]) -> str:
        kind, size = match[1], int(match[2])
        if kind == "p":
            chars = [dice.choice(_ALPHABETS["a"]) for _ in range(size - 3)]
            chars += [dice.choice("23456789"), dice.choice("KQXZ"), dice.choice(_SYMBOLS[:6])]
            dice.shuffle(chars)
            # A symbol first would read as the start of an expression.
            return ("k" + "".join(chars))[:size]
        if kind == "g":
            raw = "".join(dice.choice(_ALPHABETS["h"]) for _ in range(32))
            return f"{raw[:8]}-{raw[8:12]}-4{raw[13:16]}-a{raw[17:20]}-{raw[20:]}"
        if kind == "w":
            return base64.b64encode(bytes(dice.randrange(256) for _ in range(size))).decode()
        if kind == "j":
            parts = (
                b'{"alg":"RS256","typ":"JWT"}',
                f'{{"sub":"{dice.randrange(10**9)}","admin":true}}'.encode(),
            )
            head, body = (base64.urlsafe_b64encode(p).decode().rstrip("=") for p in parts)
            return f"{head}.{body}." + "".join(dice.choice(_ALPHABETS["b"][:-2]) for _ in range(43))
        return "".join(dice.choice(_ALPHABETS[kind]) for _ in range(size))

    return _MARK.sub(fill, recipe)
