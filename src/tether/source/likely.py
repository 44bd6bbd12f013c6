"""Whether a name names a secret, and whether a value could be one. HOOK PATH: pure, standard library only."""

from __future__ import annotations

import re
from functools import lru_cache
from math import log2

from tether.source import secrets as data

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class _Pattern:
    """A regular expression that is compiled when it is first used: a hook often needs none of them."""

    def __init__(self, source: str, flags: int = 0) -> None:
        self._source, self._flags = source, flags

    def __getattr__(self, name: str) -> Any:
        method = getattr(re.compile(self._source, self._flags), name)
        setattr(self, name, method)
        return method


_WORDS = _Pattern(r"[A-Z]{2,}(?![a-z])|[A-Z]?[a-z]+|[A-Z]|\d+")
_VOWELLED = _Pattern(r"[aeiouy]", re.IGNORECASE)
_CONSONANTS = _Pattern(r"[bcdfghjklmnpqrstvwxz]{5}", re.IGNORECASE)
_TEMPLATE = _Pattern(
    r"\A(?:\$[A-Za-z_{(]|%[A-Za-z_(]|@[A-Za-z_{]|\{[A-Za-z_{%]|<[^>]|\[[A-Za-z_]|:[a-z_]+\Z|env[.:(]|ENC\[|!|&[A-Za-z]|\*)"
)
_TEMPLATE_INSIDE = _Pattern(
    r"\$\{|\{\{|\}\}|\$\(|%\([A-Za-z]|\{[A-Za-z_][A-Za-z0-9_.]{0,60}\}|%[A-Z_]{3,40}%"
)
_REFERENCE = _Pattern(r"\A[A-Za-z_$][A-Za-z0-9_$]*(?:(?:\.|::|->|\?\.)[A-Za-z_$][A-Za-z0-9_$]*)+\Z")
_PATH = _Pattern(
    r"\A(?:[./~]|[A-Za-z]:[\\/]|[a-z][a-z0-9+.-]{1,30}:/)|\.(?:py|js|ts|json|ya?ml|txt|md|html|pem|crt|key|pub|go|rs|java|rb|php|sh|env|toml|xml|css|svg|png)\Z"
)
_UUID = _Pattern(r"\A[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\Z")
_HEX = _Pattern(r"\A[0-9a-fA-F]+\Z")
_DIGEST = _Pattern(
    r"\A(?:sha(?:1|224|256|384|512)|md5|blake2[bs]|blake3|h1)[-:=]|\A\$(?:2[aby]|argon2|pbkdf2|scrypt|[156y])\$|\A\{SSHA",
    re.IGNORECASE,
)
_VERSION = _Pattern(r"\Av?\d+(?:\.\d+){1,3}(?:[-+.][A-Za-z0-9.]+)?\Z")
_DATE = _Pattern(r"\A\d{4}-\d\d-\d\d(?:[T ]|\Z)")
_ARN = _Pattern(
    r"\A(?:arn:|urn:|projects/|ref:|secretref:|vault:|op://|ssm:|secretsmanager|keyvault)", re.IGNORECASE
)
_SPACE, _DIGIT, _LOWER, _UPPER = (_Pattern(p) for p in (r"\s", r"\d", "[a-z]", "[A-Z]"))
_OTHER = _Pattern(r"[^\w.-]|[^\x00-\x7f]")
_SAMPLE = 128


@lru_cache(maxsize=2048)
def words_of(name: str) -> tuple[str, ...]:
    """A name's words in lower case: `awsSecretKey_v2` → aws, secret, key, v, 2."""
    return tuple(word.lower() for word in _WORDS.findall(name[-160:]))


@lru_cache(maxsize=4096)
def name_strength(name: str) -> str:
    """What a name says of its value: `password`, `secret`, `weak` (perhaps a key), or "" (nothing)."""
    words = list(words_of(name))
    while len(words) > 1 and (words[-1] in data.HARMLESS_SUFFIXES or words[-1].isdigit() or words[-1] == "v"):
        words.pop()
    if not words:
        return ""
    last, before = words[-1], words[-2] if len(words) > 1 else ""
    if last == "base" and before == "key":
        words.pop()
        last, before = words[-1], words[-2] if len(words) > 1 else ""
    if last in ("keys", "passwords"):
        last = last[:-1]
    if last == "word" and before == "pass":
        last, before = "password", words[-3] if len(words) > 2 else ""
    if last in ("phrase", "code", "wd") and before == "pass":
        last, before = "password", ""
    for ending in ("password", "passwd", "passphrase", "secret", "apikey"):
        if last.endswith(ending):
            last = ending
    if last in data.PASSWORD_WORDS:
        if last in ("pass", "pw") and before in data.NOT_SECRET_QUALIFIERS:
            return ""
        return "password"
    if last in data.STRONG_WORDS:
        if before in data.NOT_SECRET_QUALIFIERS:
            return ""
        return "" if last in ("tokens", "pat") and len(words) == 1 else "secret"
    if last == "key":
        if before in data.NOT_SECRET_QUALIFIERS or not before:
            return ""
        return "secret" if before in data.KEY_QUALIFIERS else "weak"
    if last == "auth":
        return "weak" if name[:1] == "_" or before in ("http", "basic", "proxy", "registry", "npm") else ""
    if last == "id" and before == "secret":
        return "secret"
    return ""


