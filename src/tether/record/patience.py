"""Which lines of one text are still there in another: a patience diff, whitespace ignored. HOOK PATH."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Final

_BINARY_PROBE: Final = 8000  # as git looks for a NUL
_CELLS: Final = 1 << 24  # of one alignment table: 2 MiB of bits
_DEPTH: Final = 40
_SLIDE: Final = 100  # lines a change is slid at most
_MOVED: Final = 40  # characters a moved block needs, so that no brace or blank counts as one
_TELLING: Final = 6  # of them, in the line it is found by


def split(data: bytes) -> list[bytes]:
    """The lines of a text without their newlines, counted as git counts them; none for a binary."""
    if b"\0" in data[:_BINARY_PROBE]:
        return []
    lines = data.replace(b"\r\n", b"\n").split(b"\n")
    if not lines[-1]:
        lines.pop()
    return lines


def strip(lines: Sequence[bytes]) -> list[bytes]:
    """Each line without any whitespace: what makes it the same line after re-indentation."""
    # one pass over the joined text is many times faster than one for each line
    return b"\n".join(lines).translate(None, b" \t\r\v\f").split(b"\n") if lines else []


def compare(old: Sequence[bytes], new: Sequence[bytes]) -> list[tuple[int, int, int]]:
    """Runs `(old start, new start, length)` of lines that stayed or moved within the file.

    Where a change could as well lie a few lines higher or lower, it lies where a reader would see it:
    at an outer indentation, after a blank line.
    """
    old_keys, new_keys = strip(old), strip(new)
    runs = match(old_keys, new_keys)
    _slide(runs, old, old_keys, new, new_keys)
    return runs + _follow(runs, old_keys, new_keys)


def match(old: Sequence[bytes], new: Sequence[bytes]) -> list[tuple[int, int, int]]:
    """Runs `(old start, new start, length)` of lines that stayed, in order and maximal.

    Lines that occur once on each side anchor the comparison; between anchors the common ends are
    taken, then the longest common subsequence. Memory stays linear and time near it: a region too
    large for an exact alignment is cut in two.
    """
    runs: list[tuple[int, int, int]] = []
    regions = [(0, len(old), 0, len(new), 0)]
    while regions:
        a, a_end, b, b_end, depth = regions.pop()
        start = a
        while a < a_end and b < b_end and old[a] == new[b]:
            a += 1
            b += 1
        if a > start:
            runs.append((start, b - (a - start), a - start))
        end = a_end
        while a < a_end and b < b_end and old[a_end - 1] == new[b_end - 1]:
            a_end -= 1
            b_end -= 1
        if a_end < end:
            runs.append((a_end, b_end, end - a_end))
        if a == a_end or b == b_end:
            continue
        anchors = _anchor(old, a, a_end, new, b, b_end) if depth < _DEPTH else []
        if anchors:
            for i, j in reversed(anchors):
                regions.append((i, a_end, j, b_end, depth + 1))
                a_end, b_end = i, j
            regions.append((a, a_end, b, b_end, depth + 1))
        else:
            runs.extend(_align(old, a, a_end, new, b, b_end))
    runs.sort()
    return _join(runs)


def _slide(
    runs: list[tuple[int, int, int]],
    old: Sequence[bytes],
    old_keys: list[bytes],
    new: Sequence[bytes],
    new_keys: list[bytes],
) -> None:
    for at in range(1, len(runs)):
        (a, b, before), (i, j, after) = runs[at - 1], runs[at]
        if a + before == i:
            shift = _shift(new, new_keys, b + before, j, before, after)
        elif b + before == j:
            shift = _shift(old, old_keys, a + before, i, before, after)
        else:
            continue
        runs[at - 1] = (a, b, before + shift)
        runs[at] = (i + shift, j + shift, after - shift)


def _shift(lines: Sequence[bytes], keys: list[bytes], start: int, end: int, above: int, below: int) -> int:
    """How far down (negative: up) the lines from `start` to `end`, which one side lacks, had best lie."""
    low = high = 0
    while -low < min(above - 1, _SLIDE) and keys[start - 1 + low] == keys[end - 1 + low]:
        low -= 1
    while high < min(below - 1, _SLIDE) and keys[start + high] == keys[end + high]:
        high += 1
    if low == high:
        return 0
    return min(
        range(low, high + 1),
        key=lambda shift: (*_roughness(lines, keys, start + shift, end + shift), -shift),
    )


def _roughness(lines: Sequence[bytes], keys: list[bytes], *cuts: int) -> tuple[int, int]:
    """How unlike a reader's cuts these are: their indentation, then the blank lines they are not at."""
    indent = blanks = 0
    for cut in cuts:
        at = cut
        while at < len(keys) and not keys[at]:
            at += 1
        blanks -= 4 * (at - cut)
        if at < len(lines):
            line = lines[at].expandtabs(8)
            indent += len(line) - len(line.lstrip())
        while cut > 0 and not keys[cut - 1]:
            cut -= 1
            blanks -= 5
    return indent, blanks


