"""Writes that lose nothing: to racing agents, to editors, to crashes."""

import errno
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from hashlib import sha256

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tether.errors import TetherError
from tether.source.root import Root
from tether.source.staging import (
    LOCKS,
    STAGE,
    Locks,
    commit,
    discard_orphans,
    forget,
    roll_back,
    roll_forward,
    stage,
)
from tether.source.swap import Staged, exchange, judge
from tether.types import plain


def hash_of(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def no_exchange(*_: object) -> bool:
    """A file system that cannot exchange two names."""
    return False


@pytest.fixture(params=[exchange, no_exchange])
def swap(request):
    return request.param


@pytest.fixture
def root(tmp_path):
    with Root(tmp_path) as root:
        yield root


def leftovers(root: Root) -> list[str]:
    where = os.path.join(root.path, STAGE)
    return os.listdir(where) if os.path.isdir(where) else []


def test_a_write_replaces_the_bytes_and_keeps_the_displaced_until_forgotten(root, tmp_path, swap) -> None:
    (tmp_path / "a.txt").write_text("old")
    item = stage(root, "a.txt", b"new", expect=hash_of("old"))
    assert (tmp_path / "a.txt").read_text() == "old"
    commit(root, [item], swap=swap)
    assert (tmp_path / "a.txt").read_text() == "new"
    assert (tmp_path / item.staged).read_text() == "old"
    forget(root, [item])
    forget(root, [item])
    assert leftovers(root) == []


def test_creation_deletion_and_writing_happen_together(root, tmp_path, swap) -> None:
    (tmp_path / "gone.txt").write_text("gone")
    (tmp_path / "a.txt").write_text("old")
    items = [
        stage(root, "gone.txt", None),
        stage(root, "a.txt", b"new"),
        stage(root, "deep/er/new.txt", b"made", expect=""),
    ]
    commit(root, items, swap=swap)
    assert not (tmp_path / "gone.txt").exists()
    assert (tmp_path / "a.txt").read_text() == "new"
    assert (tmp_path / "deep/er/new.txt").read_text() == "made"
    assert os.stat(tmp_path / "deep/er/new.txt").st_nlink == 1
    assert roll_back(root, items, swap=swap) == []
    assert (tmp_path / "gone.txt").read_text() == "gone"
    assert (tmp_path / "a.txt").read_text() == "old"
    assert not (tmp_path / "deep/er/new.txt").exists()


def test_one_stale_file_of_several_leaves_all_as_they_were(root, tmp_path, swap) -> None:
    for name in "abc":
        (tmp_path / name).write_text(name)
    items = [stage(root, name, b"new") for name in "abc"] + [stage(root, "new/d", b"d", expect="")]
    (tmp_path / "b").write_text("someone else's")
    with pytest.raises(TetherError) as caught:
        commit(root, items, swap=swap)
    assert caught.value.code == "STALE_FILE"
    assert caught.value.data["path"] == "b"
    assert caught.value.data["expected"] == hash_of("b")
    assert caught.value.data["found"] == hash_of("someone else's")
    assert [(tmp_path / n).read_text() for n in "abc"] == ["a", "someone else's", "c"]
    assert not (tmp_path / "new").exists()


def test_a_failure_half_way_is_undone_directories_included(root, tmp_path) -> None:
    (tmp_path / "a").write_text("a")
    (tmp_path / "b").write_text("b")
    items = [stage(root, "new/c", b"c", expect=""), stage(root, "a", b"A"), stage(root, "b", b"B")]
    calls = []

    def editor_in_between(a_dir: int, a: str, b_dir: int, b: str) -> bool:
        if b == "b" and not calls:
            calls.append(b)
            (tmp_path / "b").write_text("typed just now")
        return exchange(a_dir, a, b_dir, b)

    with pytest.raises(TetherError, match="`b` has changed"):
        commit(root, items, swap=editor_in_between)
    assert calls
    assert (tmp_path / "a").read_text() == "a"
    assert (tmp_path / "b").read_text() == "typed just now"
    assert not (tmp_path / "new").exists()


def test_an_editor_that_saves_twice_meanwhile_keeps_its_newer_save(root, tmp_path, swap) -> None:
    (tmp_path / "a").write_text("a")
    item = stage(root, "a", b"ours")
    calls = []

    def saving(a_dir: int, a: str, b_dir: int, b: str) -> bool:
        calls.append(b)
        if len(calls) == 1:
            (tmp_path / "a").write_text("first save")
        if len(calls) == 2:
            (tmp_path / "a").unlink()
            (tmp_path / "a").write_text("second save")
        return swap(a_dir, a, b_dir, b)

    with pytest.raises(TetherError, match="`a` has changed"):
        commit(root, [item], swap=saving)
    assert (tmp_path / "a").read_text() == "second save"


def test_a_full_disk_half_way_is_undone(root, tmp_path) -> None:
    (tmp_path / "a").write_text("a")
    (tmp_path / "b").write_text("b")
    items = [stage(root, "a", b"A"), stage(root, "b", b"B")]

    def full(a_dir: int, a: str, b_dir: int, b: str) -> bool:
        if b == "b":
            raise OSError(errno.ENOSPC, "no space")
        return exchange(a_dir, a, b_dir, b)

    with pytest.raises(OSError, match="no space"):
        commit(root, items, swap=full)
    assert ((tmp_path / "a").read_text(), (tmp_path / "b").read_text()) == ("a", "b")


def test_what_changed_is_shown_when_the_old_bytes_are_known(root, tmp_path) -> None:
    (tmp_path / "a").write_text("one\ntwo\n")
    item = stage(root, "a", b"mine\n")
    (tmp_path / "a").write_text("one\nthree\n")
    with pytest.raises(TetherError) as caught:
        commit(root, [item], known={hash_of("one\ntwo\n"): b"one\ntwo\n"}.get)
    assert "-two" in caught.value.data["diff"]
    assert "+three" in caught.value.data["diff"]


@pytest.mark.parametrize("what", ["created", "deleted", "linked", "directory"])
def test_whatever_took_the_files_place_is_stale(root, tmp_path, what: str) -> None:
    if what != "created":
        (tmp_path / "a").write_text("a")
    item = stage(root, "a", b"A")
    match what:
        case "created":
            (tmp_path / "a").write_text("theirs")
        case "deleted":
            (tmp_path / "a").unlink()
        case "linked":
            (tmp_path / "a").unlink()
            os.symlink("/etc/passwd", tmp_path / "a")
        case "directory":
            (tmp_path / "a").unlink()
            (tmp_path / "a").mkdir()
    with pytest.raises(TetherError) as caught:
        commit(root, [item])
    assert caught.value.code == "STALE_FILE"
    assert not (tmp_path / "a").exists() if what == "deleted" else (tmp_path / "a").exists()


def test_deleting_what_someone_else_deleted_is_stale(root, tmp_path) -> None:
    (tmp_path / "a").write_text("a")
    item = stage(root, "a", None)
    (tmp_path / "a").unlink()
    with pytest.raises(TetherError, match="is gone"):
        commit(root, [item])


def test_mode_and_attributes_are_kept_and_new_files_follow_the_umask(root, tmp_path) -> None:
    script = tmp_path / "run.sh"
    script.write_text("old")
    script.chmod(0o751)
    try:
        os.setxattr(script, "user.note", b"kept")
        attributes = True
    except OSError:
        attributes = False  # this file system keeps none
    commit(root, [stage(root, "run.sh", b"new"), stage(root, "new", b""), stage(root, "x", b"", mode=0o755)])
    assert script.stat().st_mode & 0o7777 == 0o751
    assert not attributes or os.getxattr(script, "user.note") == b"kept"
    umask = os.umask(0)
    os.umask(umask)
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o666 & ~umask
    assert (tmp_path / "x").stat().st_mode & 0o777 == 0o755


def test_a_change_of_mode_alone_is_made(root, tmp_path) -> None:
    (tmp_path / "a").write_text("same")
    item = stage(root, "a", b"same", mode=0o755)
    commit(root, [item])
    commit(root, [item])
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o755


def test_writing_severs_hard_links(root, tmp_path) -> None:
    (tmp_path / "a").write_text("old")
    os.link(tmp_path / "a", tmp_path / "b")
    commit(root, [stage(root, "a", b"new")])
    assert (tmp_path / "b").read_text() == "old"


def test_a_stage_or_lock_folder_that_leads_out_is_refused(tmp_path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "p" / ".tether").mkdir(parents=True)
    os.symlink("../../out", tmp_path / "p" / ".tether" / "local")
    with Root(tmp_path / "p") as root:
        with pytest.raises(TetherError) as caught:
            stage(root, "a", b"x")
        assert caught.value.code == "SECURITY_VIOLATION"
        with pytest.raises(TetherError), Locks(root, ["a"]):
            pass
    assert os.listdir(tmp_path / "out") == []


def test_only_staged_files_can_be_forgotten(root, tmp_path) -> None:
    (tmp_path / "precious").write_text("x")
    with pytest.raises(TetherError):
        forget(root, [Staged(path="a", before="", after="", staged="precious")])
    assert (tmp_path / "precious").exists()


def test_a_lock_vanishes_with_its_holder_and_a_held_one_is_a_collision(root, tmp_path) -> None:
    code = (
        "import sys,time; from tether.source.root import Root; from tether.source.staging import Locks\n"
        "with Locks(Root(sys.argv[1]), ['a']): print('held', flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        with pytest.raises(TetherError) as caught, Locks(root, ["a"], patience=0.05):
            pass
        assert caught.value.code == "COLLISION"
        holder.kill()
    with Locks(root, ["a"], patience=5):
        assert os.listdir(tmp_path / LOCKS) == [hash_of("a")]


def test_a_lock_whose_file_was_cleaned_away_is_taken_anew(root, tmp_path) -> None:
    with Locks(root, ["a"]):
        shutil.rmtree(tmp_path / ".tether")
        with Locks(root, ["a"], patience=0), pytest.raises(TetherError), Locks(root, ["a"], patience=0):
            pass


def test_a_recovery_that_was_faster_counts_as_done(root, tmp_path, swap) -> None:
    (tmp_path / "a").write_text("a")
    items = [stage(root, "a", b"A"), stage(root, "b", b"B", expect="")]
    assert roll_forward(root, items, swap=swap) == "forward"
    commit(root, items, swap=swap)
    assert ((tmp_path / "a").read_text(), (tmp_path / "b").read_text()) == ("A", "B")


def test_recovery_goes_back_when_a_staged_file_is_lost(root, tmp_path, swap) -> None:
    (tmp_path / "a").write_text("a")
    (tmp_path / "b").write_text("b")
    items = [stage(root, "a", b"A"), stage(root, "b", b"B")]
    commit(root, items[:1], swap=swap)
    os.unlink(tmp_path / items[1].staged)
    assert roll_forward(root, items, swap=swap) == "back"
    assert ((tmp_path / "a").read_text(), (tmp_path / "b").read_text()) == ("a", "b")
    assert roll_forward(root, items, swap=swap) == "back"
    assert ((tmp_path / "a").read_text(), (tmp_path / "b").read_text()) == ("a", "b")


def test_going_back_leaves_alone_what_a_person_changed_since(root, tmp_path, swap) -> None:
    (tmp_path / "a").write_text("a")
    (tmp_path / "b").write_text("b")
    items = [stage(root, "a", b"A"), stage(root, "b", b"B")]
    commit(root, items, swap=swap)
    (tmp_path / "b").write_text("a person's")
    assert roll_back(root, items, swap=swap) == ["b"]
    assert ((tmp_path / "a").read_text(), (tmp_path / "b").read_text()) == ("a", "a person's")


def test_bytes_displaced_by_a_killed_swap_are_put_back(root, tmp_path) -> None:
    (tmp_path / "a").write_text("a")
    item = stage(root, "a", b"A")
    (tmp_path / "a").write_text("an editor's")
    os.rename(tmp_path / "a", tmp_path / "kept")  # as a kill right after the exchange leaves it
    os.rename(tmp_path / item.staged, tmp_path / "a")
    os.rename(tmp_path / "kept", tmp_path / item.staged)
    assert judge(root, item) == "clobbered"
    assert roll_forward(root, [item]) == "back"
    assert (tmp_path / "a").read_text() == "an editor's"


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(["", "x", "y"]), st.sampled_from(["", "x", "z"])), min_size=1, max_size=4
    ),
    st.integers(0, 4),
    st.booleans(),
)
def test_stopping_anywhere_between_files_is_mended_forward(
    tmp_path_factory, changes, done, exchanging
) -> None:
    place = tmp_path_factory.mktemp("mend")
    swap = exchange if exchanging else no_exchange
    changes = [(b, a) for b, a in changes if b or a]
    with Root(place) as root:
        items = []
        for n, (before, after) in enumerate(changes):
            if before:
                (place / f"f{n}").write_text(before)
            items.append(stage(root, f"f{n}", after.encode() if after else None))
        commit(root, items[:done], swap=swap)
        again = [Staged(**row) for row in json.loads(json.dumps(plain(items)))]
        for _ in range(2):
            assert roll_forward(root, again, swap=swap) == "forward"
            for n, (_, after) in enumerate(changes):
                assert ((place / f"f{n}").read_text() if (place / f"f{n}").exists() else "") == after
        forget(root, again)
        assert leftovers(root) == []


