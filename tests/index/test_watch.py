"""Keeping the index at the tree's heels."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tether.index.code import CodeIndex
from tether.index.watch import Event, Watcher, watch

Write = Callable[..., Path]


def kinds(events: list[Event]) -> dict[str, str]:
    return {event.path: event.kind for event in events}


def test_changes_new_files_and_removals_are_followed(index: CodeIndex, write: Write, project: Path) -> None:
    assert index.lease.take()
    write("src/shop/prices.py", "def brand_new_price():\n    return 1\n")
    write("src/shop/extra.py", "def extra_thing():\n    return 1\n")
    os.unlink(project / "docs/guide.md")
    events = list(Watcher(index).follow(["src/shop/prices.py", "src/shop/extra.py", "docs/guide.md"]))
    assert kinds(events) == {
        "src/shop/prices.py": "file_reindexed",
        "src/shop/extra.py": "file_reindexed",
        "docs/guide.md": "file_dropped",
    }
    index.watched = True
    assert index.search("brand_new_price").hits[0].file_path == "src/shop/prices.py"


def test_a_touch_is_no_change(index: CodeIndex, project: Path) -> None:
    assert index.lease.take()
    os.utime(project / "src/shop/prices.py", (1, 1))
    assert list(Watcher(index).follow(["src/shop/prices.py"])) == []


def test_a_renamed_folder_moves_its_files(index: CodeIndex, project: Path) -> None:
    assert index.lease.take()
    os.rename(project / "src/shop", project / "src/store")
    events = kinds(list(Watcher(index).follow(["src/shop", "src/store"])))
    assert events["src/store/cart.py"] == "file_reindexed" and events["src/shop/cart.py"] == "file_dropped"


def test_ignored_paths_are_left_alone(index: CodeIndex, write: Write) -> None:
    assert index.lease.take()
    watcher = Watcher(index)
    write(".gitignore", "generated/\n")
    list(watcher.follow([".gitignore"]))
    write("generated/out.py", "def made_by_machine():\n    return 1\n")
    write("node_modules/dep/index.js", "function dependency() {}\n")
    paths = ["generated/out.py", "node_modules/dep/index.js", ".git/HEAD", ".tether/local/index/index.db"]
    assert list(watcher.follow(paths)) == []


def test_a_changed_ignore_file_drops_what_it_ignores(index: CodeIndex, write: Write) -> None:
    assert index.lease.take()
    write(".gitignore", "docs/\n")
    assert kinds(list(Watcher(index).follow([".gitignore"])))["docs/guide.md"] == "file_dropped"


def test_many_changes_come_in_batches_open_files_first(project: Path, write: Write) -> None:
    for n in range(60):
        write(f"many/m{n:02}.py", f"def many_{n}():\n    return {n}\n")
    with CodeIndex(str(project)) as index:
        index.index()
        assert index.lease.take()
        for n in range(60):
            write(f"many/m{n:02}.py", f"def changed_{n}():\n    return {n}\n", age=60)
        watcher = Watcher(index)
        watcher.mark_open(["many/m42.py"])
        with CodeIndex(str(project)) as reader:
            reader.watched = True
            events = watcher.follow(f"many/m{n:02}.py" for n in range(60))
            assert next(events).path == "many/m42.py"
            assert reader.search("changed_42").hits[0].name == "changed_42"
            assert reader.search("changed_59").hits[0].stale, "its batch is still to come"
            assert len(list(events)) == 59
            assert not reader.search("changed_59").hits[0].stale


def test_a_saved_file_is_found_without_anyone_asking(project: Path) -> None:
    stop = threading.Event()
    seen: list[Event] = []
    with CodeIndex(str(project)) as index:

        def follow() -> None:
            seen.extend(watch(index, stop=stop))

        thread = threading.Thread(target=follow)
        thread.start()
        try:
            deadline = time.monotonic() + 60
            while not index.watched and time.monotonic() < deadline:
                time.sleep(0.05)
            number = 0
            while not seen and time.monotonic() < deadline:
                number += 1  # until the watcher is listening
                (project / "src/shop/prices.py").write_text(f"def quick_price_{number}():\n    return 2\n")
                time.sleep(1.5)
        finally:
            stop.set()
            thread.join(30)
        assert seen and seen[0].path == "src/shop/prices.py"
        with CodeIndex(str(project)) as reader:
            assert reader.search("quick price").hits[0].file_path == "src/shop/prices.py"


@pytest.mark.slow
def test_a_checkout_of_two_thousand_files_settles_without_starving_questions(
    project: Path, write: Write
) -> None:
    def lay_out(branch: str, age: float) -> None:
        for n in range(2_000):
            write(f"tree/d{n % 40}/m{n}.py", f"def {branch}_{n}():\n    return {n}\n", age=age)

    lay_out("old", 3600)
    with CodeIndex(str(project)) as index, CodeIndex(str(project)) as reader:
        index.index()
        assert index.lease.take()
        reader.watched = True
        lay_out("new", 60)
        answered = 0
        for number, _ in enumerate(Watcher(index).follow(f"tree/d{n % 40}/m{n}.py" for n in range(2_000))):
            if number % 100 == 0:
                assert reader.search("find_price").hits[0].file_path == "src/shop/prices.py"
                answered += 1
        assert answered == 20
        for n in (0, 999, 1_999):
            hit = reader.search(f"new_{n}").hits[0]
            assert (hit.name, hit.stale) == (f"new_{n}", False)
        store = index.store()
        assert store is not None and len(store.segments()[0]) < 40


@pytest.mark.slow
def test_the_watching_command_tells_each_change(project: Path) -> None:
    command = [sys.executable, "-m", "tether", "index", "--watch", "--json", "-C", str(project)]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    try:
        assert json.loads(child.stdout.readline())["total"] == 6
        stop = threading.Event()

        def edit() -> None:
            number = 0
            while not stop.wait(1.5):
                number += 1
                (project / "src/shop/prices.py").write_text(f"def price_{number}():\n    return 1\n")

        editor = threading.Thread(target=edit)
        editor.start()
        event = json.loads(child.stdout.readline())
        stop.set()
        editor.join()
        assert (event["kind"], event["path"]) == ("file_reindexed", "src/shop/prices.py")
    finally:
        child.terminate()
        child.wait(30)
        child.stdout.close()
