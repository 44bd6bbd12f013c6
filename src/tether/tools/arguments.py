"""A call's arguments, parsed once against the schema the verb publishes."""

from __future__ import annotations

from typing import Any

from tether.errors import TetherError

_TYPES: dict[str, tuple[Any, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list, tuple),
    "object": (dict,),
}
LONGEST = 16 << 20  # characters of one string: more is no edit a person could review


def describe(required: tuple[str, ...] = (), **properties: dict[str, Any]) -> dict[str, Any]:
    """The JSON Schema of a verb's arguments."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def parse(schema: dict[str, Any], args: Any) -> dict[str, Any]:
    """The arguments, defaults filled in; BAD_ARGUMENTS names the one at fault and the nearest valid name."""
    if not isinstance(args, dict):
        raise _bad(f"arguments must be an object, not {_name_type(args)}")
    known: dict[str, Any] = schema["properties"]
    for name in args:
        if name not in known:
            raise _bad(
                f"unknown argument `{_clip(name)}`{_suggest(str(name), list(known))}", argument=str(name)
            )
    found: dict[str, Any] = {}
    for name, rule in known.items():
        if name not in args or args[name] is None:
            if name in schema["required"]:
                raise _bad(f"argument `{name}` is missing: {rule['description']}", argument=name)
            found[name] = rule.get("default")
        else:
            found[name] = _check(name, args[name], rule)
    return found


def _check(name: str, value: Any, rule: dict[str, Any]) -> Any:
    options = rule.get("anyOf")
    if options:
        for option in options:
            if isinstance(value, _TYPES[option["type"]]):
                return _check(name, value, option)
        wanted = " or ".join(option["type"] for option in options)
        raise _bad(f"argument `{name}` must be {wanted}, not {_name_type(value)}", argument=name)
    kind = rule["type"]
    # bool is an int to Python, never to a caller.
    if not isinstance(value, _TYPES[kind]) or (isinstance(value, bool) and kind != "boolean"):
        raise _bad(f"argument `{name}` must be {kind}, not {_name_type(value)}", argument=name)
    if "enum" in rule and value not in rule["enum"]:
        raise _bad(
            f"argument `{name}` is `{_clip(value)}`{_suggest(str(value), rule['enum'])}; "
            f"use one of {', '.join(rule['enum'])}",
            argument=name,
        )
    if kind in ("integer", "number") and not rule.get("minimum", value) <= value <= rule.get(
        "maximum", value
    ):
        bounds = f"{rule.get('minimum', '…')} to {rule.get('maximum', '…')}"
        raise _bad(f"argument `{name}` is {value}; it must be {bounds}", argument=name)
    if kind == "string":
        if len(value) < rule.get("minLength", 0):
            raise _bad(f"argument `{name}` is empty", argument=name)
        if len(value) > LONGEST:
            raise _bad(f"argument `{name}` is longer than {LONGEST} characters", argument=name)
        if not _is_whole(value):
            raise _bad(f"argument `{name}` holds half a character (a lone surrogate)", argument=name)
    if kind == "array":
        if len(value) < rule.get("minItems", 0):
            raise _bad(f"argument `{name}` is empty", argument=name)
        return [_check(f"{name}[{n}]", item, rule["items"]) for n, item in enumerate(value)]
    return value


def _is_whole(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _suggest(name: str, known: list[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name[:100].lower(), known, 1, 0.5)
    return f"; did you mean `{near[0]}`?" if near else ""


def _name_type(value: Any) -> str:
    for name in ("boolean", "string", "integer", "number", "array", "object"):
        if isinstance(value, _TYPES[name]):
            return name
    return "null" if value is None else type(value).__name__


def _clip(value: Any) -> str:
    return ascii(str(value)[:60])[1:-1]


def _bad(message: str, **data: Any) -> TetherError:
    return TetherError("BAD_ARGUMENTS", message, **data)