def test_staged_bytes_that_are_gone_or_altered_are_not_mistaken_for_a_stale_file(root, tmp_path) -> None:
    (tmp_path / "a").write_text("a")
    item = stage(root, "a", b"A")
    (tmp_path / item.staged).write_text("tampered")
    for _ in range(2):
        with pytest.raises(TetherError) as caught:
            commit(root, [item])
        assert caught.value.code == "STORE_CORRUPT"
        forget(root, [item])
    assert (tmp_path / "a").read_text() == "a"


def test_orphans_are_discarded_once_they_are_old_and_nobody_names_them(root, tmp_path) -> None:
    assert discard_orphans(root, []) == []
    items = [stage(root, name, b"x") for name in "abc"]
    assert discard_orphans(root, []) == []
    assert discard_orphans(root, [items[0].staged], age=-60) == sorted(item.staged for item in items[1:])
    assert (tmp_path / items[0].staged).exists()


EDITOR = """
import os, sys
n = 0
while True:
    n += 1
    with open("typed.tmp", "w") as file: file.write(f"{n}\\n")
    os.rename("typed.tmp", "text")
"""


def test_an_editor_that_saves_meanwhile_never_loses_what_it_saved(root, tmp_path) -> None:
    (tmp_path / "text").write_text("0\n")
    outcomes = {"won": 0, "stale": 0}
    latest = 0
    with subprocess.Popen([sys.executable, "-c", EDITOR], cwd=tmp_path) as editor:
        try:
            until = time.monotonic() + 2
            while time.monotonic() < until:
                data, spot = root.read("text")
                # Whatever an editor saved stands until its next save: numbers never run backwards.
                assert int(data.split()[0]) >= latest
                latest = int(data.split()[0])
                item = stage(root, "text", data + b"ours\n", expect=spot.hash)
                try:
                    commit(root, [item])
                    outcomes["won"] += 1
                except TetherError as error:
                    assert error.code == "STALE_FILE"
                    outcomes["stale"] += 1
                forget(root, [item])
        finally:
            editor.kill()
    assert outcomes["stale"] > 0, outcomes


