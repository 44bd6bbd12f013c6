"""Patches apply exactly or not at all, whoever wrote them."""

import difflib
import os
import subprocess

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tether.errors import TetherError
from tether.source.root import Root
from tether.source.text import is_binary
from tether.tools.changes import Direct
from tether.tools.hunks import split_lines
from tether.tools.patch_formats import detect_format, read_patch
from tether.tools.patches import VERBS, apply_to_text
from tether.types import Prepared


@pytest.fixture
def root(tmp_path):
    with Root(tmp_path) as root:
        yield root


def prepare(root: Root, patch: str, **args: object) -> Prepared:
    return VERBS["apply_patch"].prepare(root, {"patch": patch, **args})


def run(root: Root, patch: str, **args: object) -> dict:
    prepared = prepare(root, patch, **args)
    answer = prepared.run(Direct(root))
    for effect in prepared.effects:
        found = root.look(effect.target)
        assert (found.hash == effect.after) if effect.kind == "write" else found.kind == "absent", effect
    return answer


def fails(root: Root, patch: str, **args: object) -> TetherError:
    prepared = prepare(root, patch, **args)
    with pytest.raises(TetherError) as caught:
        prepared.run(Direct(root))
    return caught.value


def test_the_schema_is_valid() -> None:
    jsonschema.Draft202012Validator.check_schema(VERBS["apply_patch"].schema)


# ── unified diff ─────────────────────────────────────────────────────────────


def diff(a: str, b: str, context: int = 3) -> str:
    """What `diff -u` would print, the mark for a missing final newline included."""
    lines = difflib.unified_diff(split_lines(a), split_lines(b), "a/f", "b/f", n=context)
    return "".join(
        line if line.endswith("\n") else line + "\n\\ No newline at end of file\n" for line in lines
    )


LINES = st.lists(
    st.sampled_from(["a", "b", "c", "", " x", "-x", "+x", "@@ -1 +1 @@", "-- x", "é", "\ty"]), max_size=14
)
TEXTS = st.tuples(LINES, st.sampled_from(["\n", "\r\n"]), st.booleans()).map(
    lambda t: t[1].join(t[0]) + (t[1] if t[2] and t[0] else "")
)


@settings(max_examples=400)
@given(TEXTS, TEXTS, st.integers(0, 3))
def test_a_difflib_patch_makes_the_one_text_the_other(a: str, b: str, context: int) -> None:
    patch = diff(a, b, context)
    if not patch:
        assert a == b
        return
    (part,) = read_patch(patch, "unified")
    assert apply_to_text(part, a.encode()) == b.encode()


@settings(max_examples=60, deadline=None)
@given(TEXTS, TEXTS, st.sampled_from(["name.txt", "a name.txt", "naïve.txt", "tab\tname", "deep/er/x"]))
def test_a_git_patch_makes_the_one_tree_the_other(tmp_path_factory, a: str, b: str, name: str) -> None:
    place = tmp_path_factory.mktemp("git")
    for side, text in (("a", a), ("b", b)):
        (place / side / name).parent.mkdir(parents=True)
        if text:
            (place / side / name).write_bytes(text.encode())
    patch = subprocess.run(
        ["git", "diff", "--no-index", "--no-prefix", "a", "b"], cwd=place, capture_output=True, check=False
    ).stdout.decode()
    if not patch:
        assert a == b
        return
    with Root(place / "a") as root:
        if "\t" in name:
            assert prepare(root, patch).effects[0].target == name
            assert fails(root, patch).code == "SECURITY_VIOLATION"
            return
        run(root, patch)
    assert ((place / "a" / name).read_bytes() if (place / "a" / name).exists() else b"") == b.encode()


@settings(max_examples=200)
@given(TEXTS, TEXTS, st.lists(st.sampled_from(["q\n", "r\n"]), min_size=1, max_size=5))
def test_a_patch_finds_its_lines_after_others_were_put_before(a: str, b: str, before: list[str]) -> None:
    a, b = a.replace("\r\n", "\n"), b.replace("\r\n", "\n")
    unique = "".join(f"{n}{line}" for n, line in enumerate(split_lines(a)))
    changed = unique + b.replace("\n", "!\n")
    patch = diff(unique, changed)
    if not patch or not unique.endswith("\n"):
        return
    (part,) = read_patch(patch, "unified")
    assert apply_to_text(part, ("".join(before) + unique).encode()) == ("".join(before) + changed).encode()


