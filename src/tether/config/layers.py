"""Reads the layers of configuration and resolves them into one Config, saying where each value came from."""

from __future__ import annotations

import difflib
import json
import os
import tomllib
from typing import Any, NamedTuple

from tether.config import SECTIONS, Config, Option, from_plain
from tether.errors import TetherError

# keys of `aop_config.json`, and the setting each stands for; "" belongs to the bridge
AOP_KEYS: dict[str, str] = {
    "$schema": "",
    "project_root": "",
    "mcp_servers": "",
    "ignored_paths": "",
    "security.max_calls_per_minute": "",
    "security.max_concurrent_calls": "",
    "security.allowed_extensions": "",
    "security.write_enabled": "security.write_enabled",
}


class Layer(NamedTuple):
    """One source of settings; one that came with the repository is not `trusted` until a person says so."""

    name: str
    text: str
    trusted: bool = True


class Resolved(NamedTuple):
    """The settings in force, the layer each came from, and what was refused."""

    config: Config
    origin: dict[str, str]
    ignored: tuple[str, ...]


def resolve(layers: list[Layer], environment: dict[str, str]) -> Resolved:
    """Later layers win; an untrusted layer may tighten security, never loosen it or name code to run."""
    values: dict[str, dict[str, Any]] = {}
    origin: dict[str, str] = {}
    ignored: list[str] = []
    for layer in layers:
        for key, value in _read(layer):
            section, name = key.split(".", 1)
            described = _option(key)
            checked = check(key, value, layer.name)
            if not layer.trusted:
                held = values.get(section, {}).get(name, described.default)
                if why := _loosens(described, held, checked):
                    ignored.append(f"{layer.name}: `{key}` {why}; a person may accept it with `tether trust`")
                    continue
            if described.order == "union":
                checked = tuple(dict.fromkeys((*values.get(section, {}).get(name, ()), *checked)))
            if key == "risk.rules":
                checked = (
                    *values.get(section, {}).get(name, ()),
                    *({**rule, "trusted": layer.trusted} for rule in checked),
                )
            values.setdefault(section, {})[name] = checked
            origin[key] = layer.name
    for key, text in sorted(_environment(environment).items()):
        section, name = key.split(".", 1)
        values.setdefault(section, {})[name] = check(key, parse_text(key, text), f"TETHER_{_env_name(key)}")
        origin[key] = "environment"
    return Resolved(from_plain(values), origin, tuple(ignored))


def keys() -> list[str]:
    """Every setting's dotted name."""
    return [f"{section}.{name}" for section, cls in SECTIONS.items() for name in cls.__options__]  # type: ignore[attr-defined]


def annotation(key: str) -> str:
    """The type a setting is declared with."""
    section, name = key.split(".", 1)
    return str(SECTIONS[section].__annotations__[name])


def parse_text(key: str, text: str) -> Any:
    """A value written on a command line or in the environment, read by the setting's type."""
    _option(key)
    kind = annotation(key)
    if kind == "bool":
        lowered = text.strip().lower()
        if lowered in ("true", "1", "yes", "on"):
            return True
        if lowered in ("false", "0", "no", "off"):
            return False
        raise TetherError("CONFIG_INVALID", f"`{key}` must be true or false, not `{text}`")
    if kind == "int":
        try:
            return int(text)
        except ValueError:
            raise TetherError("CONFIG_INVALID", f"`{key}` must be a whole number, not `{text}`") from None
    if kind == "str":
        return text
    try:
        return json.loads(text) if text.lstrip().startswith("[") else [p for p in text.split(",") if p]
    except json.JSONDecodeError as error:
        raise TetherError("CONFIG_INVALID", f"`{key}` must be a JSON list: {error.msg}") from None


def check(key: str, value: Any, where: str) -> Any:
    """The value, if it has the setting's type and is one of its choices."""
    described = _option(key, where)
    kind = annotation(key)
    good = {
        "bool": isinstance(value, bool),
        "int": isinstance(value, int) and not isinstance(value, bool) and value >= 0,
        "str": isinstance(value, str),
        "tuple[str, ...]": isinstance(value, (list, tuple)) and all(isinstance(v, str) for v in value),
        "tuple[dict[str, Any], ...]": isinstance(value, (list, tuple))
        and all(isinstance(v, dict) for v in value),
    }[kind]
    if not good:
        expected = {"bool": "true or false", "int": "a whole number, 0 or more", "str": "a string"}.get(
            kind, "a list of strings" if "str, ..." in kind else "a list of tables"
        )
        raise TetherError("CONFIG_INVALID", f"{where}: `{key}` must be {expected}, not `{value!r}`")
    if described.choices and value not in described.choices:
        raise TetherError(
            "CONFIG_INVALID", f"{where}: `{key}` must be one of {', '.join(described.choices)}, not `{value}`"
        )
    return tuple(value) if isinstance(value, list) else value


