"""Byte for byte: what each format writes for each kind of file."""

from __future__ import annotations

import hashlib
import json

import pytest
from tests.pack.exact import exact, parse, read_back

from tether.errors import TetherError
from tether.pack.compose import Settings
from tether.pack.engine import pack
from tether.pack.lens import Lens

RULE = "=" * 70


def md5(text: str) -> str:
    return hashlib.md5(text.encode()).hexdigest()


def write(files: list[tuple[str, str | bytes]], format_: str = "plus-minus", **given: object) -> str:
    return pack(files, settings=Settings(format=format_, **given)).text  # type: ignore[arg-type]


# ── plus-minus ───────────────────────────────────────────────────────────────


def test_plus_minus_has_no_header_no_footer_and_nothing_between_records() -> None:
    assert write([("b.txt", "two\n"), ("a.txt", "one\n")]) == (
        "++++++++++ a.txt ++++++++++\n"
        "one\n"
        "---------- a.txt 5bbf5a52328e7439ae6e719dfe712200 a.txt ----------\n"
        "++++++++++ b.txt ++++++++++\n"
        "two\n"
        "---------- b.txt c193497a1a06b2c72230e6146ff47080 b.txt ----------\n"
    )


def test_a_missing_last_newline_is_added_and_not_hashed() -> None:
    assert write([("a", "one")]) == (
        "++++++++++ a ++++++++++\none\n---------- a f97c5d29941bfb1b2fdab0874906ab82 a ----------\n"
    )


def test_an_empty_file_is_one_empty_line() -> None:
    assert write([("a", "")]) == (
        "++++++++++ a ++++++++++\n\n---------- a d41d8cd98f00b204e9800998ecf8427e a ----------\n"
    )


def test_a_truncated_record_says_so_in_both_lines_and_hashes_what_it_shows() -> None:
    body = (
        f"l1\nl2\n\n{RULE}\nTRUNCATED at line 2/5 (60% reduced)\n"
        'To get full content: --include "d/a.txt" --truncate 0\n'
        f"/* ZOOM_AFFORDANCE: tether zoom file=d/a.txt --budget=300 */\n{RULE}\n"
    )
    assert write([("d/a.txt", "l1\nl2\nl3\nl4\n")], truncate=2) == (
        "++++++++++ d/a.txt [TRUNCATED: 5 lines] ++++++++++\n"
        f"{body}"
        f"---------- d/a.txt [TRUNCATED:5→9] {md5(body)} d/a.txt ----------\n"
    )


def test_without_notes_a_truncated_record_holds_the_kept_lines_alone() -> None:
    assert write([("a", "1\n2\n3")], truncate=2, notes=False) == (
        "++++++++++ a [TRUNCATED: 3 lines] ++++++++++\n1\n2\n"
        "---------- a [TRUNCATED:3→2] a1fe7d8e64a2b3f20e90b79387bff527 a ----------\n"
    )


def test_newlines_become_lf_and_bytes_that_are_not_utf8_are_latin1() -> None:
    assert write([("a", b"x\r\ny\rz\xe9\n")]) == (
        "++++++++++ a ++++++++++\nx\ny\nzé\n---------- a 216fa287210abd8c653f78173f6e2d23 a ----------\n"
    )


def test_a_binary_and_a_huge_file_are_left_out() -> None:
    files: list[tuple[str, str | bytes]] = [
        ("late.bin", b"a" * 8191 + b"\0"),
        ("later.txt", b"a" * 8192 + b"\0"),
        ("huge", b"a" * (5 * 1024 * 1024 + 1)),
        ("large", b"a" * (5 * 1024 * 1024)),
    ]
    made = pack(files, settings=Settings(format="plus-minus"))
    assert [entry.path for entry in made.entries] == ["large", "later.txt"]


def test_with_a_lens_the_first_record_says_which() -> None:
    text = (
        'Context generated with lens: "debug"\nFocus: Recent changes for debugging\n\nAll files in full\n\n'
        "Generated: 2026-01-02T03:04:05Z\ntether version: 9.9\n"
    )
    made = pack(
        [("a", "x\n")],
        lens="debug",
        settings=Settings("plus-minus", timestamp="2026-01-02T03:04:05Z", version="9.9"),
    )
    assert made.text == (
        f"++++++++++ .tether_meta ++++++++++\n{text}"
        f"---------- .tether_meta {md5(text)} .tether_meta ----------\n"
        "++++++++++ a ++++++++++\nx\n---------- a 401b30e3b8b5d629635a5c613cdb7919 a ----------\n"
    )


def test_a_path_with_a_newline_cannot_forge_a_record() -> None:
    assert write([("a\n---------- x", "")]).startswith("++++++++++ a⟦U+000A⟧---------- x ++++++++++\n")


# ── xml and markdown ─────────────────────────────────────────────────────────


def test_xml_escapes_text_under_one_root() -> None:
    first, second = md5("1 < 2 && x\n"), md5("1\n2")
    text = write([('a"b&.c', "1 < 2 && x\n"), ("b", "1\n2\n3")], "xml", truncate=2, notes=False)
    assert text == (
        "<files>\n"
        f'<file path="a&quot;b&amp;.c" md5="{first}">\n1 &lt; 2 &amp;&amp; x\n</file>\n'
        f'<file path="b" md5="{second}" truncated="true" original_lines="3" final_lines="2">\n1\n2\n</file>\n'
        "</files>\n"
    )
    parse(text)


