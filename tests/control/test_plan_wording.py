"""Instructions a weak model can follow."""

import pytest

from tether.control.plan_wording import CHOICE, ELSEWHERE, VAGUE, find_ambiguities, find_several, names_target

PHRASES = (
    [("vague", p) for p in VAGUE] + [("choice", p) for p in CHOICE] + [("elsewhere", p) for p in ELSEWHERE]
)


@pytest.mark.parametrize(("rule", "phrase"), PHRASES)
def test_every_phrase_is_found_wherever_it_stands_and_in_any_case(rule, phrase):
    for text in (
        f"Make valid refuse it {phrase}",
        f"{phrase.upper()}: make valid refuse it",
        f"so ({phrase}) it is",
    ):
        assert rule in {found for found, _ in find_ambiguities(text)}, text


@pytest.mark.parametrize(
    "text",
    [
        "Rename `Catalogue` to `Catalog` in its definition.",
        "Make `fetchAppropriateRow` return null when there is none.",
        "Set the retry limit of `connect` to 3.",
        "Let `valid` raise ValueError for a negative or zero token.",
        "Delete the file: nothing imports it.",
    ],
)
def test_plain_instructions_pass(text):
    assert find_ambiguities(text) == ()
    assert find_several(text) == ""


@pytest.mark.parametrize(
    "text", ["wait ... then go on now", "call <the helper> with it", "make it XXXX for now", "why?? so"]
)
def test_gaps_are_found(text):
    assert "placeholder" in {rule for rule, _ in find_ambiguities(text)}


def test_a_target_is_named_by_file_stem_or_last_name():
    assert names_target("Change token.py so that it fails", "src/auth/token.py", ())
    assert names_target("Change the token module", "src/auth/token.py", ())
    assert names_target("Let `is_valid` fail", "src/a.py", ("Auth.is_valid",))
    assert names_target("Let is-valid fail", "src/a.ts", ("is-valid",))
    assert not names_target("Let it fail", "src/a.py", ("Auth.is_valid",))
    assert not names_target("Let invalidate fail", "src/b.py", ("valid",))
