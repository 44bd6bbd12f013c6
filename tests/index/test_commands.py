"""The commands over the index."""

from __future__ import annotations

import argparse
import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tether.cli import context as context_command
from tether.cli import index as index_command
from tether.cli import models as models_command
from tether.cli import search as search_command
from tether.cli import similar as similar_command
from tether.errors import TetherError


def run(module: object, project: Path, *argv: str, as_json: bool = False) -> int:
    parser = argparse.ArgumentParser()
    module.add_arguments(parser)  # type: ignore[attr-defined]
    args = parser.parse_args(argv)
    args.project, args.json = str(project), as_json
    code: int = module.run(args)  # type: ignore[attr-defined]
    return code


def test_indexing_tells_what_it_did(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(index_command, project) == 0
    assert "6 files indexed" in capsys.readouterr().out
    assert run(index_command, project, "--status") == 0
    assert "ready" in capsys.readouterr().out
    assert run(index_command, project, "--rebuild", as_json=True) == 0
    assert json.loads(capsys.readouterr().out)["total"] == 6


def test_the_index_is_invisible_to_git(project: Path) -> None:
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    run(index_command, project)
    told = subprocess.run(
        ["git", "-C", str(project), "status", "--porcelain", "-uall"],
        check=True,
        capture_output=True,
        text=True,
    )
    assert ".tether" not in told.stdout


def test_search_shows_place_score_and_code(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(search_command, project, "find_price", "-k", "1") == 0
    told = capsys.readouterr().out
    assert told.startswith("src/shop/prices.py:6-8") and "function find_price" in told


def test_search_works_from_a_folder_inside(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(index_command, project)
    capsys.readouterr()
    assert run(search_command, project / "src" / "shop", "SessionStore", as_json=True) == 0
    assert json.loads(capsys.readouterr().out)["hits"][0]["file_path"] == "src/web/session.ts"


def test_finding_nothing_is_said_and_fails(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(search_command, project, "zyxwvut") == 1
    assert capsys.readouterr().out == "nothing found\n"


def test_escape_sequences_of_a_hostile_file_do_not_reach_the_terminal(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "evil.py").write_text("def evil():\n    return '\x1b]0;owned\x07'\n")
    run(search_command, project, "evil owned")
    assert "\x1b" not in capsys.readouterr().out


def test_secrets_are_not_shown(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "keys.py").write_text('def connect():\n    password = "hunter2-Correct-Horse-42"\n')
    for as_json in (False, True):
        run(search_command, project, "connect password", "--full", as_json=as_json)
        assert "Correct-Horse" not in capsys.readouterr().out


def test_context_is_given_within_its_budget(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(context_command, project, "add_line to the cart", "--tokens", "200", as_json=True) == 0
    told = json.loads(capsys.readouterr().out)
    assert 0 < told["tokens"] <= 200 and "def add_line" in told["text"]


def test_served_requests_are_answered_line_by_line(project: Path) -> None:
    requests = [
        {"op": "search", "id": 0, "query": "too early"},
        {"op": "index", "repo_dir": str(project)},
        {"op": "search", "id": 7, "query": "find_price", "k": 2},
        "not a request",
        {"op": "dance"},
        {"op": "quit"},
    ]
    child = subprocess.run(
        [sys.executable, "-c", "from tether.cli.search import serve; serve()"],
        input="".join(json.dumps(request) + "\n" for request in requests),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    answers = [json.loads(line) for line in child.stdout.splitlines()]
    assert answers[0]["error"]["error_code"] == "BAD_ARGUMENTS"
    assert answers[1] == {"ok": True, "files": 6}
    assert answers[2]["id"] == 7 and answers[2]["results"][0] == ["src/shop/prices.py", 6, 8]
    assert all("error" in answer for answer in answers[3:]) and len(answers) == 5


def test_a_search_that_finds_everything_fresh_loads_no_parser_and_no_numpy(project: Path) -> None:
    run(index_command, project)
    program = (
        "import sys\n"
        "from tether.index.home import open_index\n"
        "assert open_index(sys.argv[1]).search('find_price').hits\n"
        "print(sorted(m for m in sys.modules if m in ('numpy', 'rich', 'watchfiles', 'asyncio', 'lancedb')"
        " or m.startswith('tree_sitter')))\n"
    )
    for _ in range(2):  # the first may still settle young files
        told = subprocess.run(
            [sys.executable, "-c", program, str(project)], capture_output=True, text=True, check=True
        )
    assert told.stdout.strip() == "[]"


def test_similar_code_is_shown(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    body = "def {0}(path):\n    handle = open_archive(path)\n    return unpack_archive(handle)\n"
    (project / "first.py").write_text(body.format("load_first"))
    (project / "second.py").write_text(body.format("load_second"))
    assert run(similar_command, project, "first.py:2") == 0
    assert capsys.readouterr().out.startswith("second.py:1-3")
    with pytest.raises(TetherError):
        run(similar_command, project, "first.py")


def test_models_tells_that_meaning_is_off(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(models_command, project) == 0
    assert "off" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["index", "search", "context", "similar", "models"])
def test_each_command_says_what_it_is_for(name: str) -> None:
    module = importlib.import_module(f"tether.cli.{name}")
    assert module.__doc__ and module.__doc__.strip() and module.EXAMPLES
