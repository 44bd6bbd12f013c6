"""Whatever a command does to a tree is seen, and can be taken back."""

import os
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tether.record.contents import Contents
from tether.source import sweep
from tether.source.root import Root


def git(place, *args: str) -> None:
    subprocess.run(["git", "-c", "user.name=x", "-c", "user.email=x@x", *args], cwd=place, check=True)


@pytest.fixture
def place(tmp_path):
    """A repository with clean, dirty, untracked and ignored files."""
    git(tmp_path, "init", "-q")
    (tmp_path / "src").mkdir()
    (tmp_path / "node_modules" / "x").mkdir(parents=True)
    (tmp_path / "src" / "clean.py").write_text("clean\n")
    (tmp_path / "src" / "dirty.py").write_text("as committed\n")
    (tmp_path / ".gitignore").write_text("node_modules/\n*.log\n")
    os.symlink("src/clean.py", tmp_path / "link")
    old = 1_700_000_000
    for path in ("src/clean.py", "src/dirty.py", ".gitignore"):
        os.utime(tmp_path / path, (old, old))
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "one")
    (tmp_path / "src" / "dirty.py").write_text("edited since\n")
    (tmp_path / "new.txt").write_text("untracked\n")
    (tmp_path / "debug.log").write_text("ignored by name\n")
    (tmp_path / "node_modules" / "x" / "i.js").write_text("ignored as a directory\n")
    return tmp_path


@pytest.fixture
def root(place):
    with Root(place) as root:
        yield root


@pytest.fixture
def store(place):
    return Contents(str(place / ".tether/local/contents"))


def changes(root: Root, before: sweep.Sweep) -> list[tuple[str, str]]:
    return [(delta.kind, delta.path) for delta in sweep.compare(root, before, sweep.take(root))]


def test_a_sweep_sees_every_file_but_ignored_directories_and_our_own_state(root, store) -> None:
    taken = sweep.preserve(root, sweep.take(root), store)
    assert set(taken.entries) - {path for path in taken.entries if path.startswith(".git/")} == {
        ".gitignore",
        "debug.log",
        "link",
        "new.txt",
        "src/clean.py",
        "src/dirty.py",
    }
    kinds = {path: how.split(":")[0] for path, how in taken.kept.items() if not path.startswith(".git/")}
    assert kinds == {
        ".gitignore": "git",
        "src/clean.py": "git",
        "src/dirty.py": "sha",
        "debug.log": "sha",
        "new.txt": "sha",
        "link": "link",
    }
    assert changes(root, taken) == []


def test_every_kind_of_change_is_found_and_taken_back(root, place, store) -> None:
    before = sweep.preserve(root, sweep.take(root), store)
    subprocess.run(
        "echo more >> src/clean.py; rm src/dirty.py; mkdir -p made/deep; echo x > made/deep/f;"
        "chmod 755 new.txt; echo y >> debug.log; ln -sfn src/dirty.py link; touch .gitignore;"
        "ln -s /etc/passwd evil",
        shell=True,
        cwd=place,
        check=True,
    )
    deltas = sweep.compare(root, before, sweep.take(root))
    assert [(d.kind, d.path) for d in deltas] == [
        ("modified", "debug.log"),
        ("created", "evil"),
        ("modified", "link"),
        ("created", "made/deep/f"),
        ("mode", "new.txt"),
        ("modified", "src/clean.py"),
        ("deleted", "src/dirty.py"),
    ]
    assert all(d.before is not None and d.after is not None for d in deltas)
    restored = sweep.restore(root, before, deltas, store)
    assert restored.failed == {}
    assert (place / "src/clean.py").read_text() == "clean\n"
    assert (place / "src/dirty.py").read_text() == "edited since\n"
    assert (place / "debug.log").read_text() == "ignored by name\n"
    assert os.readlink(place / "link") == "src/clean.py"
    assert (place / "new.txt").stat().st_mode & 0o111 == 0
    assert not os.path.lexists(place / "evil")
    assert changes(root, before) == []


def test_a_change_that_hides_its_time_is_seen_all_the_same(root, place, store) -> None:
    before = sweep.preserve(root, sweep.take(root), store)
    about = os.stat(place / "new.txt")
    with open(place / "new.txt", "r+") as file:
        file.write("UNTRACKED")
    os.utime(place / "new.txt", ns=(about.st_atime_ns, about.st_mtime_ns))
    assert os.stat(place / "new.txt").st_mtime_ns == about.st_mtime_ns
    assert changes(root, before) == [("modified", "new.txt")]


