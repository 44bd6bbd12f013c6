"""Bringing the index up to the tree, whatever the tree holds and whoever dies."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tether.errors import TetherError
from tether.index.code import CodeIndex
from tether.index.indexer import Progress

Write = Callable[..., Path]


def snapshot(index: CodeIndex) -> dict[str, list[tuple[str, int]]]:
    """What an index answers, as a value to compare."""
    words = ("cart", "session", "price", "total", "alpha", "value")
    return {
        word: sorted((h.file_path, h.start_line) for h in index.search(word, 50, fresh=False).hits)
        for word in words
    }


def test_nothing_is_read_twice(index: CodeIndex) -> None:
    report = index.index()
    assert (report.indexed, report.gone, report.touched, report.total) == ((), (), 0, 6)


def test_indexing_piecemeal_or_at_once_answers_the_same(project: Path, write: Write, tmp_path: Path) -> None:
    with CodeIndex(str(project), folder=str(tmp_path / ".tether/local/a")) as piecemeal:
        piecemeal.index()
        for n in range(12):
            write(f"p{n}.py", f"def alpha_{n}(value):\n    return value + {n}\n")
            piecemeal.index()
        for n in range(0, 12, 2):
            write(f"p{n}.py", f"def alpha_{n}(value):\n    return value - {n}\n", age=60)
            piecemeal.index()
        os.unlink(project / "p3.py")
        piecemeal.index()
        store = piecemeal.store()
        assert store is not None
        assert len(store.segments()[0]) < 12, "small segments are merged"
        with CodeIndex(str(project), folder=str(tmp_path / ".tether/local/b")) as at_once:
            at_once.index()
            assert snapshot(piecemeal) == snapshot(at_once)


def test_a_file_that_stops_being_text_is_dropped_and_counted(index: CodeIndex, project: Path) -> None:
    (project / "src/shop/prices.py").write_bytes(b"\0\1\2" * 2000)
    report = index.index()
    assert report.gone == ("src/shop/prices.py",) and report.aside == {"binary": 1}


def test_awkward_files_never_stop_a_run(project: Path, write: Write) -> None:
    write("deep.json", "[" * 100_000 + "]" * 100_000)
    write("deep.js", "(" * 100_000)
    write("line.txt", "word " * 200_000)
    write("empty.py", "")
    write("blank.py", "\n" * 5_000)
    (project / "latin.py").write_bytes("# Gr\xfc\xdfe\ndef gruss(): pass\n".encode("latin-1"))
    (project / "broken.py").write_bytes(b"def half(:\n  \xff\xfe ((\n" * 50)
    (project / "utf16.txt").write_bytes("hello wide world".encode("utf-16"))
    (project / "huge.txt").write_bytes(b"x" * (6 * 1024 * 1024))
    os.symlink("/etc/passwd", project / "outside.py")
    os.symlink("src/shop/cart.py", project / "inside.py")
    os.mkfifo(project / "pipe.py")
    with CodeIndex(str(project)) as index:
        report = index.index()
        assert report.aside["huge"] == 1
        assert report.aside["link_outside"] == 1 and report.aside["link"] == 1
        assert report.aside["special"] == 1
        assert index.search("gruss").hits[0].file_path == "latin.py"
        assert index.search("word").hits[0].file_path == "line.txt"


def test_progress_tells_rate_and_time_left(project: Path) -> None:
    seen: list[Progress] = []
    with CodeIndex(str(project)) as index:
        index.index(listen=seen.append)
    assert [p.done for p in seen] == list(range(1, 7)) and seen[-1].left == 0


def test_an_interrupted_run_keeps_what_was_committed(project: Path, write: Write) -> None:
    for n in range(30):
        write(f"many/m{n:02}.py", f"def many_{n}():\n    return {n}\n")

    def stop(progress: Progress) -> None:
        if progress.done == 20:
            raise KeyboardInterrupt

    with CodeIndex(str(project)) as index:
        index.index()
        for n in range(30):
            write(f"many/m{n:02}.py", f"def other_{n}():\n    return {n}\n", age=60)
        with pytest.raises(KeyboardInterrupt):
            index.index(listen=stop)
        assert index.search("find_price", fresh=False).source == "index"
        index.index()
        assert index.search("other_29").hits[0].name == "other_29"


def test_only_one_process_indexes_at_a_time(project: Path) -> None:
    with CodeIndex(str(project)) as first, CodeIndex(str(project)) as second:
        assert first.lease.take()
        assert not second.lease.take()
        first.lease.release()
        assert second.lease.take()


def test_writing_without_the_lease_is_refused(index: CodeIndex) -> None:
    from tether.index.freshness import Changes

    with pytest.raises(TetherError, match="lease"):
        index.apply(Changes(changed=("src/shop/cart.py",)))


INDEX = "import sys\nfrom tether.index.code import CodeIndex\nCodeIndex(sys.argv[1]).index()\n"


def grow(project: Path, many: int) -> None:
    for n in range(many):
        path = project / f"grown/g{n}.py"
        path.parent.mkdir(exist_ok=True)
        body = "\n\n".join(f"def alpha_{n}_{m}(value):\n    return value + {m}" for m in range(20))
        path.write_text(body + "\n")


@pytest.mark.slow
def test_a_killed_indexer_leaves_an_index_that_answers_and_goes_on(project: Path) -> None:
    grow(project, 120)
    chance = random.Random(7)
    for round_ in range(100):
        if round_ % 3 == 0:
            grow(project, 120 + round_)
            (project / "src/shop/cart.py").write_text(f"def cart_{round_}(): pass\n")
        child = subprocess.Popen([sys.executable, "-c", INDEX, str(project)])
        time.sleep(chance.uniform(0.05, 1.2))
        child.send_signal(signal.SIGKILL)
        child.wait()
        with CodeIndex(str(project)) as index:
            answer = index.search("find_price", fresh=False)
            if answer.source == "index":
                assert not index.damage
    with CodeIndex(str(project)) as index:
        index.index()
        store = index.store()
        assert store is not None
        store.verify()
        assert index.search("alpha_3_7").hits[0].name == "alpha_3_7"
        assert sorted(p.name for p in Path(index.folder).glob("*.new")) == []


def test_six_processes_search_and_edit_at_once(project: Path) -> None:
    grow(project, 30)
    with CodeIndex(str(project)) as index:
        index.index()
    program = (
        "import sys, pathlib\n"
        "from tether.index.code import CodeIndex\n"
        "root, me = pathlib.Path(sys.argv[1]), sys.argv[2]\n"
        "index = CodeIndex(str(root))\n"
        "for n in range(12):\n"
        "    (root / f'mine_{me}.py').write_text(f'def own_{me}_{n}():\\n    return {n}\\n')\n"
        "    answer = index.search(f'own_{me}_{n}')\n"
        "    assert index.search('alpha').hits, 'a question was left open'\n"
        "index.index()\n"
        "hit = index.search(f'own_{me}_11').hits[0]\n"
        "assert hit.name == f'own_{me}_11', hit\n"
    )
    children = [subprocess.Popen([sys.executable, "-c", program, str(project), str(n)]) for n in range(6)]
    assert [child.wait(timeout=120) for child in children] == [0] * 6


def test_a_reader_sees_every_state_whole_while_another_thread_writes(project: Path, write: Write) -> None:
    with CodeIndex(str(project)) as writer, CodeIndex(str(project)) as reader:
        writer.index()
        done = threading.Event()

        def edit() -> None:
            for n in range(25):
                write("src/shop/prices.py", f"def find_price(product):\n    return {n}\n", age=60 + n)
                writer.index()
            done.set()

        thread = threading.Thread(target=edit)
        thread.start()
        while not done.is_set():
            answer = reader.search("find_price", fresh=False)
            assert answer.source == "index"
            assert "src/shop/cart.py" in {hit.file_path for hit in answer.hits}
        thread.join()
