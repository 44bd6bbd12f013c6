"""Names that mislead: look-alikes, invisible characters, devices of other systems. HOOK PATH."""

from __future__ import annotations

import functools
import os
import re

from tether.source.pattern import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

# Names no other spelling may stand for, when the caller gives no list of its own.
GUARDED = (".git", ".tether", ".orchestration", "tether.toml", "tether.local.toml", "aop_config.json")

NAME_BYTES = 255

_CONTROL = lazy("[\x01-\x1f\x7f-\x9f]")
_SURROGATE = lazy("[\ud800-\udfff]")
# CON.txt is as much a device as CON; superscript digits count as digits on Windows.
_DEVICE = lazy(r"(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³])(\..*)?", re.IGNORECASE)
_DRIVE = lazy(r"[A-Za-z]:")
_SHORT = lazy(r"([^~]{1,6})~[0-9]+(\..{0,3})?")
# Default-ignorable characters that are not of category Cf: fillers, joiners, variation selectors.
_INVISIBLE = lazy(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
# Letters of other alphabets drawn like Latin ones; enough of them to spell the protected names.
_LOOK_ALIKES = str.maketrans(
    "аеорсухіјѕһԁԛԝӏгтпмкви" + "αεορτικνυχγ" + "ɡɢıɩℓɑ" + "⁄∕⧸․·。∙ꞏ‐‑‒–—−",
    "aeopcyxijshdqwlrtnmkbu" + "aeoptiknuxy" + "ggiila" + "///.....------",
)


def canonical_name(dir_fd: int, name: str, listing: Callable[[int], Iterable[str]] = os.listdir) -> str:
    """The spelling a case-folding directory keeps for `name`; `name` itself when there is no single one."""
    folded = _fold(name)
    alike = []
    for entry in listing(dir_fd):
        if entry == name:
            return name
        if _fold(entry) == folded:
            alike.append(entry)
    return alike[0] if len(alike) == 1 else name


def folds_case(dir_fd: int) -> bool | None:
    """Whether the directory finds its entries under another case; None when it has no entry to tell by."""
    with os.scandir(dir_fd) as entries:
        for entry in entries:
            other = entry.name.swapcase()
            if other == entry.name:
                continue
            try:
                mine = entry.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue
            try:
                theirs = os.stat(other, dir_fd=dir_fd, follow_symlinks=False)
            except OSError:
                return False
            return (mine.st_dev, mine.st_ino) == (theirs.st_dev, theirs.st_ino)
    return None


@functools.lru_cache(4096)
def find_fault(name: str, protected: frozenset[str]) -> tuple[str, str]:
    """The problem with one path component and a sentence about it; two empty strings when it is honest."""
    if "\0" in name:
        return "nul", "a NUL byte cuts the name short"
    if _CONTROL.search(name):
        return "control", "the name holds a control character"
    if _SURROGATE.search(name):
        return "bad_name", "the name is not valid Unicode"
    if "\\" in name:
        return "bad_name", "backslashes are not separators here; use `/`"
    if name[-1:] in (".", " ") and name not in (".", ".."):
        return "bad_name", "the name ends in a dot or a space, which other systems drop"
    if _DRIVE.match(name) or "::" in name:
        return "bad_name", "drive letters and streams are not paths here"
    if len(os.fsencode(name)) > NAME_BYTES:
        return "too_long", f"a name may take {NAME_BYTES} bytes"
    if name in protected:
        return "", ""
    if not name.isascii():
        fault = _find_unicode_fault(name)
        if fault:
            return "ambiguous_name", fault
    folded = _fold(name)
    # INVARIANT: a protected name has one spelling; whatever another system would read as it is refused.
    if folded in protected or folded.partition(":")[0] in protected:
        return "ambiguous_name", f"the name passes for `{folded}`"
    if "~" in folded:
        short = _SHORT.fullmatch(folded)
        if short and any(short[1] == name.lstrip(".").partition(".")[0][:6] for name in protected):
            return "ambiguous_name", "the name may be the short form of a protected one"
    return "", ""


def is_device(name: str) -> bool:
    """Whether other systems would open a device under this name."""
    return _DEVICE.fullmatch(name) is not None


def _fold(name: str) -> str:
    if name.isascii():
        return name.lower()
    from unicodedata import normalize

    folded = normalize("NFKC", normalize("NFKC", name).casefold()).translate(_LOOK_ALIKES)
    return folded.lower().rstrip(" .")


def _find_unicode_fault(name: str) -> str:
    from unicodedata import category, is_normalized, normalize

    if not is_normalized("NFC", name):
        return "the name is not in Unicode's composed form (NFC)"
    if _INVISIBLE.search(name) or any(category(c) in ("Cf", "Zl", "Zp", "Cn", "Co") for c in name):
        return "the name holds an invisible or direction-changing character"
    plain = normalize("NFKC", name).translate(_LOOK_ALIKES)
    if "/" in plain or "\\" in plain or plain.strip() in (".", ".."):
        return "the name holds a look-alike of a separator"
    return ""
