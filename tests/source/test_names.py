"""Names that mislead are found out; ordinary ones pass."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tether.source import names

GUARDED = frozenset(names.GUARDED)


def test_a_folding_directory_gives_the_spelling_it_keeps() -> None:
    def listing(_: int) -> list[str]:
        return ["Readme.md", "src", "Ünï.txt"]

    assert names.canonical_name(-1, "README.MD", listing) == "Readme.md"
    assert names.canonical_name(-1, "SRC", listing) == "src"
    assert names.canonical_name(-1, "ÜNÏ.TXT", listing) == "Ünï.txt"
    assert names.canonical_name(-1, "absent", listing) == "absent"


def test_an_exact_entry_wins_over_one_that_only_folds_alike() -> None:
    assert names.canonical_name(-1, "a", lambda _: ["A", "a"]) == "a"


def test_two_entries_that_fold_alike_leave_the_name_as_given() -> None:
    assert names.canonical_name(-1, "ab", lambda _: ["AB", "Ab"]) == "ab"


def test_this_file_system_is_told_to_keep_case_only_if_it_does(tmp_path) -> None:
    fd = os.open(tmp_path, os.O_RDONLY)
    try:
        assert names.folds_case(fd) is None
        (tmp_path / "Entry").write_text("")
        assert names.folds_case(fd) == (tmp_path / "eNTRY").exists()
    finally:
        os.close(fd)


@pytest.mark.parametrize("name", ["CON", "nul", "aux.c", "COM1", "lpt9.txt", "com¹", "CONIN$"])
def test_other_systems_devices_are_known(name: str) -> None:
    assert names.is_device(name)


@pytest.mark.parametrize("name", ["console", "null", "auxiliary.c", "com", "com10", "lpt", "acon"])
def test_names_that_only_begin_like_devices_are_not_devices(name: str) -> None:
    assert not names.is_device(name)


@given(st.sampled_from(sorted(GUARDED)), st.lists(st.booleans(), min_size=20, max_size=20))
def test_no_other_case_of_a_guarded_name_passes(name: str, flips: list[bool]) -> None:
    other = "".join(c.upper() if flip else c for c, flip in zip(name, flips, strict=False)) + name[20:]
    expected = "" if other == name else "ambiguous_name"
    assert names.find_fault(other, GUARDED)[0] == expected


@given(st.text(min_size=1, max_size=40).filter(lambda t: "/" not in t))
def test_any_text_gets_an_answer_and_what_passes_is_a_usable_name(name: str) -> None:
    problem, detail = names.find_fault(name, GUARDED)
    if problem:
        assert detail
    else:
        assert "\0" not in name
        assert len(os.fsencode(name)) <= names.NAME_BYTES


@given(st.from_regex(r"[a-z][a-z0-9_-]{0,20}(\.(py|ts|rs|md))?", fullmatch=True))
def test_ordinary_names_pass(name: str) -> None:
    assert names.find_fault(name, GUARDED) == ("", "")