@given(st.text(max_size=300))
def test_any_text_is_read_or_refused_by_name(text: str) -> None:
    for form in ("auto", "unified", "blocks", "envelope"):
        try:
            read_patch(text, form, "f")
        except TetherError as error:
            assert error.code == "PATCH_FAILED"


@settings(max_examples=200)
@given(TEXTS, TEXTS, st.binary(max_size=60))
def test_a_patch_for_other_bytes_applies_wholly_or_says_why(a: str, b: str, other: bytes) -> None:
    patch = diff(a, b)
    if not patch or is_binary(other):
        return
    (part,) = read_patch(patch, "unified")
    try:
        apply_to_text(part, other)
    except TetherError as error:
        assert all({"hunk", "reason", "expected"} <= failure.keys() for failure in error.data["failures"])


def test_a_git_patch_of_several_files_creates_deletes_renames_and_changes_modes(root, tmp_path) -> None:
    def git(*args: str) -> str:
        return subprocess.run(
            ["git", "-c", "user.name=x", "-c", "user.email=x@x", *args],
            cwd=repo,
            capture_output=True,
            check=True,
            text=True,
        ).stdout

    repo = tmp_path / "repo"
    repo.mkdir()
    git("init", "-q")
    body = "".join(f"line {n}\n" for n in range(20))
    for name in ("edit.txt", "gone.txt", "old.txt", "mode.sh", "empty.txt"):
        (repo / name).write_text("" if name == "empty.txt" else name + "\n" + body)
    git("add", "-A")
    git("commit", "-qm", "one")
    (repo / "edit.txt").write_text(
        "edit.txt\n" + body.replace("line 3", "LINE 3").replace("line 17", "LINE 17")
    )
    (repo / "gone.txt").unlink()
    (repo / "empty.txt").unlink()
    (repo / "fresh").mkdir()
    (repo / "fresh" / "new.txt").write_text("new\n")
    (repo / "blank.txt").write_text("")
    (repo / "old.txt").rename(repo / "renamed file.txt")
    (repo / "renamed file.txt").write_text("old.txt\n" + body.replace("line 5", "LINE 5"))
    (repo / "mode.sh").chmod(0o755)
    git("add", "-A")
    patch = git("diff", "--cached", "-M", "--full-index")
    wanted = {name: (repo / name).read_bytes() for name in git("ls-files", "-z").split("\0") if name}
    git("reset", "-q", "--hard")
    git("clean", "-qfd")
    with Root(repo) as root:
        prepared = prepare(root, patch)
        assert {(e.kind, e.target) for e in prepared.effects} >= {
            ("delete", "gone.txt"),
            ("delete", "old.txt"),
            ("write", "renamed file.txt"),
            ("write", "fresh/new.txt"),
        }
        run(root, patch)
    found = {p.relative_to(repo).as_posix(): p for p in repo.rglob("*") if p.is_file()}
    found = {name: p.read_bytes() for name, p in found.items() if not name.startswith((".git/", ".tether/"))}
    assert found == wanted
    assert (repo / "mode.sh").stat().st_mode & 0o777 == 0o755


def test_one_bad_hunk_leaves_every_file_alone_and_all_failures_are_told(root, tmp_path) -> None:
    (tmp_path / "good.txt").write_text("a\nb\n")
    (tmp_path / "bad.txt").write_text("one\ntwo\nthree\n")
    patch = (
        "--- a/good.txt\n+++ b/good.txt\n@@ -1,2 +1,2 @@\n a\n-b\n+B\n"
        "--- a/bad.txt\n+++ b/bad.txt\n@@ -1,1 +1,1 @@\n-uno\n+1\n@@ -3,1 +3,1 @@\n-threee\n+3\n"
        "--- a/none.txt\n+++ b/none.txt\n@@ -1 +1 @@\n-x\n+y\n"
    )
    error = fails(root, patch)
    assert error.code == "PATCH_FAILED"
    told = [(f["file"], f.get("hunk")) for f in error.data["failures"]]
    assert told == [("bad.txt", 1), ("bad.txt", 2), ("none.txt", None)]
    second = error.data["failures"][1]
    assert (second["expected"], second["found"], second["line"]) == (["threee"], ["three"], 3)
    assert (tmp_path / "good.txt").read_text() == "a\nb\n"


