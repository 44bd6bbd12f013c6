"""claude-xml: metadata first, then every file in CDATA, always well-formed."""

from __future__ import annotations

from collections.abc import Iterable

from tether.pack.entry import Entry, Report, Spot, Zoom
from tether.pack.escape import escape_attribute, escape_cdata, escape_illegal, escape_path, escape_text


def body(text: str) -> tuple[str, int]:
    """The text as CDATA can hold it, and how many characters XML forbids."""
    legal, escaped = escape_illegal(text)
    return escape_cdata(legal), escaped


def zoom_element(zoom: Zoom, indent: str) -> str:
    """`<zoom …/>`: its `command` runs as it stands."""
    relation = f' relation="{zoom.relation}"' if zoom.relation else ""
    return (
        f'{indent}<zoom type="{zoom.type}" target="{escape_attribute(zoom.target)}" budget="{zoom.budget}"'
        f'{relation} command="{escape_attribute(zoom.command)}" />\n'
    )


def marker(message: str, zooms: Iterable[Zoom]) -> str:
    """What is missing, and how to get it."""
    inner = "".join(zoom_element(zoom, "        ") for zoom in zooms)
    return (
        f"      <truncation_marker>\n        <message>{_text(message)}</message>\n"
        f"{inner}      </truncation_marker>\n"
    )


def frame(entry: Entry, written: str, first: bool) -> tuple[str, str]:
    """Attributes one a line; CDATA between lines of its own."""
    head = (
        f'    <file path="{escape_attribute(escape_path(entry.path))}"\n'
        f'          priority="{entry.priority.value}"\n'
        f'          tokens="{entry.tokens}"\n'
        f'          checksum="{entry.checksum}"\n'
        f'          md5="{entry.md5}"\n'
        f'          language="{entry.language}"'
    )
    if entry.lines:
        head += f'\n          lines="{entry.lines}"'
    if entry.truncated:
        head += f'\n          truncated="true"\n          original_tokens="{entry.original_tokens}"'
    if not entry.ended and not entry.truncated:
        head += '\n          eol="none"'
    if entry.escaped:
        head += f'\n          escaped="{entry.escaped}"'
    if entry.redacted:
        head += f'\n          redacted="{entry.redacted}"'
    tail = "      ]]>\n"
    if entry.message:
        tail += marker(entry.message, entry.zooms)
    return head + ">\n      <![CDATA[\n", tail + "    </file>\n"


def spot_fields(spot: Spot) -> dict[str, object]:
    """A spot as data."""
    fields: dict[str, object] = {
        "path": escape_path(spot.path),
        "priority": spot.priority,
        "tokens": spot.tokens,
    }
    if spot.truncated:
        fields["truncated"] = True
    if spot.dropped:
        fields["dropped"] = True
    return fields


def spot_element(spot: Spot) -> str:
    """One line of the attention map."""
    kind = "coldspot" if spot.dropped else "hotspot"
    flags = (' truncated="true"' if spot.truncated else "") + (' dropped="true"' if spot.dropped else "")
    path = escape_attribute(escape_path(spot.path))
    return f'      <{kind} path="{path}" priority="{spot.priority}" tokens="{spot.tokens}"{flags} />\n'


def lens_fields(report: Report) -> list[tuple[str, object]]:
    """The four facts of `lens_config`."""
    return [
        ("name", report.lens or "none"),
        ("strategy", report.strategy or "none"),
        ("truncated_files", report.truncated_files),
        ("dropped_files", report.dropped_files),
    ]


def open_context(report: Report) -> str:
    """The root's start tag."""
    attributes = [("package", "tether")]
    if report.lens:
        attributes.append(("lens", report.lens))
    if report.budget is not None:
        attributes.append(("token_budget", str(report.budget)))
    attributes.append(("utilized", str(report.utilized)))
    if report.part:
        attributes.append(("part", report.part))
    return "<context " + " ".join(f'{name}="{escape_attribute(value)}"' for name, value in attributes) + ">\n"


def head(report: Report) -> str:
    """Everything up to the first file."""
    simple = [
        ("version", report.version),
        ("frozen", "true" if report.frozen else "false"),
        ("timestamp", report.timestamp),
        *([("snapshot_id", report.snapshot)] if report.snapshot else []),
        ("tokenizer", report.tokenizer),
        ("structure", report.structure),
        ("redactions", str(report.redactions)),
        *report.about,
    ]
    unlisted = f' omitted="{report.unlisted}"' if report.unlisted else ""
    lines = [f"    <{name}>{_text(value)}</{name}>\n" for name, value in simple]
    lines.append(f"    <attention_map{unlisted}>\n")
    lines += map(spot_element, report.hotspots)
    lines += map(spot_element, report.coldspots)
    lines.append("    </attention_map>\n    <lens_config>\n")
    lines += [f"      <{name}>{_text(str(value))}</{name}>\n" for name, value in lens_fields(report)]
    lines.append("    </lens_config>\n")
    return f"{open_context(report)}  <metadata>\n{''.join(lines)}  </metadata>\n  <files>\n"


def tail(report: Report) -> str:
    """Everything after the last file."""
    return "  </files>\n</context>\n"


def _text(text: str) -> str:
    return escape_text(escape_illegal(text)[0])


def frame_zoom(target: str, depth: str, budget: int | None, used: int, files: str, related: str) -> str:
    """A zoom's answer: the same root and files as a pack, without metadata."""
    room = "" if budget is None else f' token_budget="{budget}"'
    shown = f"  <related>\n{related}  </related>\n" if related else ""
    return (
        f'<context package="tether"{room} utilized="{used}" zoom="{escape_attribute(escape_path(target))}"'
        f' depth="{depth}">\n  <files>\n{files}  </files>\n{shown}</context>\n'
    )
