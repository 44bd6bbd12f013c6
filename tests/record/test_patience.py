import random

from hypothesis import given, settings
from hypothesis import strategies as st

from tether.record import patience
from tether.record.patience import compare, match, split, strip

texts = st.lists(
    st.sampled_from([b"a", b"b", b"c", b"", b"}", b"unique1", b"unique2", b"unique3"]), max_size=30
)


def test_lines_are_counted_as_git_counts_them():
    assert split(b"") == []
    assert split(b"\n") == [b""]
    assert split(b"a") == [b"a"]
    assert split(b"a\nb\n") == [b"a", b"b"]
    assert split(b"a\r\nb\r\n") == [b"a", b"b"]
    assert split(b"a\rb\n") == [b"a\rb"]
    assert split(b"\x00\n\n") == []


def test_whitespace_does_not_make_a_line_another():
    assert strip([b"  if  x :\t", b"if x:"]) == [b"ifx:", b"ifx:"]


@given(old=texts, new=texts)
def test_runs_match_line_for_line_and_in_order(old, new):
    a = b = 0
    for i, j, count in match(old, new):
        assert count > 0
        assert i >= a and j >= b
        assert (i, j) != (a, b) or a == b == 0, "adjacent runs are joined"
        assert old[i : i + count] == new[j : j + count]
        a, b = i + count, j + count


@given(text=texts)
def test_a_text_matches_itself_whole(text):
    assert match(text, text) == ([(0, 0, len(text))] if text else [])


@given(old=texts, new=texts)
@settings(max_examples=200)
def test_an_alignment_is_a_longest_common_subsequence(old, new):
    lengths = [[0] * (len(new) + 1) for _ in range(len(old) + 1)]
    for i, x in enumerate(old):
        for j, y in enumerate(new):
            lengths[i + 1][j + 1] = lengths[i][j] + 1 if x == y else max(lengths[i][j + 1], lengths[i + 1][j])
    found = patience._align(old, 0, len(old), new, 0, len(new))
    assert len(found) == lengths[-1][-1]
    for (i, j, _), (k, m, _) in zip(sorted(found), sorted(found)[1:], strict=False):
        assert i < k and j < m


def test_a_moved_function_does_not_pull_others_braces_along():
    one = [b"def one():", b"{", b"return1", b"}", b""]
    two = [b"def two():", b"{", b"return2", b"}", b""]
    three = [b"def three():", b"{", b"return3", b"}", b""]
    assert match(one + two, one + three + two) == [(0, 0, 5), (5, 10, 5)]


def test_a_region_too_large_to_align_exactly_is_cut_up(monkeypatch):
    monkeypatch.setattr(patience, "_CELLS", 64)
    rng = random.Random(7)
    old = [rng.choice([b"x", b"y"]) for _ in range(300)]
    new = [line for line in old if rng.random() > 0.1]
    found = match([b"z", b"z", *old], [b"w", *new])
    assert sum(count for _, _, count in found) > len(new) // 2


def test_adversarial_repetition_stays_quick():
    rng = random.Random(1)
    old = [rng.choice([b"0,", b"1,", b"2,"]) for _ in range(20_000)]
    new = [rng.choice([b"0,", b"1,", b"2,"]) for _ in range(20_000)]
    assert sum(count for _, _, count in match(old, new)) > 5_000


padded = st.lists(
    st.sampled_from(
        [b"", b"  ", b"}", b"    x()", b"x()", b"def one():", b"    return value_of_one()", b"@thing"]
    ),
    max_size=40,
)


@given(old=padded, new=padded)
@settings(max_examples=300)
def test_no_line_stays_twice_or_as_another(old, new):
    old, new = [*old, b"def two(argument):", b"    return argument"], [b"def two(argument):", *new]
    gone, come = set(), set()
    for i, j, count in compare(old, new):
        assert strip(old[i : i + count]) == strip(new[j : j + count])
        for n in range(count):
            assert i + n not in gone and j + n not in come
            gone.add(i + n)
            come.add(j + n)


def lines_of(text):
    return [line.encode() for line in text.strip("\n").split("\n")]


def introduced(old, new):
    stayed = {j + n for _, j, count in compare(old, new) for n in range(count)}
    return [line for at, line in enumerate(new) if at not in stayed]


def test_an_inserted_function_comes_with_its_own_decorator():
    old = lines_of("@thing\ndef one():\n    pass\n\n@thing\ndef three():\n    pass")
    two = [*lines_of("@thing\ndef two():\n    pass\n"), b""]
    assert introduced(old, old[:4] + two + old[4:]) == two


def test_a_removed_function_takes_its_own_blank_line():
    old = lines_of("def one():\n    pass\n\ndef two():\n    pass\n\ndef three():\n    pass")
    new = old[:3] + old[6:]
    assert sorted(compare(old, new)) == [(0, 0, 3), (6, 3, 2)]


def test_a_block_that_moved_stays():
    block = lines_of("def moved(first, second):\n    return first + second + first")
    rest = [f"line number {n}".encode() for n in range(8)]
    assert introduced(block + rest, rest + block) == []


def test_a_brace_that_turns_up_elsewhere_has_not_moved():
    rest = [f"line number {n}".encode() for n in range(8)]
    assert introduced([b"}", *rest], [*rest, b"}"]) == [b"}"]


def test_what_was_copied_is_new():
    block = lines_of("def copied(first, second):\n    return first + second + first")
    rest = [f"line number {n}".encode() for n in range(8)]
    assert introduced(block + rest, block + rest + block) == block