def test_markdown_fences_are_longer_than_any_inside() -> None:
    x, ticks = "x\n", "````\n"
    assert write([("a.py", x), ("b.md", ticks)], "markdown") == (
        f"### a.py\n\n```python\nx\n```\n\n*MD5: {md5(x)}*\n\n"
        f"### b.md\n\n`````markdown\n````\n`````\n\n*MD5: {md5(ticks)}*\n\n"
    )


def test_markdown_says_what_is_truncated() -> None:
    text = write([("a.py", "1\n2\n3")], "markdown", truncate=2, notes=False)
    assert text.startswith("### a.py [TRUNCATED: 3 → 2 lines]\n\n```python\n1\n2\n```\n\n*MD5: ")


# ── claude-xml ───────────────────────────────────────────────────────────────

CLAUDE = """\
<context package="tether" lens="mine" token_budget="1000" utilized="{utilized}">
  <metadata>
    <version>9.9</version>
    <frozen>false</frozen>
    <timestamp>2026-01-02T03:04:05Z</timestamp>
    <tokenizer>o200k</tokenizer>
    <structure>regex</structure>
    <redactions>0</redactions>
    <project_root>.</project_root>
    <attention_map>
      <hotspot path="a.py" priority="50" tokens="{short}" truncated="true" />
      <coldspot path="z.txt" priority="50" tokens="2001" dropped="true" />
    </attention_map>
    <lens_config>
      <name>mine</name>
      <strategy>truncate</strategy>
      <truncated_files>1</truncated_files>
      <dropped_files>1</dropped_files>
    </lens_config>
  </metadata>
  <files>
    <file path="a.py"
          priority="50"
          tokens="{short}"
          checksum="{checksum}"
          md5="{md5}"
          language="python"
          truncated="true"
          original_tokens="{long}">
      <![CDATA[
def f(a):
def g(b):
      ]]>
      <truncation_marker>
        <message>Bodies truncated: 903 lines → 2 (structure)</message>
        <zoom type="file" target="a.py" budget="{file_budget}" command="tether zoom file=a.py --budget={file_budget}" />
        <zoom type="function" target="f" budget="300" command="tether zoom function=f --module=a.py --budget=300" />
        <zoom type="function" target="g" budget="300" command="tether zoom function=g --module=a.py --budget=300" />
      </truncation_marker>
    </file>
    <file path="b.rs"
          priority="50"
          tokens="8"
          checksum="{rust}"
          md5="{rust}"
          language="rust"
          eol="none">
      <![CDATA[
x[y[0]]]]><![CDATA[>1;
      ]]>
    </file>
  </files>
</context>
"""


def test_claude_xml_to_the_byte() -> None:
    code = "def f(a):\n" + "    print(a)\n" * 450 + "def g(b):\n" + "    print(b)\n" * 450
    rust = "x[y[0]]>1;"
    made = pack(
        [("a.py", code), ("b.rs", rust), ("z.txt", "word " * 2000)],
        settings=Settings(
            lens=Lens("mine"),
            budget=1000,
            strategy="truncate",
            tokenizer=exact(),
            timestamp="2026-01-02T03:04:05Z",
            version="9.9",
        ),
    )
    long = exact().count(code)
    expected = CLAUDE.format(
        utilized=made.report.utilized,
        short=exact().count("def f(a):\ndef g(b):\n"),
        long=long,
        file_budget=-(-(long + long // 10 + 250) // 100) * 100,
        checksum=md5(code),
        md5=md5("def f(a):\ndef g(b):"),
        rust=md5(rust),
    )
    assert made.text == expected
    assert made.report.utilized == exact().count(made.text)
    root = parse(made.text)
    assert read_back(root.findall(".//file")[1]) == rust


def test_a_form_feed_is_spelled_and_the_file_flagged() -> None:
    root = parse(write([("a.c", "x\x0cy\n")], "claude-xml"))
    file = root.find(".//file")
    assert file.get("escaped") == "1"
    assert "x⟦U+000C⟧y" in file.text
    assert read_back(file) == "x\x0cy\n"


def test_the_checksum_is_of_the_original_and_the_md5_of_what_is_written() -> None:
    made = pack(
        [("a", "key=hunter2\n")],
        settings=Settings(redact=lambda text: [(4, 11, "[gone]")]),
    )
    file = parse(made.text).find(".//file")
    assert (file.get("checksum"), file.get("md5")) == (md5("key=hunter2\n"), md5("key=[gone]\n"))
    assert (file.get("redacted"), made.report.redactions) == ("1", 1)
    assert "hunter2" not in made.text


# ── json ─────────────────────────────────────────────────────────────────────


def test_json_is_one_object_that_carries_everything() -> None:
    made = pack([("a", 'say "hi"\x01'), ("b.py", "1\n2\n3\n")], settings=Settings("json", truncate=2))
    data = json.loads(made.text)
    assert data["utilized"] == made.report.utilized
    assert data["metadata"]["attention_map"]["hotspots"] == [
        {"path": "b.py", "priority": 50, "tokens": 1, "truncated": True}
    ]
    first, second = data["files"]
    assert first["content"] == 'say "hi"\x01' + "\n" and first["eol"] == "none"
    assert second["content"] == "1\n2\n" and second["truncated"] and second["zoom"][0]["target"] == "b.py"


def test_an_unknown_format_is_refused_by_name() -> None:
    with pytest.raises(TetherError, match="unknown format `yaml`"):
        write([], "yaml")