SWAPPER = """
import os
while True:
    os.rename("dir", "kept"); os.symlink("../outside", "dir")
    os.unlink("dir"); os.rename("kept", "dir")
"""


def test_a_directory_swapped_for_a_link_never_lets_a_write_out(tmp_path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "a").write_text("theirs")
    place = tmp_path / "place"
    (place / "dir").mkdir(parents=True)
    (place / "dir" / "a").write_text("0")
    outcomes = {"written": 0, "refused": 0}
    with subprocess.Popen([sys.executable, "-c", SWAPPER], cwd=place) as swapper, Root(place) as root:
        try:
            until = time.monotonic() + 2
            while time.monotonic() < until:
                items: list[Staged] = []
                try:
                    items.append(stage(root, "dir/a", os.urandom(8)))
                    items.append(stage(root, "dir/new", b"x"))
                    commit(root, items)
                    outcomes["written"] += 1
                except TetherError:
                    outcomes["refused"] += 1
                forget(root, items)
        finally:
            swapper.kill()
    assert outcomes["refused"] > 0, outcomes
    assert os.listdir(tmp_path / "outside") == ["a"]
    assert (tmp_path / "outside" / "a").read_text() == "theirs"


COUNTER = """
import sys
from tether.errors import TetherError
from tether.source.root import Root
from tether.source.staging import commit, forget, stage
root, wins = Root(sys.argv[1]), 0
for _ in range(int(sys.argv[2])):
    data, spot = root.read("count")
    item = stage(root, "count", str(int(data) + 1).encode(), expect=spot.hash)
    try:
        commit(root, [item]); wins += 1
    except TetherError as error:
        assert error.code == "STALE_FILE", error
    forget(root, [item])
print(wins)
"""


