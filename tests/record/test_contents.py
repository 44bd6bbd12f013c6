import hashlib
import multiprocessing
import os
import signal
import time

from hypothesis import given
from hypothesis import strategies as st

from tether.record.contents import Contents


def test_what_is_put_is_got_back(tmp_path):
    store = Contents(str(tmp_path))
    for data in (b"", b"a", b"\x00\xff" * 1000, os.urandom(100_000)):
        sha = store.put(data)
        assert sha == hashlib.sha256(data).hexdigest()
        assert store.get(sha) == data


@given(data=st.binary(max_size=2000))
def test_any_bytes_survive(tmp_path_factory, data):
    store = Contents(str(tmp_path_factory.getbasetemp() / "any"))
    assert store.get(store.put(data)) == data


def test_what_is_absent_is_none(tmp_path):
    store = Contents(str(tmp_path))
    assert store.get("0" * 64) is None
    assert store.get("") is None
    assert store.get("../../../../etc/passwd") is None
    assert store.get("0" * 63 + "\n") is None


def test_a_corrupt_object_reads_as_absent_and_is_mended_by_the_next_put(tmp_path):
    store = Contents(str(tmp_path))
    sha = store.put(b"precious")
    path = tmp_path / sha[:2] / sha
    for damage in (b"", b"garbage", path.read_bytes()[:8]):
        path.write_bytes(damage)
        assert store.get(sha) is None
        store.put(b"precious")
        assert store.get(sha) == b"precious"


def test_an_object_named_wrongly_is_not_given_out(tmp_path):
    store = Contents(str(tmp_path))
    sha, other = store.put(b"one"), store.put(b"two")
    os.replace(tmp_path / sha[:2] / sha, tmp_path / other[:2] / other)
    assert store.get(other) is None


def test_what_is_too_large_is_hashed_but_not_kept(tmp_path):
    store = Contents(str(tmp_path), limit=10)
    sha = store.put(b"x" * 11)
    assert sha == hashlib.sha256(b"x" * 11).hexdigest()
    assert store.get(sha) is None
    assert store.get(store.put(b"x" * 10)) == b"x" * 10


def test_a_bomb_is_not_unpacked_beyond_the_limit(tmp_path):
    large = Contents(str(tmp_path), limit=1 << 24)
    sha = large.put(b"\0" * (1 << 23))
    assert Contents(str(tmp_path), limit=1000).get(sha) is None


def test_pruning_removes_the_longest_unused_and_spares_what_is_needed(tmp_path):
    store = Contents(str(tmp_path))
    shas = [store.put(os.urandom(1000)) for _ in range(10)]
    for age, sha in enumerate(shas):
        os.utime(tmp_path / sha[:2] / sha, (1000 + age, 1000 + age))
    assert store.prune({shas[0]}, 5500) == 5
    kept = [sha for sha in shas if store.get(sha) is not None]
    assert kept == [shas[0], *shas[6:]]


def test_pruning_takes_away_what_killed_processes_left(tmp_path):
    store = Contents(str(tmp_path))
    store.put(b"x")
    old, new = tmp_path / "tmp" / "1-old", tmp_path / "tmp" / "2-new"
    old.write_bytes(b"half")
    new.write_bytes(b"half")
    os.utime(old, (1, 1))
    store.prune((), 1 << 30)
    assert not old.exists()
    assert new.exists()


def _write_forever(folder: str, seed: int) -> None:
    store = Contents(folder)
    for n in range(10**9):
        store.put(f"{seed % 2} {n % 500} ".encode() * 5000)


def test_killed_writers_leave_only_whole_objects(tmp_path):
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_write_forever, args=(str(tmp_path), n)) for n in range(3)]
    for worker in workers:
        worker.start()
    deadline = time.monotonic() + 30
    while len(list(tmp_path.glob("??/*"))) < 50 and time.monotonic() < deadline:
        time.sleep(0.05)
    for worker in workers:
        os.kill(worker.pid, signal.SIGKILL)
        worker.join()
    store = Contents(str(tmp_path))
    objects = list(tmp_path.glob("??/*"))
    assert len(objects) >= 50
    assert all(store.get(path.name) is not None for path in objects)
