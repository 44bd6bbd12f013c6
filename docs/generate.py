"""Writes the references that follow from the code: `python -m docs.generate`. A test keeps them true."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from tether.cli.frame import GROUPS, parser_of
from tether.config import SECTIONS
from tether.config.layers import annotation

HERE = Path(__file__).parent
TYPES = {
    "bool": "true or false",
    "int": "whole number",
    "str": "text",
    "tuple[str, ...]": "list of texts",
    "tuple[dict[str, Any], ...]": "list of tables",
}
LOOSENS = {
    "true": " Loosens when true.",
    "larger": " Loosens when larger.",
    "longer": " Loosens when longer.",
    "choices": " Tightens to the right.",
}


def config_reference() -> str:
    """Every setting, its type, default and meaning."""
    lines = [
        "# Configuration reference",
        "",
        "Made from the code by `make docs`; do not edit. `tether.toml` holds these settings in sections.",
        "Layers, later wins: defaults, the user's `config.toml`, `tether.toml`, `aop_config.json`,",
        "`tether.local.toml`, environment (`TETHER_SECTION__NAME`). Files that came with a repository may",
        "tighten security but not loosen it, nor name commands to run, until a person says `tether trust`.",
    ]
    for section, cls in SECTIONS.items():
        lines += ["", f"## `[{section}]`", "", (cls.__doc__ or "").strip(), ""]
        lines += ["| setting | type | default | meaning |", "|---|---|---|---|"]
        for name, option in cls.__options__.items():  # type: ignore[attr-defined]
            kind = ", ".join(f"`{c}`" for c in option.choices) or TYPES[annotation(f"{section}.{name}")]
            default = list(option.default) if isinstance(option.default, tuple) else option.default
            runs = " Names code to run." if option.code else ""
            meaning = (option.doc + LOOSENS.get(option.order, "") + runs).replace("|", "\\|")
            lines.append(f"| `{name}` | {kind} | `{_toml(default)}` | {meaning} |")
    return "\n".join(lines) + "\n"


def cli_reference() -> str:
    """Every command with its help."""
    lines = [
        "# Command reference",
        "",
        "Made from the code by `make docs`; do not edit.",
        "Exit codes: 0 done, 1 failed, 2 usage or configuration, 3 refused by policy, 4 waits for a person.",
    ]
    for title, group in GROUPS.items():
        lines += ["", f"## {title}"]
        for name, text in group.items():
            lines += ["", f"### `tether {name}`", "", text[0].upper() + text[1:] + "."]
            if name == "hook":
                lines += ["", "Agents run this through the settings that `tether install` writes."]
                continue
            lines += ["", "```text", _help(parser_of(name)).rstrip(), "```"]
    return "\n".join(lines) + "\n"


def _help(parser: argparse.ArgumentParser) -> str:
    text = parser.format_help()
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            text += "".join("\n" + sub.format_help() for sub in action.choices.values())
    return text


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return "[" + ", ".join(_toml(v) for v in value) + "]"
    return f'"{value}"' if isinstance(value, str) else str(value)


PAGES = {"configuration.md": config_reference, "commands.md": cli_reference}


def main() -> int:
    """Writes every page."""
    os.environ["COLUMNS"] = "100"
    for name, make in PAGES.items():
        (HERE / name).write_text(make(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