def test_eight_processes_counting_in_one_file_lose_no_count(root, tmp_path) -> None:
    (tmp_path / "count").write_text("0")
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", COUNTER, str(tmp_path), "200"], stdout=subprocess.PIPE, text=True
        )
        for _ in range(8)
    ]
    wins = [int(worker.communicate()[0]) for worker in workers]
    assert all(worker.returncode == 0 for worker in workers)
    assert int((tmp_path / "count").read_text()) == sum(wins)
    assert sum(wins) >= 200, "nobody may starve: someone always wins"
    assert leftovers(root) == []


WRITER = """
import json, os, sys
from tether.source.root import Root
from tether.source.staging import commit, forget, stage
from tether.types import plain
root = Root(sys.argv[1])
swap = None if sys.argv[2] == "exchange" else lambda *_: False
log = os.open(sys.argv[1] + ".log", os.O_WRONLY | os.O_APPEND)
version = 0
print("ready", flush=True)
while True:
    version += 1
    items = [stage(root, f"f{n}", b"%d:%d" % (n, version) * 50) for n in range(3)]
    if version % 2: items.append(stage(root, "sub/extra", b"%d" % version, expect=""))
    else: items.append(stage(root, "sub/extra", None))
    os.write(log, json.dumps(plain(items)).encode() + b"\\n")
    commit(root, items, swap=swap)
    os.write(log, b"settled\\n")
    forget(root, items)
"""

