"""What the file verbs foresee is what they do; they touch nothing before, and nothing else."""

import os
from hashlib import sha256

import jsonschema
import pytest

from tether.errors import TetherError
from tether.source.root import Root
from tether.tools.changes import Direct
from tether.tools.files import MAX_BYTES, VERBS
from tether.types import Prepared


@pytest.fixture
def root(tmp_path):
    with Root(tmp_path) as root:
        yield root


def prepare(root: Root, verb: str, **args: object) -> Prepared:
    return VERBS[verb].prepare(root, args)


def run(root: Root, verb: str, **args: object) -> dict:
    prepared = prepare(root, verb, **args)
    answer = prepared.run(Direct(root))
    for effect in prepared.effects:
        if effect.kind == "write":
            assert effect.after == root.look(effect.target).hash, "what was foreseen is what happened"
        if effect.kind == "delete":
            assert root.look(effect.target).kind == "absent"
    return answer


def fails(root: Root, verb: str, **args: object) -> TetherError:
    """The error the verb ends in once it is allowed to run; preparing it must not raise."""
    prepared = prepare(root, verb, **args)
    with pytest.raises(TetherError) as caught:
        prepared.run(Direct(root))
    return caught.value


@pytest.mark.parametrize("verb", VERBS.values(), ids=lambda v: v.name)
def test_every_schema_is_valid_and_describes_every_argument(verb) -> None:
    jsonschema.Draft202012Validator.check_schema(verb.schema)
    assert all(rule["description"] for rule in verb.schema["properties"].values())


def test_preparing_touches_nothing(root, tmp_path) -> None:
    (tmp_path / "a").write_text("a\n")
    before = sorted(os.walk(tmp_path))
    prepare(root, "write_file", path="new/b", content="x")
    prepare(root, "edit_file", path="a", old="a", new="b")
    prepare(root, "delete_file", path="a")
    prepare(root, "move_file", source="a", destination="c/d")
    assert sorted(os.walk(tmp_path)) == before
    assert (tmp_path / "a").read_text() == "a\n"


def test_nothing_is_told_about_a_file_before_the_call_is_allowed(root, tmp_path) -> None:
    (tmp_path / "secret").write_text("password\n")
    prepared = prepare(root, "edit_file", path="secret", old="pass word", new="x")
    assert prepared.effects[0].after is None
    assert fails(root, "edit_file", path="secret", old="pass word", new="x").code == "PATCH_FAILED"
    prepare(root, "edit_file", path="absent", old="a", new="b")
    prepare(root, "read_file", path="absent")


@pytest.mark.parametrize("verb", ["read_file", "write_file", "edit_file", "delete_file", "move_file"])
def test_a_path_that_leaves_the_root_is_an_effect_for_policy_and_never_runs(root, verb) -> None:
    args = {"write_file": {"content": ""}, "edit_file": {"old": "a", "new": "b"}}.get(verb, {})
    paths = {"source": "../x", "destination": "../y"} if verb == "move_file" else {"path": "../x"}
    prepared = prepare(root, verb, **paths, **args)
    assert {effect.target for effect in prepared.effects} == set(paths.values())
    assert fails(root, verb, **paths, **args).code == "SECURITY_VIOLATION"


def test_effects_name_the_real_file_behind_a_link(root, tmp_path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src/a").write_text("a")
    os.symlink("src/a", tmp_path / "link")
    assert prepare(root, "read_file", path="link").effects[0].target == "src/a"
    run(root, "write_file", path="link", content="b")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "src/a").read_text() == "b"


