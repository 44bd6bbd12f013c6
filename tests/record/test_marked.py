"""A marked section is found for sure or not at all, and nothing around it changes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tether.errors import TetherError
from tether.record.marked import lines, markers, splice

BEGIN, END = markers("x")


@pytest.mark.parametrize("text", ["", "a", "a\n", "a\r\nb\r\n", "a\n\n"])
def test_a_section_that_is_not_there_is_added_at_the_end(text: str) -> None:
    after = splice(text, "x", ["one", "two"])
    assert after.startswith(text)
    assert lines(after, "x") == ["one", "two"]
    assert ("\r\n" in after) is ("\r" in text)
    assert splice(after, "x", ["one", "two"]) == after


@pytest.mark.parametrize(
    "text",
    [
        BEGIN,
        END,
        f"{END}\n{BEGIN}\n",
        f"{BEGIN}\n{BEGIN}\n{END}\n",
        f"{BEGIN}\n{END}\n{END}\n",
        f"{BEGIN}\n{END}\n{BEGIN}\n{END}\n",
        f"{BEGIN}\n{BEGIN}\n{END}\n{END}\n",
        f"text {BEGIN}\n{END}\n",
        f"{BEGIN} text\n{END}\n",
        f"{BEGIN}\ntext {END}\n",
        f"{BEGIN}\n{END} text\n",
        f"{BEGIN}{END}\n",
    ],
)
def test_markers_in_doubt_are_refused(text: str) -> None:
    with pytest.raises(TetherError, match="cannot be found for sure") as refused:
        splice(text, "x", ["one"])
    assert "Mend the markers" in refused.value.action


AROUND = st.text(st.sampled_from(list("ab #`<!->\r\n\t\0é\u2028\x0c")), max_size=30)


@given(before=AROUND, after=AROUND, old=AROUND, crlf=st.booleans())
def test_every_byte_outside_the_markers_stays(before: str, after: str, old: str, crlf: bool) -> None:
    newline = "\r\n" if crlf else "\n"
    head, tail = f"{before}{newline}{BEGIN}", f"{END}{newline}{after}"
    changed = splice(f"{head}{newline}{old}{newline}{tail}", "x", ["new"])
    assert changed == f"{head}{newline}new{newline}{tail}"