def test_a_patch_out_of_the_root_is_an_effect_for_policy(root) -> None:
    patch = "--- /dev/null\n+++ b/../../etc/cron.d/x\n@@ -0,0 +1 @@\n+* * * * * root id\n"
    prepared = prepare(root, patch)
    assert [(e.kind, e.target) for e in prepared.effects] == [("write", "../../etc/cron.d/x")]
    assert fails(root, patch).code == "SECURITY_VIOLATION"
    hooks = "*** Begin Patch\n*** Add File: .git/hooks/pre-commit\n+#!/bin/sh\n*** End Patch\n"
    assert [e.target for e in prepare(root, hooks).effects] == [".git/hooks/pre-commit"]


def test_a_patch_to_crlf_written_with_lf_keeps_the_crlf(root, tmp_path) -> None:
    (tmp_path / "f").write_bytes(b"a\r\nb\r\nc\r\n")
    run(root, "--- f\n+++ f\n@@ -1,3 +1,4 @@\n a\n-b\n+B\n+B2\n c\n")
    assert (tmp_path / "f").read_bytes() == b"a\r\nB\r\nB2\r\nc\r\n"


def test_wrong_counts_and_missing_numbers_are_forgiven_but_not_wrong_lines(root, tmp_path) -> None:
    (tmp_path / "f").write_text("a\nb\nc\nd\n")
    run(root, "--- a/f\n+++ b/f\n@@ -1,9 +1,9 @@\n b\n-c\n+C\n d\n\n")
    assert (tmp_path / "f").read_text() == "a\nb\nC\nd\n"
    run(root, "--- a/f\n+++ b/f\n@@ ... @@\n-a\n+A\n".replace("@@ ... @@", "@@"))
    assert (tmp_path / "f").read_text() == "A\nb\nC\nd\n"
    assert fails(root, "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+x\n").code == "PATCH_FAILED"


def test_hunks_without_numbers_must_be_unique(root, tmp_path) -> None:
    (tmp_path / "f").write_text("x\ny\nx\n")
    error = fails(root, "--- a/f\n+++ b/f\n@@\n-x\n+z\n")
    assert "occur 2 times (lines 1, 3)" in error.data["failures"][0]["reason"]


def test_binary_patches_and_links_are_refused_by_name(root, tmp_path) -> None:
    (tmp_path / "f.png").write_bytes(b"\0")
    git = "diff --git a/f.png b/f.png\nindex 1..2 100644\nBinary files a/f.png and b/f.png differ\n"
    assert "binary" in fails(root, git).message
    link = "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+/etc/passwd\n"
    assert "symbolic links" in fails(root, link).message
    assert not (tmp_path / "l").exists()


def test_creating_what_exists_and_deleting_more_than_is_there_fail(root, tmp_path) -> None:
    (tmp_path / "f").write_text("a\nb\n")
    assert fails(root, "--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+x\n").code == "ALREADY_EXISTS"
    assert fails(root, "--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n").code == "PATCH_FAILED"
    run(root, "--- a/f\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n")
    assert not (tmp_path / "f").exists()


def test_expected_hashes_are_checked(root, tmp_path) -> None:
    (tmp_path / "f").write_text("a\n")
    patch = "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n"
    prepared = prepare(root, patch, expected_hashes={"./f": "0" * 64})
    assert prepared.effects[0].before == "0" * 64
    assert fails(root, patch, expected_hashes={"./f": "0" * 64}).code == "STALE_FILE"


# ── search and replace ───────────────────────────────────────────────────────

BLOCK = "{path}\n<<<<<<< SEARCH\n{old}=======\n{new}>>>>>>> REPLACE\n"