def test_a_link_swapped_in_after_preparing_is_not_followed(root, tmp_path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src/a").write_text("a")
    (tmp_path / "other").mkdir()
    (tmp_path / "other/a").write_text("a")
    read = prepare(root, "read_file", path="src/a")
    write = prepare(root, "write_file", path="src/a", content="b")
    os.rename(tmp_path / "src", tmp_path / "kept")
    os.symlink("other", tmp_path / "src")
    for prepared in (read, write):
        with pytest.raises(TetherError) as caught:
            prepared.run(Direct(root))
        assert caught.value.code == "SECURITY_VIOLATION"
    assert (tmp_path / "other/a").read_text() == "a"


# ── reading ──────────────────────────────────────────────────────────────────


def test_reading_numbers_lines_and_gives_the_hash_of_the_whole_file(root, tmp_path) -> None:
    (tmp_path / "a").write_text("one\ntwo\nthree\n")
    answer = run(root, "read_file", path="a", start=2)
    assert answer["content"] == "     2\ttwo\n     3\tthree\n"
    assert (answer["start"], answer["end"], answer["total_lines"], answer["truncated"]) == (2, 3, 3, False)
    assert answer["hash"] == sha256(b"one\ntwo\nthree\n").hexdigest()
    assert run(root, "read_file", path="a", format="raw", end=1)["content"] == "one\n"


def test_reading_says_what_was_cut(root, tmp_path) -> None:
    (tmp_path / "long").write_text("".join(f"{n}\n" for n in range(5000)))
    answer = run(root, "read_file", path="long")
    assert (answer["end"], answer["truncated"]) == (2000, True)
    assert "lines 2001 to 5000 are left out: ask with `start=2001`" in answer["note"]
    (tmp_path / "wide").write_text("x" * (MAX_BYTES + 10))
    answer = run(root, "read_file", path="wide", format="raw")
    assert (len(answer["content"]), answer["truncated"]) == (MAX_BYTES, True)
    assert "line 1 is cut" in answer["note"]
    (tmp_path / "open").write_text("a")
    assert "no final newline" in run(root, "read_file", path="open")["note"]


@pytest.mark.parametrize(
    ("data", "content", "total"),
    [
        (b"", "", 0),
        (b"\n", "     1\t\n", 1),
        (b"a", "     1\ta\n", 1),
        (b"a\r\nb\r\n", "     1\ta\n     2\tb\n", 2),
    ],
)
def test_reading_counts_lines_as_editors_do(root, tmp_path, data: bytes, content: str, total: int) -> None:
    (tmp_path / "a").write_bytes(data)
    answer = run(root, "read_file", path="a")
    assert (answer["content"], answer["total_lines"]) == (content, total)


def test_reading_refuses_what_is_not_text(root, tmp_path) -> None:
    (tmp_path / "bin").write_bytes(b"\0\1\2")
    (tmp_path / "dir").mkdir()
    os.mkfifo(tmp_path / "fifo")
    assert fails(root, "read_file", path="bin").code == "NOT_A_FILE"
    assert fails(root, "read_file", path="dir").code == "NOT_A_FILE"
    assert fails(root, "read_file", path="fifo").code == "NOT_A_FILE"
    assert fails(root, "read_file", path="none").code == "NOT_FOUND"
    with pytest.raises(TetherError, match="`end` lies before `start`"):
        prepare(root, "read_file", path="bin", start=4, end=2)


def test_reading_past_the_end_says_how_long_the_file_is(root, tmp_path) -> None:
    (tmp_path / "a").write_text("one\n")
    assert "only 1 lines" in run(root, "read_file", path="a", start=9)["note"]


# ── writing ──────────────────────────────────────────────────────────────────


def test_writing_creates_directories_on_the_way(root, tmp_path) -> None:
    answer = run(root, "write_file", path="deep/er/a.txt", content="x\n")
    assert answer["created"] is True
    assert (tmp_path / "deep/er/a.txt").read_text() == "x\n"


def test_writing_keeps_mode_encoding_and_newlines(root, tmp_path) -> None:
    file = tmp_path / "a"
    file.write_bytes(b"\xef\xbb\xbfold\r\n")
    file.chmod(0o750)
    run(root, "write_file", path="a", content="new\nlines\n")
    assert file.read_bytes() == b"\xef\xbb\xbfnew\r\nlines\r\n"
    assert file.stat().st_mode & 0o777 == 0o750
    run(root, "write_file", path="a", content="new\n", newline="lf", executable=False)
    assert file.read_bytes() == b"\xef\xbb\xbfnew\n"
    assert file.stat().st_mode & 0o777 == 0o644


def test_a_write_that_expects_another_hash_is_stale(root, tmp_path) -> None:
    (tmp_path / "a").write_text("theirs")
    prepared = prepare(root, "write_file", path="a", content="mine", expected_hash="0" * 64)
    assert prepared.effects[0].before == "0" * 64
    assert fails(root, "write_file", path="a", content="mine", expected_hash="0" * 64).code == "STALE_FILE"
    assert fails(root, "write_file", path="a", content="mine", expected_hash="").code == "STALE_FILE"
    assert (tmp_path / "a").read_text() == "theirs"


def test_writing_over_a_directory_is_refused(root, tmp_path) -> None:
    (tmp_path / "dir").mkdir()
    assert fails(root, "write_file", path="dir", content="").code == "NOT_A_FILE"
    assert fails(root, "write_file", path="new/", content="").code == "NOT_A_FILE"


# ── editing ──────────────────────────────────────────────────────────────────


def test_an_edit_replaces_exactly_one_place(root, tmp_path) -> None:
    (tmp_path / "a.py").write_text("x = 1\ny = 2\n")
    run(root, "edit_file", path="a.py", old="y = 2", new="y = 3")
    assert (tmp_path / "a.py").read_text() == "x = 1\ny = 3\n"


def test_an_edit_of_several_places_must_be_asked_for(root, tmp_path) -> None:
    (tmp_path / "a").write_text("x\nx\nx\n")
    error = fails(root, "edit_file", path="a", old="x", new="y")
    assert (error.code, error.data["lines"], error.data["count"]) == ("PATCH_FAILED", [1, 2, 3], 3)
    assert fails(root, "edit_file", path="a", old="x", new="y", expected_count=2).code == "PATCH_FAILED"
    run(root, "edit_file", path="a", old="x", new="y", expected_count=3)
    run(root, "edit_file", path="a", old="y", new="z", replace_all=True)
    assert (tmp_path / "a").read_text() == "z\nz\nz\n"


def test_an_edit_that_misses_shows_the_nearest_lines(root, tmp_path) -> None:
    (tmp_path / "a.py").write_text("def one():\n    return 1\n\ndef two():\n        return 2\n")
    error = fails(root, "edit_file", path="a.py", old="def two():\n    return 2", new="")
    assert error.code == "PATCH_FAILED"
    assert error.data["line"] == 4
    assert "only in indentation" in error.message
    assert error.data["found"] == ["def two():", "        return 2"]
    assert "line" not in fails(root, "edit_file", path="a.py", old="zzzz qqqq", new="").data


def test_an_edit_written_with_lf_fits_a_file_with_crlf(root, tmp_path) -> None:
    (tmp_path / "a").write_bytes(b"one\r\ntwo\r\nthree\r\n")
    run(root, "edit_file", path="a", old="one\ntwo\n", new="1\n2\n")
    assert (tmp_path / "a").read_bytes() == b"1\r\n2\r\nthree\r\n"


def test_mixed_newlines_away_from_the_edit_stay_as_they_are(root, tmp_path) -> None:
    (tmp_path / "a").write_bytes(b"one\r\ntwo\nthree\r\n")
    run(root, "edit_file", path="a", old="two", new="2")
    assert (tmp_path / "a").read_bytes() == b"one\r\n2\nthree\r\n"


def test_an_edit_computed_on_old_bytes_is_stale_when_they_change(root, tmp_path) -> None:
    (tmp_path / "a").write_text("one\n")
    prepared = prepare(root, "edit_file", path="a", old="one", new="two")
    (tmp_path / "a").write_text("one and more\n")
    with pytest.raises(TetherError) as caught:
        prepared.run(Direct(root))
    assert caught.value.code == "STALE_FILE"
    assert (tmp_path / "a").read_text() == "one and more\n"


def test_an_edit_that_changes_nothing_or_matches_everything_is_refused(root) -> None:
    for args in ({"old": "a", "new": "a"}, {"old": "", "new": "a"}):
        with pytest.raises(TetherError) as caught:
            prepare(root, "edit_file", path="a", **args)
        assert caught.value.code == "BAD_ARGUMENTS"


# ── deleting and moving ──────────────────────────────────────────────────────


def test_deleting_removes_one_file(root, tmp_path) -> None:
    (tmp_path / "a").write_text("")
    run(root, "delete_file", path="a")
    assert fails(root, "delete_file", path="a").code == "NOT_FOUND"
    assert fails(root, "delete_file", path=".").code == "NOT_A_FILE"


def test_moving_keeps_bytes_and_mode(root, tmp_path) -> None:
    (tmp_path / "a").write_bytes(b"\0binary")
    (tmp_path / "a").chmod(0o755)
    prepared = prepare(root, "move_file", source="a", destination="new/b")
    assert [(e.kind, e.target, e.before) for e in prepared.effects] == [
        ("write", "new/b", ""),
        ("delete", "a", None),
    ]
    run(root, "move_file", source="a", destination="new/b")
    assert (tmp_path / "new/b").read_bytes() == b"\0binary"
    assert (tmp_path / "new/b").stat().st_mode & 0o777 == 0o755
    assert not (tmp_path / "a").exists()


def test_moving_onto_something_needs_consent(root, tmp_path) -> None:
    (tmp_path / "a").write_text("a")
    (tmp_path / "b").write_text("b")
    (tmp_path / "dir").mkdir()
    assert fails(root, "move_file", source="a", destination="b").code == "ALREADY_EXISTS"
    assert fails(root, "move_file", source="a", destination="dir").code == "NOT_A_FILE"
    assert fails(root, "move_file", source="a", destination="./a").code == "BAD_ARGUMENTS"
    run(root, "move_file", source="a", destination="b", overwrite=True)
    assert (tmp_path / "b").read_text() == "a"