def is_secret_name(name: str) -> bool:
    """Whether what stands under this name is a secret whatever it looks like."""
    return name_strength(name) in ("password", "secret")


def entropy(value: str) -> float:
    """Bits per character, from the value's own character frequencies."""
    total = len(value)
    if not total:
        return 0.0
    return -sum(n / total * log2(n / total) for n in (value.count(char) for char in set(value)))


def is_placeholder(value: str) -> bool:
    """Whether a value only stands for a secret: a template, a blank, a word people write in its place."""
    bare = value.strip().strip("\"'`")
    lowered = bare.lower()
    if len(set(lowered)) <= 2 or _TEMPLATE.match(bare) or _TEMPLATE_INSIDE.search(bare):
        return True
    if any(part in lowered for part in data.PLACEHOLDER_PARTS):
        return True
    stem = re.sub(r"[\d\W_]+\Z", "", lowered)
    if stem in data.COMMON_WORDS:
        return len(lowered) - len(stem) <= 4
    pieces = [piece for piece in re.split(r"[\W_]+", lowered) if piece]
    return bool(pieces) and all(piece in data.COMMON_WORDS or piece.isdigit() for piece in pieces)


def is_wordy(value: str) -> bool:
    """Whether a value reads as words: an identifier, a file name, a sentence in another language."""
    letters = wordy = digits = 0
    for piece in _WORDS.findall(value):
        if piece.isdigit():
            digits += len(piece)
            continue
        letters += len(piece)
        if len(piece) >= 3 and _VOWELLED.search(piece) and not _CONSONANTS.search(piece):
            wordy += len(piece)
    total = letters + digits
    return total == 0 or wordy >= 0.7 * total


def looks_secret(value: str, strength: str, quoted: bool) -> bool:
    """Whether `value`, assigned to a name of this strength, is a real secret and not a stand-in."""
    size = len(value)
    if size < 6 or size > 4096 or _SPACE.search(value):
        return False
    # A long value is judged by how it begins, so that judging costs the same for any length.
    value = value[:_SAMPLE]
    if is_placeholder(value) or (strength != "password" and not value.isascii()):
        return False
    if "://" in value or (_PATH.search(value) and (size < 20 or is_wordy(value))):
        return False
    if _DIGEST.match(value) or _VERSION.match(value) or _DATE.match(value):
        return False
    if _ARN.match(value) or (_REFERENCE.match(value) and is_wordy(value)):
        return False
    if strength == "password":
        return _is_password(value, quoted)
    if _UUID.match(value):
        return strength == "secret"
    if not _DIGIT.search(value):
        # Random letters alone are rare; words are not.
        return size >= 20 and not is_wordy(value) and _mixed(value) and entropy(value) >= 3.5
    if is_wordy(value):
        return False
    if _HEX.match(value):
        return size >= 16 and strength == "secret" and entropy(value) >= 2.8
    if strength == "weak" and (size < 20 or not _mixed(value)):
        return False
    return size >= 10 and entropy(value) >= (2.8 if size < 20 else 3.2)


_NUMBERED_WORD = _Pattern(
    r"\A(?:user|test|admin|pass|demo|foo|bar|item|field|step|page|col|row|tab|line|level|key)[a-z]*[-_]?\d{1,6}\Z",
    re.IGNORECASE,
)


def _is_password(value: str, quoted: bool) -> bool:
    """Passwords people choose are short: two kinds of characters at least, and not the name of something."""
    size = len(value)
    lower, upper = _LOWER.search(value) is not None, _UPPER.search(value) is not None
    digit, other = _DIGIT.search(value) is not None, _OTHER.search(value) is not None
    if not quoted and any(mark in value for mark in "()[]{}<>|"):
        return False
    kinds = lower + upper + digit + other
    if kinds >= 3:
        return digit or other or not is_wordy(value)
    if other and kinds == 2:
        return digit or (size >= 8 and not is_wordy(value))
    if digit and kinds == 2:
        return size >= 7 and not _NUMBERED_WORD.match(value)
    if digit:
        return False
    return size >= (10 if lower and upper else 12) and not is_wordy(value)


def _mixed(value: str) -> bool:
    return _LOWER.search(value) is not None and _UPPER.search(value) is not None