MENDER = """
import json, sys
from tether.source.root import Root
from tether.source.staging import forget, roll_forward
from tether.source.swap import Staged
root = Root(sys.argv[1])
items = [Staged(**row) for row in json.load(sys.stdin)]
swap = None if sys.argv[2] == "exchange" else lambda *_: False
print("ready", flush=True)
roll_forward(root, items, swap=swap)
"""


@pytest.mark.slow
@pytest.mark.parametrize("way", ["exchange", "no exchange"])
def test_a_hundred_kills_never_leave_a_mixture(tmp_path, way: str) -> None:
    chance = random.Random(way)
    seen = {"forward": 0, "settled": 0}
    for round_ in range(100):
        place = tmp_path / str(round_)
        (place / "sub").mkdir(parents=True)
        for n in range(3):
            (place / f"f{n}").write_bytes(b"%d:%d" % (n, 0) * 50)
        log = tmp_path / f"{round_}.log"
        log.write_bytes(b"")
        with subprocess.Popen([sys.executable, "-c", WRITER, place, way], stdout=subprocess.PIPE) as writer:
            assert writer.stdout is not None
            writer.stdout.readline()
            time.sleep(chance.uniform(0.001, 0.05))
            writer.send_signal(signal.SIGKILL)
        lines = [line for line in log.read_bytes().split(b"\n")[:-1] if line]
        with Root(place) as root:
            if lines and lines[-1] != b"settled":
                if round_ % 2:  # whoever mends may be killed as well
                    _mend_and_kill(place, way, lines[-1], chance.uniform(0, 0.003))
                items = [Staged(**row) for row in json.loads(lines[-1])]
                seen[roll_forward(root, items, swap=exchange if way == "exchange" else no_exchange)] += 1
                forget(root, items)
            else:
                seen["settled"] += 1
        whole = [(place / f"f{n}").read_bytes() for n in range(3)]
        version = len([line for line in lines if line != b"settled"])
        assert whole == [b"%d:%d" % (n, version) * 50 for n in range(3)], round_
        assert (place / "sub" / "extra").exists() == (version % 2 == 1)
        with Root(place) as root, Locks(root, ["f0", "f1", "f2", "sub/extra"], patience=0):
            pass  # no lock outlives its holder
    assert min(seen.values()) > 0, seen


def _mend_and_kill(place, way: str, line: bytes, after: float) -> None:
    command = [sys.executable, "-c", MENDER, place, way]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as mender:
        assert mender.stdin is not None
        assert mender.stdout is not None
        mender.stdin.write(line)
        mender.stdin.close()
        mender.stdout.readline()
        time.sleep(after)
        mender.kill()
