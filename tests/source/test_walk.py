"""Every file of a tree is listed or accounted for, and nothing outside the tree is."""

from __future__ import annotations

import os
import subprocess

import pytest

from tether.source import walk as walking
from tether.source.walk import collect, walk


def git(folder, *args: str) -> None:
    subprocess.run(
        ["git", "-c", "user.name=n", "-c", "user.email=e@x", "-c", "protocol.file.allow=always", *args],
        cwd=folder,
        check=True,
        capture_output=True,
    )


def put(root, **files: str | bytes) -> None:
    for path, content in files.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())


def paths(root, **options) -> list[str]:
    return [found.path for found in collect(str(root), **options).files]


def reasons(root, **options) -> dict[str, str]:
    return {found.path: found.reason for found in collect(str(root), **options).aside}


def test_entries_come_in_the_order_of_their_whole_paths(tmp_path):
    put(tmp_path, **dict.fromkeys(("b/c", "a.txt", "a/z", "a-b", "é", "Z", "a0"), "x"))
    found = [entry.path for entry in walk(str(tmp_path))]
    assert found == sorted(found)
    assert len(found) == 7


def test_git_store_and_local_state_are_never_listed(tmp_path):
    git(tmp_path, "init", "-q")
    put(tmp_path, **{".tether/local/journal.db": "x", ".tether/memory/records.json": "{}", "a.py": "x"})
    put(tmp_path, **{".gitignore": "", ".tetherignore": "!.git\n!.tether/local\n"})
    assert paths(tmp_path, exclude=("!.git", "!local")) == [
        ".gitignore",
        ".tether/memory/records.json",
        ".tetherignore",
        "a.py",
    ]


def test_tetherignore_beats_gitignore_both_ways(tmp_path):
    git(tmp_path, "init", "-q")
    put(tmp_path, **{".gitignore": "gen/\n", ".tetherignore": "!gen/\nfixtures/\n"})
    put(tmp_path, **{"gen/api.py": "x", "fixtures/big.py": "x", "a.py": "x"})
    assert [p for p in paths(tmp_path) if p.endswith(".py")] == ["a.py", "gen/api.py"]


def test_include_narrows_and_never_brings_an_ignored_file_back(tmp_path):
    git(tmp_path, "init", "-q")
    put(
        tmp_path,
        **{".gitignore": "secret.py\n", "secret.py": "x", "src/a.py": "x", "src/a.md": "x", "b.py": "x"},
    )
    assert paths(tmp_path, include=("*.py",)) == ["b.py", "src/a.py"]
    assert paths(tmp_path, include=("src/",)) == []
    assert paths(tmp_path, include=("src/**",)) == ["src/a.md", "src/a.py"]
    assert paths(tmp_path, include=("*.py", "!b.py")) == ["src/a.py"]


def test_exclude_replaces_the_default_and_prunes(tmp_path):
    put(tmp_path, **{"build/a.py": "x", "vendor/b.py": "x", "c.py": "x"})
    assert paths(tmp_path) == ["c.py", "vendor/b.py"]
    assert paths(tmp_path, exclude=("vendor",)) == ["build/a.py", "c.py"]


def test_hidden_files_are_files_unless_told_otherwise(tmp_path):
    put(tmp_path, **{".github/ci.yml": "x", "a.py": "x"})
    assert paths(tmp_path) == [".github/ci.yml", "a.py"]
    assert paths(tmp_path, hidden=False) == ["a.py"]


def test_a_sub_folder_obeys_the_rules_of_the_repository_around_it(tmp_path):
    git(tmp_path, "init", "-q")
    put(
        tmp_path,
        **{".gitignore": "*.log\n/pkg/out/\n", "pkg/a.py": "x", "pkg/a.log": "x", "pkg/out/b.py": "x"},
    )
    (tmp_path / ".git/info/exclude").write_text("mine.py\n")
    put(tmp_path, **{"pkg/mine.py": "x"})
    assert paths(tmp_path / "pkg") == ["a.py"]


def test_rules_above_a_tree_without_repository_do_not_reach_it(tmp_path):
    put(tmp_path, **{".gitignore": "*\n", "tree/a.py": "x"})
    assert paths(tmp_path / "tree") == ["a.py"]


def test_a_linked_worktree_obeys_the_common_exclude_file_and_is_not_seen_twice(tmp_path):
    main = tmp_path / "main"
    main.mkdir()
    git(main, "init", "-q")
    put(main, **{"a.py": "x"})
    git(main, "add", ".")
    git(main, "commit", "-qm", "first")
    (main / ".git/info/exclude").write_text("scratch.py\n")
    git(main, "worktree", "add", "-q", "trees/two", "-b", "two")
    put(main, **{"trees/two/scratch.py": "x"})
    assert paths(main) == ["a.py"]
    assert reasons(main) == {"trees/two": "worktree"}
    assert paths(main / "trees/two") == ["a.py"]


def test_a_submodule_is_walked_by_its_own_rules_or_left_out(tmp_path):
    lib, main = tmp_path / "lib", tmp_path / "main"
    lib.mkdir()
    main.mkdir()
    for repo in (lib, main):
        git(repo, "init", "-q")
    put(lib, **{"lib.py": "x", "note.log": "x"})
    git(lib, "add", "-f", ".")
    git(lib, "commit", "-qm", "first")
    put(main, **{".gitignore": "*.log\n", "a.py": "x"})
    git(main, "submodule", "add", "-q", str(lib), "vendored")
    assert [p for p in paths(main) if p.startswith("vendored")] == ["vendored/lib.py", "vendored/note.log"]
    assert reasons(main, submodules=False) == {"vendored": "submodule"}