def test_hooks_and_settings_of_git_are_watched(root, place, store) -> None:
    before = sweep.preserve(root, sweep.take(root), store)
    (place / ".git/hooks").mkdir(exist_ok=True)
    (place / ".git/hooks/pre-commit").write_text("#!/bin/sh\nevil\n")
    git(place, "config", "core.hooksPath", "/tmp")
    deltas = sweep.compare(root, before, sweep.take(root))
    assert [(d.kind, d.path) for d in deltas] == [
        ("modified", ".git/config"),
        ("created", ".git/hooks/pre-commit"),
    ]
    assert sweep.restore(root, before, deltas, store).failed == {}
    assert "hooksPath" not in (place / ".git/config").read_text()
    assert not (place / ".git/hooks/pre-commit").exists()


def test_an_ignore_rule_hides_no_tracked_file_and_deletes_none(root, place, store) -> None:
    (place / "src" / "new.py").write_text("untracked\n")
    before = sweep.preserve(root, sweep.take(root), store)
    (place / ".gitignore").write_text("src/\n")
    (place / "src" / "clean.py").write_text("changed under cover\n")
    assert changes(root, before) == [("modified", ".gitignore"), ("modified", "src/clean.py")]
    hidden = sweep.preserve(root, sweep.take(root), store)
    assert "src/clean.py" in hidden.entries
    (place / "src" / "dirty.py").unlink()
    assert changes(root, hidden) == [("deleted", "src/dirty.py")]


def test_a_project_inside_a_repository_knows_what_git_keeps_of_it(place, store) -> None:
    with Root(place / "src") as root:
        taken = sweep.preserve(root, sweep.take(root), store)
        assert {path: how[:4] for path, how in taken.kept.items()} == {"clean.py": "git:", "dirty.py": "sha:"}
        (place / "src" / "clean.py").write_text("changed\n")
        deltas = sweep.compare(root, taken, sweep.take(root))
        assert sweep.restore(root, taken, deltas, store).failed == {}
    assert (place / "src" / "clean.py").read_text() == "clean\n"


def test_what_git_holds_is_recognised_by_its_bytes_after_a_copy(place, tmp_path, store) -> None:
    os.utime(place / "src" / "clean.py")
    with Root(place) as root:
        assert sweep.preserve(root, sweep.take(root), store).kept["src/clean.py"].startswith("git:")


def test_an_incomplete_sweep_calls_nothing_new(root, place) -> None:
    before = sweep.take(root)
    partial = sweep.Sweep({"new.txt": before.entries["new.txt"]}, {}, False)
    assert changes(root, partial) == []
    (place / "new.txt").unlink()
    assert changes(root, partial) == [("deleted", "new.txt")]


def test_what_was_changed_again_since_is_left_alone(root, place, store) -> None:
    before = sweep.preserve(root, sweep.take(root), store)
    (place / "new.txt").write_text("by the command\n")
    (place / "made").write_text("by the command\n")
    deltas = sweep.compare(root, before, sweep.take(root))
    (place / "new.txt").write_text("by a person\n")
    (place / "made").write_text("by a person\n")
    restored = sweep.restore(root, before, deltas, store)
    assert set(restored.failed) == {"made", "new.txt"}
    assert (place / "new.txt").read_text() == "by a person\n"
    assert (place / "made").read_text() == "by a person\n"


def test_names_no_agent_could_give_are_taken_back_too(root, place, store) -> None:
    before = sweep.preserve(root, sweep.take(root), store)
    for name in (".GIT", "evil ", b"bad\xff", "a\nb", "CON"):
        path = os.path.join(os.fsencode(place), os.fsencode(name))
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY))
    deltas = sweep.compare(root, before, sweep.take(root))
    assert len(deltas) == 5
    assert sweep.load(sweep.dump(sweep.take(root))) == sweep.take(root)
    assert sweep.restore(root, before, deltas, store).failed == {}
    assert changes(root, before) == []


def test_without_kept_bytes_going_back_says_so(root, place, store) -> None:
    before = sweep.take(root)
    (place / "new.txt").write_text("changed\n")
    deltas = sweep.compare(root, before, sweep.take(root))
    assert (deltas[0].kind, deltas[0].before) == ("modified", None)
    assert "not kept" in sweep.restore(root, before, deltas, store).failed["new.txt"]


def test_a_file_stored_in_another_form_by_git_is_not_given_back_wrongly(root, place, store) -> None:
    (place / ".gitattributes").write_text("*.bat text eol=crlf\n")
    (place / "run.bat").write_bytes(b"one\r\ntwo\r\n")
    os.utime(place / "run.bat", (1_700_000_000, 1_700_000_000))
    git(place, "add", "-A")
    git(place, "commit", "-qm", "two")
    before = sweep.preserve(root, sweep.take(root), store)
    (place / "run.bat").write_bytes(b"changed\r\n")
    deltas = sweep.compare(root, before, sweep.take(root))
    sweep.restore(root, before, deltas, store)
    assert (place / "run.bat").read_bytes() in (b"one\r\ntwo\r\n", b"changed\r\n")