def test_blocks_change_several_files_in_any_order_and_build_on_each_other(root, tmp_path) -> None:
    (tmp_path / "a.py").write_text("one\ntwo\nthree\n")
    (tmp_path / "b.py").write_text("b\n")
    patch = (
        "Here is the change:\n\n"
        + BLOCK.format(path="a.py", old="three\n", new="3\n")
        + BLOCK.format(path="", old="one\n", new="1\nand\n")
        + BLOCK.format(path="", old="and\n", new="AND\n")
        + "```python\n"
        + BLOCK.format(path="**`b.py`**:", old="b\n", new="")
        + "```\n"
        + BLOCK.format(path="new/c.py", old="", new="made\n")
    )
    run(root, patch)
    assert (tmp_path / "a.py").read_text() == "1\nAND\ntwo\n3\n"
    assert (tmp_path / "b.py").read_text() == ""
    assert (tmp_path / "new/c.py").read_text() == "made\n"


def test_a_block_must_match_exactly_once(root, tmp_path) -> None:
    (tmp_path / "a").write_text("x\nx\n  y\n")
    assert "occur 2 times" in fails(root, BLOCK.format(path="a", old="x\n", new="z\n")).message
    missing = fails(root, BLOCK.format(path="a", old="y\n", new="z\n"))
    assert missing.data["failures"][0]["found"] == ["  y"]
    assert fails(root, BLOCK.format(path="a", old="", new="z\n")).code == "ALREADY_EXISTS"


def test_a_block_fits_a_last_line_without_newline(root, tmp_path) -> None:
    (tmp_path / "a").write_text("one\ntwo")
    run(root, BLOCK.format(path="a", old="one\ntwo\n", new="1\n2\n"))
    assert (tmp_path / "a").read_text() == "1\n2"


@pytest.mark.parametrize(
    "patch", ["<<<<<<< SEARCH\na\n", "a\n<<<<<<< SEARCH\na\n=======\nb\n", "no patch at all"]
)
def test_a_malformed_patch_says_where(root, patch: str) -> None:
    with pytest.raises(TetherError) as caught:
        prepare(root, patch)
    assert caught.value.code == "PATCH_FAILED"


# ── envelope ─────────────────────────────────────────────────────────────────


def test_an_envelope_adds_updates_moves_and_deletes(root, tmp_path) -> None:
    (tmp_path / "up.py").write_text(
        "class A:\n    def f(self):\n        pass\n\n    def g(self):\n        pass\n"
    )
    (tmp_path / "gone").write_text("x")
    (tmp_path / "old.sh").write_text("a\nb\n")
    (tmp_path / "old.sh").chmod(0o755)
    run(
        root,
        "*** Begin Patch\n"
        "*** Add File: new/n.txt\n+one\n+two\n"
        "*** Update File: up.py\n@@ class A:\n@@     def g(self):\n-        pass\n+        return 1\n\n"
        "*** Delete File: gone\n"
        "*** Update File: old.sh\n*** Move to: bin/new.sh\n@@\n a\n-b\n+B\n*** End of File\n"
        "*** End Patch\n",
    )
    assert (tmp_path / "new/n.txt").read_text() == "one\ntwo\n"
    assert (tmp_path / "up.py").read_text().endswith("def g(self):\n        return 1\n")
    assert (tmp_path / "up.py").read_text().count("pass") == 1
    assert not (tmp_path / "gone").exists()
    assert (tmp_path / "bin/new.sh").read_text() == "a\nB\n"
    assert (tmp_path / "bin/new.sh").stat().st_mode & 0o777 == 0o755
    assert not (tmp_path / "old.sh").exists()


def test_an_envelope_with_stray_lines_is_refused(root) -> None:
    for body in ("nonsense", "*** Add File: x\nno plus", "*** Update File: x\n@@\n?what", "*** Move to: y"):
        with pytest.raises(TetherError) as caught:
            prepare(root, f"*** Begin Patch\n{body}\n*** End Patch")
        assert "malformed at its line" in caught.value.message


def test_the_format_is_told_by_its_first_telling_line() -> None:
    assert detect_format("text\n*** Begin Patch\n") == "envelope"
    assert detect_format("diff --git a/x b/x\n") == "unified"
    assert detect_format("x.py\n<<<<<<< SEARCH\n") == "blocks"


def test_a_link_named_by_a_patch_is_written_through(root, tmp_path) -> None:
    (tmp_path / "real").write_text("a\n")
    os.symlink("real", tmp_path / "link")
    prepared = prepare(root, "--- a/link\n+++ b/link\n@@ -1 +1 @@\n-a\n+b\n")
    assert prepared.effects[0].target == "real"
    prepared.run(Direct(root))
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "b\n"