def _follow(
    runs: list[tuple[int, int, int]], old: list[bytes], new: list[bytes]
) -> list[tuple[int, int, int]]:
    """Blocks that went from one place of the file to another, found by lines that left and came once each."""
    left, came = bytearray(b"\1" * len(old)), bytearray(b"\1" * len(new))
    for i, j, count in runs:
        left[i : i + count] = came[j : j + count] = bytes(count)
    if 1 not in left or 1 not in came:
        return []
    arrivals: dict[bytes, int] = {}
    for j, key in enumerate(new):
        if came[j] and len(key) >= _TELLING:
            arrivals[key] = -1 if key in arrivals else j
    departures: dict[bytes, int] = {}
    for i, key in enumerate(old):
        if left[i] and arrivals.get(key, -1) >= 0:
            departures[key] = -1 if key in departures else i
    moved = []
    for key, i in departures.items():
        j = arrivals[key]
        if i < 0 or not left[i] or not came[j]:
            continue
        a, b = i, j
        while a and b and left[a - 1] and came[b - 1] and old[a - 1] == new[b - 1]:
            a, b = a - 1, b - 1
        end = i + 1
        while end < len(old) and end - a + b < len(new) and left[end] and came[end - a + b]:
            if old[end] != new[end - a + b]:
                break
            end += 1
        if sum(map(len, old[a:end])) >= _MOVED:
            moved.append((a, b, end - a))
            left[a:end] = came[b : b + end - a] = bytes(end - a)
    return moved


def _anchor(
    old: Sequence[bytes], a: int, a_end: int, new: Sequence[bytes], b: int, b_end: int
) -> list[tuple[int, int]]:
    """The longest increasing sequence of lines unique on both sides."""
    seen: dict[bytes, int] = {}
    for j in range(b, b_end):
        seen[new[j]] = -1 if new[j] in seen else j
    once: dict[bytes, int] = {}
    for i in range(a, a_end):
        if seen.get(old[i], -1) >= 0:
            once[old[i]] = -1 if old[i] in once else i
    from bisect import bisect_left

    tails: list[int] = []  # smallest final `new` position of an increasing sequence of each length
    last: list[tuple[int, int]] = []  # the pair that ends it
    before: dict[int, tuple[int, int] | None] = {}  # the pair it follows
    for key, i in once.items():
        if i < 0:
            continue
        j = seen[key]
        at = bisect_left(tails, j)
        if at == len(tails):
            tails.append(j)
            last.append((i, j))
        else:
            tails[at] = j
            last[at] = (i, j)
        before[j] = last[at - 1] if at else None
    chain: list[tuple[int, int]] = []
    pair = last[-1] if last else None
    while pair is not None:
        chain.append(pair)
        pair = before[pair[1]]
    chain.reverse()
    return chain


def _align(
    old: Sequence[bytes], a: int, a_end: int, new: Sequence[bytes], b: int, b_end: int
) -> list[tuple[int, int, int]]:
    """A longest common subsequence, by bit vectors over the lines both sides have at all."""
    shared = set(old[a:a_end]) & set(new[b:b_end])
    left = [i for i in range(a, a_end) if old[i] in shared]
    right = [j for j in range(b, b_end) if new[j] in shared]
    pieces = 1
    while (len(left) // pieces + 1) * (len(right) // pieces + 1) > _CELLS:
        pieces *= 2
    runs: list[tuple[int, int, int]] = []
    for piece in range(pieces):
        rows = right[len(right) * piece // pieces : len(right) * (piece + 1) // pieces]
        columns = left[len(left) * piece // pieces : len(left) * (piece + 1) // pieces]
        runs.extend((i, j, 1) for i, j in _subsequence(old, columns, new, rows))
    return runs


def _subsequence(
    old: Sequence[bytes], columns: list[int], new: Sequence[bytes], rows: list[int]
) -> list[tuple[int, int]]:
    """Pairs of the longest common subsequence of the chosen lines, in reverse order."""
    places: dict[bytes, int] = {}
    for bit, i in enumerate(columns):
        places[old[i]] = places.get(old[i], 0) | 1 << bit
    mask = (1 << len(columns)) - 1
    state = mask
    table = []
    for j in rows:
        hit = state & places.get(new[j], 0)
        state = ((state + hit) | (state - hit)) & mask
        table.append(state)
    # A zero bit in row r, column c says: the subsequence of new[:r+1] and old[:c+1] is one longer
    # than that of new[:r+1] and old[:c].
    pairs = []
    row, column = len(rows), len(columns)
    while row and column:
        if table[row - 1] >> (column - 1) & 1:
            column -= 1
        elif row > 1 and not table[row - 2] >> (column - 1) & 1:
            row -= 1
        else:
            row -= 1
            column -= 1
            pairs.append((columns[column], rows[row]))
    return pairs


def _join(runs: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    joined: list[tuple[int, int, int]] = []
    for i, j, count in runs:
        if joined and joined[-1][0] + joined[-1][2] == i and joined[-1][1] + joined[-1][2] == j:
            joined[-1] = (joined[-1][0], joined[-1][1], joined[-1][2] + count)
        else:
            joined.append((i, j, count))
    return joined
