"""The commands, on real directories and real repositories."""

from __future__ import annotations

import io
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.pack.exact import exact, parse

from tether.cli.frame import load, parser_of
from tether.errors import TetherError
from tether.pack.store import change

CODE = "import os\n\n\ndef alpha(a):\n    return beta(a)\n\n\ndef beta(b):\n    return b\n"
KEY = "AKIA" + "QX7RTN2PLVB4MZ3K"

Tether = Callable[..., tuple[str, str]]


def git(root: Path, *args: str) -> str:
    env = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "protocol.file.allow=always"]
    done = subprocess.run(
        ["git", *identity, *args], cwd=root, env=env, capture_output=True, check=True, text=True
    )
    return done.stdout.strip()


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    files = {
        "src/app.py": CODE,
        "src/lib.py": "def gamma():\n    return 1\n",
        "web/main.ts": "export function go(): void {\n  return;\n}\n",
        "README.md": "# Project\n",
        "notes.log": "noise\n",
        ".gitignore": "*.log\n",
        ".tetherignore": "private/\n",
        "private/plan.md": "secret plan\n",
        ".env": "TOKEN=1\n",
        "data.bin": "a\0b",
    }
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    git_ready(root)
    return root


def git_ready(root: Path) -> None:
    git(root, "init", "-q", "-b", "main")
    git(root, "add", ".gitignore", "src", "web", "README.md")
    git(root, "commit", "-q", "-m", "first")


