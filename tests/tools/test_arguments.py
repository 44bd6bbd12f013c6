"""Arguments are parsed once, and faults are named."""

import pytest

from tether.errors import TetherError
from tether.tools.arguments import describe, parse

SCHEMA = describe(
    ("path",),
    path={"type": "string", "minLength": 1, "description": "where"},
    count={"type": "integer", "minimum": 1, "maximum": 9, "default": 3, "description": "how many"},
    style={"type": "string", "enum": ["raw", "numbered"], "default": "raw", "description": "how"},
    deep={"type": "boolean", "default": False, "description": "whether"},
    argv={
        "anyOf": [{"type": "string"}, {"type": "array", "minItems": 1, "items": {"type": "string"}}],
        "description": "what",
    },
)

FAULTS = {
    "no object": ([], "must be an object, not array"),
    "missing": ({}, "`path` is missing: where"),
    "null": ({"path": None}, "`path` is missing"),
    "unknown": ({"path": "a", "cuont": 1}, "unknown argument `cuont`; did you mean `count`?"),
    "far off": ({"path": "a", "zzzzzzzz": 1}, "unknown argument `zzzzzzzz`"),
    "type": ({"path": 3}, "`path` must be string, not integer"),
    "bool is no int": ({"path": "a", "count": True}, "`count` must be integer, not boolean"),
    "int is no bool": ({"path": "a", "deep": 1}, "`deep` must be boolean, not integer"),
    "empty": ({"path": ""}, "`path` is empty"),
    "small": ({"path": "a", "count": 0}, "must be 1 to 9"),
    "large": ({"path": "a", "count": 10}, "must be 1 to 9"),
    "enum": ({"path": "a", "style": "Raw"}, "did you mean `raw`?"),
    "any": ({"path": "a", "argv": 3}, "`argv` must be string or array, not integer"),
    "inner": ({"path": "a", "argv": ["x", 3]}, "`argv[1]` must be string, not integer"),
    "no items": ({"path": "a", "argv": []}, "`argv` is empty"),
}


@pytest.mark.parametrize(("args", "message"), FAULTS.values(), ids=FAULTS)
def test_a_fault_is_named_with_what_to_do(args: object, message: str) -> None:
    with pytest.raises(TetherError) as caught:
        parse(SCHEMA, args)
    assert caught.value.code == "BAD_ARGUMENTS"
    assert message in caught.value.message


def test_defaults_are_filled_in() -> None:
    assert parse(SCHEMA, {"path": "a", "argv": ["x"]}) == {
        "path": "a",
        "count": 3,
        "style": "raw",
        "deep": False,
        "argv": ["x"],
    }
