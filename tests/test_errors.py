"""One function turns an error into a wire answer."""

import pytest

from tether.errors import CODES, TetherError, to_wire


def test_the_error_contract_has_its_four_fields():
    wire = to_wire(TetherError("SCOPE_VIOLATION", "no", path="a"))
    assert wire == {
        "error_code": "SCOPE_VIOLATION",
        "message": "no",
        "recoverable": True,
        "required_action": "Request scope expansion or choose a valid intent",
        "path": "a",
    }


def test_the_text_of_an_unforeseen_exception_does_not_leak():
    wire = to_wire(RuntimeError("password=hunter2"))
    assert wire["error_code"] == "INTERNAL"
    assert "hunter2" not in str(wire)


def test_an_unknown_code_cannot_be_raised():
    with pytest.raises(ValueError, match="NO_SUCH"):
        TetherError("NO_SUCH", "x")


@pytest.mark.parametrize("code", sorted(CODES))
def test_every_code_says_what_to_do(code):
    _, action = CODES[code]
    assert action
    assert code.isupper()
