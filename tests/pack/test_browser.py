"""The core runs in a browser, unchanged, and gives the same bytes there."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest
from tests.pack.exact import parse

from tether.errors import TetherError
from tether.pack.browser import ContextEngine, EncoderConfig

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples/pack-browser"
PYODIDE = ROOT / ".venv/browser/node_modules/pyodide"
KEY = "AKIA" + "QX7RTN2PLVB4MZ3K"
FILES = [
    {"path": "b.py", "content": "def f(a):\n    return a\n" * 30},
    {"path": "a/é.js", "content": "// ]]> \x0c end\nlet x = 1"},
    {"path": "secret.txt", "content": f"aws_key = {KEY}\n"},
    {"path": "long.txt", "content": "some words, and an api key\n" * 4000},
]


def build(target: Path) -> list[str]:
    spec = spec_from_file_location("build", EXAMPLE / "build.py")
    assert spec and spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    names: list[str] = module.build(str(target))
    return names


def test_the_api_is_the_one_of_the_wasm_build() -> None:
    config = EncoderConfig.new().with_format("claude-xml").with_frozen(True)
    root = parse(ContextEngine.with_config(config).serialize_files(FILES))
    assert [f.get("path") for f in root.findall(".//file")] == ["a/é.js", "b.py", "long.txt", "secret.txt"]
    assert root.findtext(".//tokenizer") == "estimate" and root.findtext(".//structure") == "regex"
    assert root.findtext(".//redactions") == "1"


def test_a_configuration_is_never_changed_only_replaced() -> None:
    first = EncoderConfig.new()
    second = first.with_lens("debug").with_budget("2k").with_allow_sensitive()
    assert first == EncoderConfig.new() and second != first
    made = ContextEngine.with_config(second).pack_files(FILES)
    assert KEY in made.text and made.report.utilized <= 2000
    with pytest.raises(TetherError):
        first.with_format("nope")
    with pytest.raises(TetherError):
        ContextEngine.with_config(first).serialize_files([{"path": "a"}])


def test_the_core_imports_nothing_a_browser_lacks(tmp_path: Path) -> None:
    build(tmp_path / "core.zip")
    lacking = [
        "fcntl",
        "sqlite3",
        "subprocess",
        "socket",
        "rs_bpe",
        "tree_sitter",
        "lxml",
        "ssl",
        "select",
        "tempfile",
    ]
    code = (
        "import sys, json\n"
        f"for name in {lacking!r}: sys.modules[name] = None\n"
        "sys.path.insert(0, sys.argv[1])\n"
        "from tether.pack.browser import ContextEngine, EncoderConfig\n"
        "engine = ContextEngine.with_config(EncoderConfig.new().with_frozen())\n"
        "text = engine.serialize_files(json.load(sys.stdin))\n"
        "sys.stdout.buffer.write(text.encode())\n"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code, str(tmp_path / "core.zip")],
        input=json.dumps(FILES).encode(),
        capture_output=True,
        check=True,
    )
    config = EncoderConfig.new().with_frozen()
    assert done.stdout.decode() == ContextEngine.with_config(config).serialize_files(FILES)


def test_the_archive_is_the_same_each_time(tmp_path: Path) -> None:
    names = build(tmp_path / "one.zip")
    build(tmp_path / "two.zip")
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()
    assert "tether/pack/browser.py" in names and "tether/pack/selection.py" not in names


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def site(tmp_path: Path) -> Iterator[str]:
    """The example as its README says to set it up, served on this machine alone."""
    shutil.copytree(EXAMPLE, tmp_path / "site")
    build(tmp_path / "site/core.zip")
    (tmp_path / "site/node_modules").mkdir()
    (tmp_path / "site/node_modules/pyodide").symlink_to(PYODIDE)
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(tmp_path / "site")))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/"
    server.shutdown()
    server.server_close()
    thread.join()


DROP = """files => {
  const carried = new DataTransfer();
  for (const { path, content } of files) carried.items.add(new File([content], path));
  const event = new DragEvent("drop", { dataTransfer: carried, bubbles: true });
  document.querySelector("#drop").dispatchEvent(event);
}"""


@pytest.mark.slow
def test_files_dropped_on_a_page_in_chromium_are_packed_to_the_same_bytes(site: str) -> None:
    from playwright.sync_api import sync_playwright

    files = [{**file, "path": file["path"].replace("/", "-")} for file in FILES]
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        page = browser.new_page()
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(site)
        page.get_by_text("Ready.").wait_for(timeout=120_000)
        page.evaluate(DROP, files)
        page.get_by_text("Packed 4 files.").wait_for(timeout=60_000)
        shown = page.locator("#result").text_content()
        page.locator("#budget").fill("3")
        page.evaluate(DROP, files)
        page.get_by_text("smaller than an empty pack").wait_for(timeout=60_000)
        browser.close()
    assert errors == []
    config = EncoderConfig.new().with_format("claude-xml").with_frozen(True)
    assert shown == ContextEngine.with_config(config).serialize_files(files)
    parse(shown)


@pytest.mark.slow
def test_the_module_packs_for_npm(tmp_path: Path) -> None:
    shutil.copytree(EXAMPLE, tmp_path / "module")
    build(tmp_path / "module/core.zip")
    done = subprocess.run(
        ["npm", "pack", "--json", "--ignore-scripts"],
        cwd=tmp_path / "module",
        capture_output=True,
        check=True,
    )
    listed = {file["path"] for file in json.loads(done.stdout)[0]["files"]}
    assert listed == {"README.md", "core.zip", "index.js", "package.json"}


@pytest.mark.slow
def test_xmllint_accepts_a_pack_of_anything(tmp_path: Path) -> None:
    chance = random.Random(7)
    tree = tmp_path / "tree"
    tree.mkdir()
    for number in range(400):
        name = "".join(chance.choice("ab<&>\"' ]⟦é\n\x01\udcff") for _ in range(6)) + str(number)
        pieces = [
            b"]]>",
            b"<![CDATA[",
            b"\x0c",
            b"\xff",
            b"&",
            b"<",
            b"\n",
            b"\xef\xbf\xbe",
            "⟦U+0041⟧".encode(),
            b"a",
        ]
        data = b"".join(chance.choice(pieces) for _ in range(60)) + chance.randbytes(20).replace(b"\0", b"")
        (tree / name).write_bytes(data)
    out = tmp_path / "pack.xml"
    for format_ in ("claude-xml", "xml"):
        words = [
            sys.executable,
            "-m",
            "tether.cli",
            "pack",
            str(tree),
            "-q",
            "--no-cache",
            "-f",
            format_,
            "-o",
            str(out),
        ]
        subprocess.run(words, check=True)
        schema = str(ROOT / "src/tether/pack/context.xsd")
        subprocess.run(["xmllint", "--noout", "--schema", schema, str(out)], check=True, capture_output=True)
        assert out.read_text().count("<file ") == 400


@pytest.mark.slow
def test_xmllint_accepts_a_pack_of_this_repository(tmp_path: Path) -> None:
    out = tmp_path / "pack.xml"
    for extra in ([], ["--lens", "architecture"], ["--budget", "20k"], ["-f", "xml"]):
        words = [
            sys.executable,
            "-m",
            "tether.cli",
            "pack",
            str(ROOT),
            "-q",
            "--no-cache",
            "-o",
            str(out),
            *extra,
        ]
        subprocess.run(words, check=True)
        schema = str(ROOT / "src/tether/pack/context.xsd")
        subprocess.run(
            ["xmllint", "--noout", "--huge", "--schema", schema, str(out)], check=True, capture_output=True
        )