def test_a_repositorys_filters_never_run(root, place, store) -> None:
    (place / ".gitattributes").write_text("* filter=evil\n")
    git(place, "config", "filter.evil.clean", "touch PWNED; cat")
    git(place, "config", "filter.evil.smudge", "touch PWNED; cat")
    git(place, "config", "core.fsmonitor", "touch PWNED")
    before = sweep.preserve(root, sweep.take(root), store)
    (place / "src/clean.py").write_text("changed\n")
    sweep.restore(root, before, sweep.compare(root, before, sweep.take(root)), store)
    assert not (place / "PWNED").exists()
    assert (place / "src/clean.py").read_text() == "clean\n"


def test_what_was_kept_before_is_not_read_again(root, place, store) -> None:
    first = sweep.preserve(root, sweep.take(root), store)

    class Counting:
        reads = 0

        def put(self, data: bytes) -> str:
            self.reads += 1
            return store.put(data)

        def get(self, sha: str) -> bytes | None:
            return store.get(sha)

    counting = Counting()
    (place / "new.txt").write_text("changed\n")
    second = sweep.preserve(root, sweep.take(root), counting, first)
    assert counting.reads == 1
    assert set(second.kept) == set(first.kept)


def test_a_tree_without_git_is_kept_up_to_the_cap(tmp_path, store) -> None:
    place = tmp_path / "plain"
    (place / "node_modules").mkdir(parents=True)
    (place / "node_modules" / "x").write_text("x")
    (place / "a").write_text("a")
    (place / "big").write_bytes(b"x" * (sweep.KEEP_FILE + 1))
    git(place.parent, "init", "-q", "elsewhere")
    with Root(place) as root:
        # The fixture's repository lies above: its index says nothing of a project inside it.
        taken = sweep.preserve(root, sweep.take(root), store)
        assert set(taken.entries) >= {"a", "big"}
        assert taken.kept["a"].startswith("sha:")
        assert "big" not in taken.kept


def test_a_directory_swapped_for_a_link_is_not_entered(root, place) -> None:
    (place / "src").rename(place / "kept")
    os.symlink("/etc", place / "src")
    assert not any(path.startswith("src/") for path in sweep.take(root).entries)


@pytest.mark.parametrize(
    "data", [b"", b"[]", b"{}", b'{"version":2,"files":[],"complete":true}', b'{"version":1,"files":[[1]]}']
)
def test_what_is_no_sweep_loads_as_none(data: bytes) -> None:
    assert sweep.load(data) is None


def test_a_sweep_passes_through_bytes(root, store) -> None:
    taken = sweep.preserve(root, sweep.take(root), store)
    assert sweep.load(sweep.dump(taken)) == taken


def test_importing_a_sweep_stays_cheap() -> None:
    code = "import sys; import tether.source.sweep; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    heavy = {"dataclasses", "typing", "pathlib", "asyncio", "subprocess", "ctypes", "tomllib", "inspect"}
    baseline = subprocess.run(
        [sys.executable, "-c", "import sys; print(*sys.modules)"], capture_output=True, text=True, check=True
    ).stdout.split()
    assert (set(loaded) - set(baseline)) & heavy == set()


ACTIONS = st.lists(
    st.tuples(
        st.sampled_from(["write", "delete", "chmod", "mkdir"]),
        st.sampled_from("abc"),
        st.text("xy\n", max_size=5),
    ),
    max_size=8,
)


@settings(max_examples=40, deadline=None)
@given(ACTIONS, ACTIONS)
def test_whatever_happens_to_a_tree_can_be_taken_back(tmp_path_factory, first, second) -> None:
    place = tmp_path_factory.mktemp("any")
    store = Contents(str(place / ".tether/local/contents"))

    def act(actions: list[tuple[str, str, str]]) -> None:
        for what, name, text in actions:
            path = place / name
            if what == "write" and not path.is_dir():
                path.write_text(text)
            elif what == "delete" and path.is_file():
                path.unlink()
            elif what == "chmod" and path.is_file():
                path.chmod(0o755 if "x" in text else 0o644)
            elif what == "mkdir":
                (place / "d").mkdir(exist_ok=True)
                (place / "d" / name).write_text(text)

    def state() -> dict[str, tuple[bytes, int]]:
        files = [p for p in place.rglob("*") if p.is_file() and ".tether" not in p.parts]
        return {p.relative_to(place).as_posix(): (p.read_bytes(), p.stat().st_mode) for p in files}

    act(first)
    with Root(place) as root:
        before, was = sweep.preserve(root, sweep.take(root), store), state()
        act(second)
        deltas = sweep.compare(root, before, sweep.take(root))
        now = state()
        assert {d.path for d in deltas} == {p for p in was.keys() | now.keys() if was.get(p) != now.get(p)}
        assert sweep.restore(root, before, deltas, store).failed == {}
        assert state() == was