def schema() -> dict[str, Any]:
    """The JSON Schema of `tether.toml`."""
    forms: dict[str, dict[str, Any]] = {
        "bool": {"type": "boolean"},
        "int": {"type": "integer", "minimum": 0},
        "str": {"type": "string"},
        "tuple[str, ...]": {"type": "array", "items": {"type": "string"}},
        "tuple[dict[str, Any], ...]": {"type": "array", "items": {"type": "object"}},
    }
    sections: dict[str, Any] = {}
    for section, cls in SECTIONS.items():
        properties = {}
        for name, described in cls.__options__.items():  # type: ignore[attr-defined]
            form = {**forms[annotation(f"{section}.{name}")], "description": described.doc}
            form["default"] = (
                list(described.default) if isinstance(described.default, tuple) else described.default
            )
            if described.choices:
                form["enum"] = list(described.choices)
            properties[name] = form
        sections[section] = {
            "type": "object",
            "description": cls.__doc__,
            "properties": properties,
            "additionalProperties": False,
        }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "tether.toml",
        "type": "object",
        "properties": sections,
        "additionalProperties": False,
    }


def _read(layer: Layer) -> list[tuple[str, Any]]:
    if not layer.text.strip():
        return []
    try:
        data = json.loads(layer.text) if layer.name.endswith(".json") else tomllib.loads(layer.text)
    except json.JSONDecodeError as error:
        raise TetherError(
            "CONFIG_INVALID", f"{layer.name}:{error.lineno}:{error.colno}: {error.msg}"
        ) from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise TetherError("CONFIG_INVALID", f"{layer.name}: {error}") from None
    if not isinstance(data, dict):
        raise TetherError("CONFIG_INVALID", f"{layer.name}: expected a table of settings")
    found: list[tuple[str, Any]] = []
    aop = os.path.basename(layer.name) == "aop_config.json"
    for section, table in data.items():
        if aop and section in AOP_KEYS:
            continue
        if not isinstance(table, dict):
            raise TetherError("CONFIG_INVALID", f"{layer.name}: {_unknown(section, list(SECTIONS))}")
        for name, value in table.items():
            key = f"{section}.{name}"
            if aop and key in AOP_KEYS:
                key = AOP_KEYS[key]
                if not key:
                    continue
            _option(key, layer.name)
            found.append((key, value))
    return found


def _option(key: str, where: str = "") -> Option:
    section, _, name = key.partition(".")
    cls = SECTIONS.get(section)
    options: dict[str, Option] = getattr(cls, "__options__", {})
    if name not in options:
        prefix = f"{where}: " if where else ""
        raise TetherError("CONFIG_INVALID", prefix + _unknown(key, keys()))
    return options[name]


def _unknown(given: str, valid: list[str]) -> str:
    near = difflib.get_close_matches(given, valid, n=1, cutoff=0.3)
    return f"unknown key `{given}`" + (
        f"; did you mean `{near[0]}`?" if near else "; see `tether config schema`"
    )


def _loosens(described: Option, held: Any, given: Any) -> str:
    if given == held:
        return ""
    if described.code:
        return "names commands to run"
    if described.order == "true":
        looser = given is True
    elif described.order == "larger":
        looser = given > held
    elif described.order == "longer":
        looser = not set(given) <= set(held)
    elif described.order == "choices":
        looser = described.choices.index(given) < described.choices.index(held)
    else:
        looser = False
    return "would loosen security" if looser else ""


def _env_name(key: str) -> str:
    return key.upper().replace(".", "__")


def _environment(environment: dict[str, str]) -> dict[str, str]:
    """`TETHER_SECURITY__WRITE_ENABLED=true` sets `security.write_enabled`; names without `__` are none."""
    named = {f"TETHER_{_env_name(key)}": key for key in keys()}
    found = {}
    for variable, text in environment.items():
        if variable.startswith("TETHER_") and "__" in variable:
            if variable not in named:
                raise TetherError("CONFIG_INVALID", f"environment: {_unknown(variable, list(named))}")
            found[named[variable]] = text
    return found