def test_links_are_told_apart_and_never_followed(tmp_path):
    tree, outside = tmp_path / "tree", tmp_path / "outside"
    put(tree, **{"a/f.py": "x"})
    put(outside, **{"secret.py": "x"})
    (tree / "out").symlink_to(outside)
    (tree / "outfile").symlink_to(outside / "secret.py")
    (tree / "in").symlink_to("a")
    (tree / "infile").symlink_to("a/f.py")
    (tree / "loop").symlink_to("loop")
    (tree / "up").symlink_to("..")
    (tree / "self").symlink_to(".")
    assert paths(tree) == ["a/f.py"]
    assert reasons(tree) == {
        "out": "link_outside",
        "outfile": "link_outside",
        "in": "link",
        "infile": "link",
        "loop": "link_broken",
        "up": "link_outside",
        "self": "link",
    }


def test_a_root_that_is_a_link_is_walked_where_it_leads(tmp_path):
    put(tmp_path, **{"real/a.py": "x"})
    (tmp_path / "alias").symlink_to("real")
    assert paths(tmp_path / "alias") == ["a.py"]


def test_pipes_do_not_hold_the_walk_even_as_rule_files(tmp_path):
    put(tmp_path, **{"a.py": "x", "sub/b.py": "x"})
    for name in ("fifo.py", ".gitignore", "sub/.git", "sub/.tetherignore"):
        os.mkfifo(tmp_path / name)
    assert paths(tmp_path) == ["a.py", "sub/b.py"]
    assert reasons(tmp_path)["fifo.py"] == "special"


def test_a_missing_root_is_reported_not_raised(tmp_path):
    walked = collect(str(tmp_path / "nowhere"))
    assert walked.skipped == {"vanished": 1}


def test_what_may_not_be_read_is_reported_and_the_rest_is_walked(tmp_path):
    put(tmp_path, **{"open.py": "x", "locked/a.py": "x", "locked.py": "x"})
    for folder in (tmp_path, *tmp_path.parents):
        if str(folder).startswith("/tmp/"):
            folder.chmod(0o755)
    (tmp_path / "locked").chmod(0)
    (tmp_path / "locked.py").chmod(0)
    as_root = os.geteuid() == 0
    if as_root:
        os.seteuid(65534)
    try:
        walked = collect(str(tmp_path))
    finally:
        if as_root:
            os.seteuid(0)
        (tmp_path / "locked").chmod(0o755)
    assert [found.path for found in walked.files] == ["open.py"]
    assert walked.skipped == {"unreadable": 2}


def test_files_that_vanish_during_the_walk_are_reported(tmp_path):
    put(tmp_path, **{"a/one.py": "x", "b/two.py": "x", "c.py": "x"})
    found = []
    for entry in walk(str(tmp_path)):
        found.append((entry.path, entry.reason))
        if entry.path == "a/one.py":
            (tmp_path / "b/two.py").unlink()
            (tmp_path / "b").rmdir()
            (tmp_path / "c.py").unlink()
    assert found == [("a/one.py", None), ("b", "vanished"), ("c.py", "vanished")]


def test_depth_is_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(walking, "MAX_DEPTH", 3)
    put(tmp_path, **{"1/2/3/4/deep.py": "x", "1/2/ok.py": "x"})
    assert paths(tmp_path) == ["1/2/ok.py"]
    assert reasons(tmp_path) == {"1/2/3": "too_deep"}


def test_no_descriptor_is_left_open_when_a_walk_is_abandoned(tmp_path):
    put(tmp_path, **{f"{a}/{b}/f.py": "x" for a in "ab" for b in "cd"})
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    walker = walk(str(tmp_path))
    next(walker)
    walker.close()
    after = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    assert before == after


def test_undecodable_names_survive(tmp_path):
    name = os.fsencode(str(tmp_path)) + b"/na\xffme.py"
    with open(name, "wb") as file:
        file.write(b"x")
    (found,) = walk(str(tmp_path))
    assert os.fsencode(found.path) == b"na\xffme.py"


def test_without_reading_only_names_and_sizes_are_judged(tmp_path):
    put(tmp_path, **{"data.txt": b"\0\1", "pic.png": b"x"})
    assert reasons(tmp_path, read=False) == {"pic.png": "binary"}
    assert reasons(tmp_path) == {"data.txt": "binary", "pic.png": "binary"}


@pytest.mark.parametrize("size", [0, 12345])
def test_size_and_time_are_the_files_own(tmp_path, size):
    put(tmp_path, **{"a.txt": b"x" * size})
    (found,) = walk(str(tmp_path))
    about = os.stat(tmp_path / "a.txt")
    assert (found.size, found.mtime_ns, found.kind) == (size, about.st_mtime_ns, "file")


def test_the_record_is_not_taken_for_the_code(tmp_path):
    for name in ("agent_trace.jsonl", "intent_map.md", "active_intents.yaml"):
        (tmp_path / ".orchestration").mkdir(exist_ok=True)
        (tmp_path / ".orchestration" / name).write_text("x\n")
    assert [found.path for found in collect(str(tmp_path)).files] == [".orchestration/active_intents.yaml"]