@pytest.fixture
def tether(
    capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Tether:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def call(*words: str, cwd: Path | None = None) -> tuple[str, str]:
        if cwd is not None:
            monkeypatch.chdir(cwd)
        args = parser_of(words[0]).parse_args(list(words[1:]))
        capfdbinary.readouterr()
        assert load(words[0]).run(args) == 0
        sys.stdout.flush()
        said = capfdbinary.readouterr()
        return said.out.decode(), said.err.decode()

    return call


def paths(text: str) -> list[str]:
    return [file.get("path") for file in parse(text).findall(".//file")]


def test_a_pack_holds_what_git_sees_less_what_is_private(tether: Tether, tree: Path) -> None:
    out, err = tether("pack", str(tree))
    assert paths(out) == [
        ".gitignore",
        ".tetherignore",
        "README.md",
        "src/app.py",
        "src/lib.py",
        "web/main.ts",
    ]
    assert "1 sensitive files left out" in err
    out, _ = tether("pack", str(tree), "--allow-sensitive")
    assert ".env" in paths(out)


def test_patterns_narrow_and_excluding_wins(tether: Tether, tree: Path) -> None:
    assert paths(tether("pack", str(tree), "--include", "*.py")[0]) == ["src/app.py", "src/lib.py"]
    assert paths(tether("pack", str(tree), "--include", "src/", "--exclude", "lib.py")[0]) == ["src/app.py"]
    assert paths(tether("pack", str(tree), "--include", "*.log")[0]) == []


def test_an_include_replaces_the_lens_s_own(tether: Tether, tree: Path) -> None:
    assert paths(tether("pack", str(tree), "--lens", "onboarding")[0]) == ["README.md", "src/app.py"]
    assert paths(tether("pack", str(tree), "--lens", "onboarding", "--include", "*.py")[0]) == [
        "src/app.py",
        "src/lib.py",
    ]


def test_a_budget_is_kept_by_the_exact_tokenizer(tether: Tether, tree: Path) -> None:
    out, err = tether("pack", str(tree), "--budget", "1k")
    assert exact().count(out) <= 1000
    assert f"{exact().count(out):,} tokens" in err


def test_structure_comes_from_a_parser_and_its_zooms_run_verbatim(tether: Tether, tree: Path) -> None:
    (tree / "src/wide.py").write_text(
        "def wide(\n    a,\n    b,\n):\n    return 1\n" + "\n\ndef x():\n    pass\n" * 60
    )
    out, _ = tether("pack", str(tree), "--truncate-mode", "structure", "--include", "wide.py")
    root = parse(out)
    assert "def wide(\n    a,\n    b,\n):\n" in root.findtext(".//file")
    assert root.findtext(".//structure") == "tree-sitter"
    for zoom in root.findall(".//zoom"):
        words = shlex.split(zoom.get("command"))
        assert words[:2] == ["tether", "zoom"]
        shown, _ = tether(*words[1:], cwd=tree)
        assert "src/wide.py" in paths(shown)


def test_secrets_in_contents_are_taken_out_unless_allowed(tether: Tether, tree: Path) -> None:
    (tree / "src/lib.py").write_text(f'key = "{KEY}"\n')
    out, err = tether("pack", str(tree))
    assert KEY not in out and "1 secrets taken out" in err
    assert parse(out).find(".//file[@path='src/lib.py']").get("redacted") == "1"
    assert KEY in tether("pack", str(tree), "--allow-sensitive")[0]


def test_metadata_says_nothing_of_the_machine_unless_allowed(tether: Tether, tree: Path) -> None:
    git(tree, "remote", "add", "origin", "https://user:pass@git.example.org:8443/team/project.git")
    out, _ = tether("pack", str(tree), "--notes", "my notes")
    root = parse(out)
    assert root.findtext(".//project_root") == "." and root.findtext(".//git_remote") == "git.example.org"
    for private in (str(tree), os.uname().nodename, "my notes", "user", "pass", "8443"):
        assert private not in out.replace("package", "").replace("tether", "")
    root = parse(tether("pack", str(tree), "--notes", "my notes", "--allow-sensitive")[0])
    assert root.findtext(".//project_root") == os.path.realpath(tree)
    assert root.findtext(".//hostname") == os.uname().nodename
    assert root.findtext(".//session_notes") == "my notes"
    assert root.findtext(".//git_remote").endswith("team/project.git")
    assert root.findtext(".//user_config_path").endswith("tether/config.toml")


# ── selection ────────────────────────────────────────────────────────────────


def test_staged_files_are_shown_as_staged(tether: Tether, tree: Path) -> None:
    (tree / "src/app.py").write_text("staged = 1\n")
    git(tree, "add", "src/app.py")
    (tree / "src/app.py").write_text("later = 2\n")
    out, _ = tether("pack", str(tree), "--staged")
    assert paths(out) == ["src/app.py"] and "staged = 1" in out and "later" not in out


def test_a_range_shows_the_files_changed_in_it(tether: Tether, tree: Path) -> None:
    (tree / "src/lib.py").write_text("def gamma():\n    return 2\n")
    git(tree, "commit", "-qam", "second")
    assert paths(tether("pack", str(tree), "--diff", "HEAD~1..")[0]) == ["src/lib.py"]
    (tree / "src/lib.py").write_text("now\n")
    out, _ = tether("pack", str(tree), "--diff", "HEAD~1..HEAD")
    assert "return 2" in out and "now" not in out
    assert paths(tether("pack", str(tree / "src"), "--diff", "HEAD~1..")[0]) == ["lib.py"]


def test_since_shows_changes_in_full_and_what_they_import_as_skeletons(tether: Tether, tree: Path) -> None:
    (tree / "src/new.py").write_text("from lib import gamma\n\n\ndef delta():\n    return gamma()\n")
    out, _ = tether("pack", str(tree), "--since", "HEAD")
    root = parse(out)
    assert "src/new.py" in paths(out) and "src/app.py" not in paths(out)
    assert "return gamma()" in root.findtext(".//file[@path='src/new.py']")
    skeleton = root.find(".//file[@path='src/lib.py']")
    assert skeleton.get("truncated") == "true" and "return 1" not in skeleton.text


def test_a_revision_that_is_an_option_or_unknown_is_refused(tether: Tether, tree: Path) -> None:
    for words in (("--diff=--output=x..",), ("--since=--help",), ("--since", "nope"), ("--diff", "nope..")):
        with pytest.raises(TetherError) as caught:
            tether("pack", str(tree), *words)
        assert caught.value.code == "BAD_ARGUMENTS"
    with pytest.raises(TetherError, match="in no git repository"):
        tether("pack", str(tree.parent), "--staged")


def test_files_named_on_standard_input_stay_inside(
    tether: Tether, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("src/lib.py\n./README.md\n.env\nabsent.txt\n"))
    assert paths(tether("pack", str(tree), "--stdin")[0]) == ["README.md", "src/lib.py"]
    monkeypatch.setattr("sys.stdin", io.StringIO("../outside.txt\n"))
    with pytest.raises(TetherError, match="leads out of the project"):
        tether("pack", str(tree), "--stdin")


def test_files_may_be_named_as_arguments(tether: Tether, tree: Path) -> None:
    assert paths(tether("pack", "src/lib.py", "README.md", cwd=tree)[0]) == ["README.md", "src/lib.py"]
    assert paths(tether("pack", "src/lib.py", cwd=tree)[0]) == ["src/lib.py"]
    with pytest.raises(TetherError, match="cannot open the directory"):
        tether("pack", str(tree / "absent"))


def test_links_out_of_the_root_are_not_followed(tether: Tether, tree: Path) -> None:
    outside = tree.parent / "outside.txt"
    outside.write_text("private matter\n")
    (tree / "link.txt").symlink_to(outside)
    (tree / "folder").symlink_to(tree.parent)
    assert "private matter" not in tether("pack", str(tree))[0]


def test_submodules_are_part_of_the_tree_unless_left_out(tether: Tether, tree: Path) -> None:
    other = tree.parent / "other"
    other.mkdir()
    (other / "inner.py").write_text("x = 1\n")
    git(other, "init", "-q", "-b", "main")
    git(other, "add", ".")
    git(other, "commit", "-q", "-m", "x")
    git(tree, "submodule", "--quiet", "add", str(other), "sub")
    assert "sub/inner.py" in paths(tether("pack", str(tree))[0])
    assert "sub/inner.py" not in paths(tether("pack", str(tree), "--no-submodules")[0])


def test_a_remote_repository_is_cloned_for_one_pack(
    tether: Tether, tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    out, _ = tether("pack", f"file://{tree}")
    assert "src/app.py" in paths(out)
    assert list(temporary.iterdir()) == []
    with pytest.raises(TetherError, match="cannot clone"):
        tether("pack", f"file://{tree}/absent")


# ── outputs ──────────────────────────────────────────────────────────────────


def test_an_output_file_does_not_contain_the_pack_before_it(tether: Tether, tree: Path) -> None:
    target = tree / "pack.xml"
    tether("pack", str(tree), "-o", str(target), "--frozen")
    once = target.read_bytes()
    tether("pack", str(tree), "-o", str(target), "--frozen")
    assert target.read_bytes() == once and "pack.xml" not in paths(once.decode())


@pytest.mark.parametrize("format_", ["claude-xml", "json", "plus-minus"])
def test_parts_end_at_file_borders_and_lose_nothing(tether: Tether, tree: Path, format_: str) -> None:
    for number in range(12):
        (tree / f"src/part{number}.py").write_text(f"value = {number}\n" * 60)
    target = tree.parent / "out.txt"
    tether("pack", str(tree), "-f", format_, "-o", str(target), "--split", "3")
    parts = sorted(tree.parent.glob("out.*.txt"))
    assert len(parts) >= 3
    texts = [part.read_text() for part in parts]
    if format_ == "claude-xml":
        assert [path for text in texts for path in paths(text)] == paths(tether("pack", str(tree))[0])
        assert [parse(text).get("part") for text in texts] == [
            f"{i}/{len(texts)}" for i in range(1, len(texts) + 1)
        ]
        assert all(int(parse(t).get("utilized")) == exact().count(t) for t in texts)
    if format_ == "json":
        assert sum(len(json.loads(text)["files"]) for text in texts) == 18
        assert all(json.loads(text)["utilized"] == exact().count(text) for text in texts)
    tether("pack", str(tree), "-o", str(tree.parent / "small.xml"), "--split", "1200")
    for part in tree.parent.glob("small.*.xml"):
        assert exact().count(part.read_text()) <= 1200


def test_the_clipboard_gets_the_pack(
    tether: Tether, tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "bin/wl-copy"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\ncat > {shlex.quote(str(tmp_path / 'copied'))}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    tether("pack", str(tree), "--clipboard", "--frozen")
    assert (tmp_path / "copied").read_text() == tether("pack", str(tree), "--frozen")[0]
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    with pytest.raises(TetherError, match="no clipboard program"):
        tether("pack", str(tree), "--clipboard")


def test_the_map_shows_the_tree_and_the_largest_files(tether: Tether, tree: Path) -> None:
    out, _ = tether("pack", str(tree), "--map", "--top", "1")
    assert "├── src/" in out and "└── lib.py" in out
    assert out.rstrip().splitlines()[-1].endswith("src/app.py")


def test_explain_says_why(tether: Tether, tree: Path) -> None:
    change(str(tree), lambda store: store.rate("src/app.py", 1.0, "now"))
    out, _ = tether("pack", str(tree), "--lens", "debug", "--explain", "src/app.py")
    assert "`*.py` gives 100, learned utility 0.650: round(0.7 × 100 + 30 × 0.650) = 90" in out
    assert "shown: full" in out
    said, _ = tether("pack", str(tree), "--lens", "onboarding", "--explain", "src/lib.py")
    assert "left out by lens `onboarding`" in said
    assert "not selected: sensitive" in tether("pack", str(tree), "--explain", ".env")[0]


def test_a_lens_of_tether_toml_is_used(tether: Tether, tree: Path) -> None:
    (tree / "tether.toml").write_text(
        '[[pack.lenses]]\nname = "types"\nmode = "structure"\ninclude = ["*.ts"]\n'
        '[[pack.lenses.groups]]\npattern = "*.ts"\npriority = 77\n'
    )
    root = parse(tether("pack", str(tree), "--lens", "types")[0])
    assert [(f.get("path"), f.get("priority")) for f in root.findall(".//file")] == [("web/main.ts", "77")]
    (tree / "tether.toml").write_text('[[pack.lenses]]\nname = "types"\ncolour = "red"\n')
    with pytest.raises(TetherError, match="unknown key `colour`"):
        tether("pack", str(tree))


# ── learning and frozen ──────────────────────────────────────────────────────


def test_learned_utility_changes_the_next_pack_and_not_a_frozen_one(tether: Tether, tree: Path) -> None:
    frozen = tether("pack", str(tree), "--lens", "debug", "--frozen")[0]
    tether("feedback", "src/lib.py:1.0:useful", "-C", str(tree), "--lens", "debug")
    root = parse(tether("pack", str(tree), "--lens", "debug")[0])
    found = {f.get("path"): f.get("priority") for f in root.findall(".//file")}
    assert (found["src/lib.py"], found["src/app.py"]) == ("90", "85")
    assert tether("pack", str(tree), "--lens", "debug", "--frozen")[0] == frozen


def test_a_frozen_pack_opens_no_store(tree: Path, tmp_path: Path) -> None:
    change(str(tree), lambda store: store.rate("src/app.py", 1.0, "now"))
    code = (
        "import sys\n"
        "opened = []\n"
        "sys.addaudithook(lambda name, args: opened.append(str(args[0])) if name == 'open' else None)\n"
        "from tether.cli.frame import run\n"
        "run(['pack', sys.argv[1], '--no-cache', '-o', sys.argv[2], *sys.argv[3:]])\n"
        "print([name for name in opened if 'context_store' in name or 'context.lock' in name])\n"
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}

    def watch(*extra: str) -> str:
        words = [sys.executable, "-c", code, str(tree), str(tmp_path / "out"), *extra]
        return subprocess.run(words, env=env, capture_output=True, text=True, check=True).stdout.strip()

    before = (tree / ".tether/local/context_store.json").read_bytes()
    assert watch("--frozen") == "[]"
    assert "context_store.json" in watch()
    assert (tree / ".tether/local/context_store.json").read_bytes() == before


def test_a_frozen_pack_is_the_same_bytes_anywhere(tether: Tether, tree: Path, tmp_path: Path) -> None:
    copy = tmp_path / "elsewhere"
    subprocess.run(["cp", "-r", str(tree), str(copy)], check=True)
    for path in copy.rglob("*.py"):
        os.utime(path, (1, 1))
    git(copy, "remote", "add", "origin", "git@example.org:x/y.git")
    code = (
        "import sys\n"
        "from tether.cli.frame import run\n"
        "run(['pack', sys.argv[1], *'--frozen --no-cache -q --lens debug --budget 2k'.split()])\n"
    )
    outputs = set()
    for root, locale, zone, seed in ((tree, "C", "UTC", "1"), (copy, "tr_TR.UTF-8", "Asia/Tokyo", "2")):
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "LC_ALL": locale, "TZ": zone}
        env |= {"PYTHONHASHSEED": seed, "HOME": str(root)}
        outputs.add(
            subprocess.run(
                [sys.executable, "-c", code, str(root)], env=env, capture_output=True, check=True
            ).stdout
        )
    assert len(outputs) == 1


def test_a_corrupt_store_is_reported_and_the_pack_is_made(tether: Tether, tree: Path) -> None:
    (tree / ".tether/local").mkdir(parents=True)
    (tree / ".tether/local/context_store.json").write_text("{broken")
    out, err = tether("pack", str(tree))
    assert paths(out) and "set aside" in err


def test_the_second_pack_counts_nothing_and_says_the_same(tether: Tether, tree: Path, tmp_path: Path) -> None:
    first, _ = tether("pack", str(tree), "--frozen")
    kept = list((tmp_path / "cache/tether/pack").iterdir())
    assert len(kept) == 1
    assert tether("pack", str(tree), "--frozen")[0] == first
    kept[0].write_text('{"version": 2, "rows": {"zz": 3}, "costs": []}')
    assert tether("pack", str(tree), "--frozen")[0] == first


def test_remembered_judgements_are_forgotten_with_the_code_that_made_them(
    tether: Tether, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tree / "src/lib.py").write_text(f'key = "{KEY}"\n')
    with monkeypatch.context() as older:
        older.setattr("tether.pack.shell.find_secrets", lambda text: [])
        older.setattr("tether.pack.shell.fingerprint", lambda *names: "older code")
        assert KEY in tether("pack", str(tree))[0]
        assert KEY in tether("pack", str(tree))[0]
    assert KEY not in tether("pack", str(tree))[0]


# ── zoom ─────────────────────────────────────────────────────────────────────


def test_zooms_go_to_the_session_and_can_be_undone(tether: Tether, tree: Path) -> None:
    root = ("-C", str(tree))
    tether("zoom", "--session", "create:s1", *root)
    tether("zoom", "function=alpha", *root)
    out, _ = tether("zoom", "function=gamma", *root)
    assert "return 1" in out
    assert "* s1  2 open" in tether("zoom", "--session", "list", *root)[0]
    assert "undone: zoom function=gamma" in tether("zoom", "--undo", *root)[0]
    assert "done again: zoom function=gamma" in tether("zoom", "--redo", *root)[0]
    out, _ = tether("zoom", "--collapse", "fn=alpha", *root)
    assert "tether zoom function=gamma --depth=implementation" in out and "alpha" not in out
    shown = json.loads(tether("zoom", "--session", "show", *root)[0])
    assert shown["active_zooms"] == [["function=gamma", "implementation"]]
    packed = parse(tether("pack", str(tree), "--truncate-mode", "structure", "--session", "s1")[0])
    assert packed.find(".//file[@path='src/lib.py']").get("truncated") is None
    assert packed.find(".//file[@path='src/app.py']").get("truncated") == "true"
    tether("zoom", "--session", "delete:s1", *root)
    assert tether("zoom", "--session", "list", *root)[0] == ""


def test_a_zoom_teaches_the_store_of_a_project_and_no_other(tether: Tether, tree: Path) -> None:
    tether("zoom", "function=alpha", "-C", str(tree))
    assert not (tree / ".tether").exists()
    (tree / ".tether").mkdir()
    tether("zoom", "function=alpha", "-C", str(tree), "--frozen")
    assert not (tree / ".tether/local").exists()
    tether("zoom", "function=alpha", "-C", str(tree))
    data = json.loads((tree / ".tether/local/context_store.json").read_text())
    assert data["files"]["src/app.py"]["utility_score"] == 0.515


def test_pack_zooms_too(tether: Tether, tree: Path) -> None:
    out, _ = tether("pack", "--zoom", "fn=alpha", "--depth", "signature", "--budget", "500", str(tree))
    assert "def alpha(a):" in out and "return beta" not in out


def test_feedback_takes_a_whole_message(tether: Tether, tree: Path, tmp_path: Path) -> None:
    message = {
        "method": "context/feedback",
        "params": {
            "session_id": "s",
            "file_ratings": {"a.py": {"utility": 0.9}},
            "overall_effectiveness": 0.8,
        },
    }
    (tmp_path / "m.json").write_text(json.dumps(message))
    out, _ = tether("feedback", "--message", str(tmp_path / "m.json"), "-C", str(tree))
    assert out == "0.620 a.py\n0.590 lens none\n"


def test_what_shortening_saved_is_said_when_asked(tether: Tether, tree: Path) -> None:
    _, err = tether("pack", str(tree), "--truncate-mode", "structure", "--truncate-stats", "--top", "1")
    assert "tokens of text" in err and "3 shortened" in err
    assert err.rstrip().splitlines()[-1].startswith("  1. ")
    assert tether("pack", str(tree), "-q")[1] == ""


def test_the_answer_may_be_json(tether: Tether, tree: Path) -> None:
    data = json.loads(tether("pack", str(tree), "--json")[0])
    assert [file["path"] for file in data["files"]] == paths(tether("pack", str(tree))[0])
    assert json.loads(tether("zoom", "fn=alpha", "-C", str(tree), "--json")[0])["paths"] == ["src/app.py"]
    said = json.loads(tether("feedback", "a.py:1", "-C", str(tree), "--json")[0])
    assert said["utility_scores"] == {"a.py": 0.65}
