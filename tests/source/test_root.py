"""Where an agent's path leads, whatever it is made of and whoever swaps it meanwhile."""

import hashlib
import os
import socket
import subprocess
import sys
import time
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tether.control.protected import NAMES
from tether.errors import TetherError
from tether.source import names
from tether.source.root import PROBLEMS, Root, refusal
from tether.types import Spot


@pytest.fixture
def outside(tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_text("secret")
    return outside


@pytest.fixture
def place(tmp_path, outside):
    """A project with one of everything that can stand in a path's way."""
    place = tmp_path / "project"
    (place / "src" / "deep").mkdir(parents=True)
    (place / ".git" / "hooks").mkdir(parents=True)
    (place / "empty").mkdir()
    (place / "src" / "a.py").write_text("a = 1\n")
    (place / "src" / "deep" / "b.py").write_text("b = 2\n")
    (place / "name with space.txt").write_text("s")
    (place / "naïve.txt").write_text("n")
    (place / "emoji-🦊.txt").write_text("e")
    (place / "time 10:30.log").write_text("t")
    (place / "back~").write_text("t")
    (place / "aux.c").write_text("int x;")
    os.link(place / "src" / "a.py", place / "hard.py")
    links = {
        "link.py": "src/a.py",
        "linkdir": "src",
        "src/up": "..",
        "src/deep/sibling": "../a.py",
        "chain1": "chain2",
        "chain2": "chain3",
        "chain3": "src/deep/b.py",
        "loop1": "loop2",
        "loop2": "loop1",
        "self": "self",
        "out": "../outside",
        "out.txt": "../outside/secret.txt",
        "abs": str(outside),
        "absin": str(place / "src"),
        "etc": "/etc",
        "proc": "/proc/self/root",
        "climb": "src/../../outside/secret.txt",
        "dangling": "src/new.py",
        "dangling_out": "../outside/new.txt",
        "to_git": ".git",
        "bad_target": "src/\x01",
        "slash": "src/a.py/",
        "dirslash": "src/",
    }
    for name, target in links.items():
        os.symlink(target, place / name)
    os.mkfifo(place / "fifo")
    with socket.socket(socket.AF_UNIX) as sock:
        here = os.getcwd()
        os.chdir(place)
        try:
            sock.bind("sock")
        finally:
            os.chdir(here)
    return place


# given → (path, kind); every one of them lies in the project
LEADS = {
    "src/a.py": ("src/a.py", "file"),
    "./src/a.py": ("src/a.py", "file"),
    "src//a.py": ("src/a.py", "file"),
    "src/./a.py": ("src/a.py", "file"),
    "src/../src/a.py": ("src/a.py", "file"),
    "src/deep/../a.py": ("src/a.py", "file"),
    "src/deep/../../src/a.py": ("src/a.py", "file"),
    "hard.py": ("hard.py", "file"),
    "name with space.txt": ("name with space.txt", "file"),
    "naïve.txt": ("naïve.txt", "file"),
    "emoji-🦊.txt": ("emoji-🦊.txt", "file"),
    "time 10:30.log": ("time 10:30.log", "file"),
    "back~": ("back~", "file"),
    "a~1": ("a~1", "absent"),
    "aux.c": ("aux.c", "file"),
    "link.py": ("src/a.py", "file"),
    "linkdir/a.py": ("src/a.py", "file"),
    "linkdir/deep/b.py": ("src/deep/b.py", "file"),
    "linkdir/../src/a.py": ("src/a.py", "file"),
    "src/up/src/a.py": ("src/a.py", "file"),
    "src/deep/sibling": ("src/a.py", "file"),
    "chain1": ("src/deep/b.py", "file"),
    "absin/a.py": ("src/a.py", "file"),
    "dirslash/a.py": ("src/a.py", "file"),
    "to_git/config": (".git/config", "absent"),
    ".git/hooks/pre-commit": (".git/hooks/pre-commit", "absent"),
    ".": (".", "dir"),
    "./": (".", "dir"),
    "src": ("src", "dir"),
    "src/": ("src", "dir"),
    "src/.": ("src", "dir"),
    "src/deep/..": ("src", "dir"),
    "src/..": (".", "dir"),
    "src/up": (".", "dir"),
    "linkdir": ("src", "dir"),
    "empty": ("empty", "dir"),
    "src/new.py": ("src/new.py", "absent"),
    "new/deeper/still.py": ("new/deeper/still.py", "absent"),
    "new/../src/a.py": ("src/a.py", "file"),
    "dangling": ("src/new.py", "absent"),
    "new/": ("new", "absent"),
    "gone/..": (".", "dir"),
}

NFD = unicodedata.normalize("NFD", "naïve.txt")

REFUSED = {
    "": "bad_name",
    "..": "outside",
    "../": "outside",
    "../outside/secret.txt": "outside",
    "src/../../outside/secret.txt": "outside",
    "src/deep/../../../outside": "outside",
    "../project/src/a.py": "outside",
    "new/../../outside": "outside",
    "./..": "outside",
    "src/up/..": "outside",
    "linkdir/../..": "outside",
    "out": "outside",
    "out/secret.txt": "outside",
    "out.txt": "outside",
    "abs": "outside",
    "abs/secret.txt": "outside",
    "etc/passwd": "outside",
    "proc/etc/passwd": "outside",
    "climb": "outside",
    "dangling_out": "outside",
    "/etc/passwd": "outside",
    "/": "outside",
    "/proc/self/environ": "outside",
    "/proc/self/cwd/src/a.py": "outside",
    "/proc/self/fd/0": "outside",
    "/dev/null": "outside",
    "/nonexistent/x": "outside",
    "//server/share/x": "bad_name",
    "~": "home",
    "~/x": "home",
    "~root/.ssh/id_rsa": "home",
    "a\0b": "nul",
    "src/a.py\0.txt": "nul",
    "a\nb": "control",
    "a\x1b[31m": "control",
    "a\x7f": "control",
    "a\x85b": "control",
    "bad_target": "control",
    "src\\a.py": "bad_name",
    "..\\..\\etc": "bad_name",
    "\\\\server\\share": "bad_name",
    "\\\\.\\PhysicalDrive0": "bad_name",
    "C:/Windows": "bad_name",
    "c:x": "bad_name",
    "src/C:": "bad_name",
    "a.txt::$DATA": "bad_name",
    ".git::$INDEX_ALLOCATION/config": "bad_name",
    ".git:x": "ambiguous_name",
    "CON": "bad_name",
    "nul": "bad_name",
    "src/aux.txt": "bad_name",
    "new/LPT1": "bad_name",
    "COM1.log": "bad_name",
    "...": "bad_name",
    "src/a.py.": "bad_name",
    "src/a.py ": "bad_name",
    ".git./config": "bad_name",
    ".git /config": "bad_name",
    "src /a.py": "bad_name",
    "file:///etc/passwd": "bad_name",
    "https://example.com/x": "bad_name",
    "\ud800": "bad_name",
    "src/\udcff": "bad_name",
    ".GIT/config": "ambiguous_name",
    ".Git/hooks/pre-commit": "ambiguous_name",
    "sub/.giT/config": "ambiguous_name",
    ".Tether/local/journal.db": "ambiguous_name",
    "TETHER.toml": "ambiguous_name",
    ".Orchestration/active_intents.yaml": "ambiguous_name",
    "GIT~1/config": "ambiguous_name",
    "tether~1": "ambiguous_name",
    "TETHER~2.TOM": "ambiguous_name",
    ".gıt/config": "ambiguous_name",
    ".gіt/config": "ambiguous_name",
    ".ｇｉｔ/config": "ambiguous_name",
    "．git/config": "ambiguous_name",
    "․git/config": "ambiguous_name",
    ".ℊit/config": "ambiguous_name",
    ".g\u200cit/config": "ambiguous_name",
    ".git\u200b/config": "ambiguous_name",
    ".git\ufeff/config": "ambiguous_name",
    ".git\ufe0f/config": "ambiguous_name",
    ".git\u3164/config": "ambiguous_name",
    ".orchеstration/x": "ambiguous_name",
    "tеther.toml": "ambiguous_name",
    "src/a\u202eyp.exe": "ambiguous_name",
    "src/\u2066x": "ambiguous_name",
    "src/so\u00adft": "ambiguous_name",
    "src／..／..／etc": "ambiguous_name",
    "a∕b": "ambiguous_name",
    "‥/etc": "ambiguous_name",
    NFD: "ambiguous_name",
    "loop1": "loop",
    "self": "loop",
    "self/x": "loop",
    "fifo": "not_regular",
    "sock": "not_regular",
    "fifo/x": "not_regular",
    "src/a.py/": "not_regular",
    "src/a.py/x": "not_regular",
    "src/a.py/..": "not_regular",
    "slash": "not_regular",
    "x" * 256: "too_long",
    "ü" * 128: "too_long",
    "d/" * 129 + "x": "too_long",
    "d/" * 2500: "too_long",
}


@pytest.mark.parametrize(("given_path", "lead"), LEADS.items(), ids=[ascii(k) for k in LEADS])
def test_a_path_leads_to_one_canonical_place(place, given_path: str, lead: tuple[str, str]) -> None:
    with Root(place) as root:
        spot = root.look(given_path)
    assert (spot.path, spot.kind, spot.problem) == (*lead, "")
    if spot.kind == "file":
        assert spot.hash == hashlib.sha256((place / lead[0]).read_bytes()).hexdigest()


@pytest.mark.parametrize(("given_path", "problem"), REFUSED.items(), ids=[ascii(k)[:40] for k in REFUSED])
def test_a_hostile_path_is_refused_for_its_reason(place, given_path: str, problem: str) -> None:
    with Root(place) as root:
        spot = root.look(given_path)
        assert (spot.problem, spot.path, spot.hash) == (problem, "", "")
        with pytest.raises(TetherError) as caught:
            root.read(given_path)
    assert caught.value.code == ("NOT_A_FILE" if problem == "not_regular" else "SECURITY_VIOLATION")


def test_every_problem_has_a_sentence_and_a_refusal() -> None:
    assert set(REFUSED.values()) < set(PROBLEMS)
    for problem in PROBLEMS:
        assert PROBLEMS[problem] in refusal(Spot(given="x\n", problem=problem)).message


def test_the_default_guarded_names_are_a_part_of_the_policys() -> None:
    assert set(names.GUARDED) <= NAMES


def test_no_descriptor_is_left_open_whatever_is_looked_up(place) -> None:
    with Root(place) as root:
        before = len(os.listdir("/proc/self/fd"))
        for path in (*LEADS, *REFUSED):
            root.look(path)
        assert len(os.listdir("/proc/self/fd")) == before


def test_an_absolute_path_under_the_root_is_taken(place, tmp_path) -> None:
    os.symlink(place, tmp_path / "alias")
    with Root(tmp_path / "alias") as root:
        for given_path in (place / "src/a.py", tmp_path / "alias/src/a.py", tmp_path / "alias/linkdir/a.py"):
            assert root.look(str(given_path)).path == "src/a.py"
        assert root.look(str(tmp_path / "alias")).path == "."
        assert root.look(str(place)).path == "."
        assert root.look(str(place) + "2/x").problem == "outside"
        assert root.look(str(tmp_path / "alias/../outside/secret.txt")).problem == "outside"
        assert root.look(str(place / "../outside/secret.txt")).problem == "outside"


def test_links_can_be_forbidden_altogether(place) -> None:
    with Root(place, symlinks="never") as root:
        assert root.look("link.py").problem == "symlink"
        assert root.look("linkdir/a.py").problem == "symlink"
        assert root.look("src/a.py").problem == ""
    with Root(place) as root:
        assert root.look("linkdir/a.py", follow=False).problem == "symlink"


def test_a_fifo_put_in_a_files_place_makes_nobody_wait(place) -> None:
    with Root(place) as root, pytest.raises(TetherError, match="FIFO"):
        root.read("fifo")


def test_reading_says_what_is_missing_or_too_large(place) -> None:
    with Root(place) as root:
        data, spot = root.read("link.py")
        assert (data, spot.path, spot.links) == (b"a = 1\n", "src/a.py", 2)
        for given_path, code in {"src/none.py": "NOT_FOUND", "src": "NOT_A_FILE", ".": "NOT_A_FILE"}.items():
            with pytest.raises(TetherError) as caught:
                root.read(given_path)
            assert caught.value.code == code
        with pytest.raises(TetherError) as caught:
            root.read("src/a.py", limit=5)
        assert caught.value.code == "TOO_LARGE"
        assert root.read("src/a.py", limit=6)[0] == b"a = 1\n"


def test_the_hash_can_be_left_out(place) -> None:
    with Root(place) as root:
        assert root.look("src/a.py", hash=False).hash == ""


def test_a_parent_is_opened_only_along_plain_directories(place) -> None:
    with Root(place) as root:
        fd, leaf = root.open_parent("src/deep/new.py")
        try:
            assert (os.path.samestat(os.fstat(fd), os.stat(place / "src/deep")), leaf) == (True, "new.py")
        finally:
            os.close(fd)
        for path in ("linkdir/a.py", "out/x", "src/a.py/x", "src/../x", "/etc/x", "src//x", "", ".GIT/x"):
            with pytest.raises(TetherError) as caught:
                root.open_parent(path, create=True)
            assert caught.value.code == "SECURITY_VIOLATION"
        with pytest.raises(TetherError) as caught:
            root.open_parent("new/x")
        assert caught.value.code == "NOT_FOUND"
        made: list[str] = []
        os.close(root.open_parent("src/new/er/x", create=True, made=made)[0])
        assert made == ["src/new", "src/new/er"]


def test_a_root_that_is_no_directory_is_refused(tmp_path) -> None:
    for path in (tmp_path / "none", tmp_path / "file"):
        (tmp_path / "file").write_text("")
        with pytest.raises(TetherError) as caught:
            Root(path)
        assert caught.value.code == "NOT_A_PROJECT"


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.sampled_from(["..", ".", "", "src", "deep", "a.py", "link", "out", "new", "~", "linkdir"]),
        max_size=8,
    )
)
def test_whatever_is_found_really_lies_where_it_says(tmp_path_factory, parts: list[str]) -> None:
    base = tmp_path_factory.getbasetemp() / "walk"
    if not base.exists():
        (base / "p" / "src" / "deep").mkdir(parents=True)
        (base / "p" / "src" / "a.py").write_text("x")
        os.symlink("src/deep", base / "p" / "link")
        os.symlink("..", base / "p" / "src" / "deep" / "linkdir")
        os.symlink("../..", base / "p" / "src" / "out")
    with Root(base / "p") as root:
        spot = root.look("/".join(parts) or ".")
        if spot.problem or spot.kind == "absent":
            return
        real = os.path.realpath(base / "p" / "/".join(parts))
        assert real == os.path.normpath(os.path.join(root.path, spot.path))


@given(st.text(max_size=60))
def test_no_text_whatever_leads_out_or_raises(tmp_path_factory, text: str) -> None:
    with Root(tmp_path_factory.getbasetemp()) as root:
        spot = root.look(text)
        if spot.problem:
            assert spot.problem in PROBLEMS
            assert spot.path == ""
        else:
            assert not spot.path.startswith("/")
            assert not {"", ".."} & set(spot.path.split("/"))


SWAPPER = """
import os, sys
os.chdir(sys.argv[1])
while True:
    os.rename("dir", "kept"); os.symlink("../outside", "dir")
    os.unlink("dir"); os.rename("kept", "dir")
"""


def test_a_directory_swapped_for_a_link_never_lets_a_look_or_a_write_out(tmp_path, outside) -> None:
    project = tmp_path / "project"
    (project / "dir").mkdir(parents=True)
    (project / "dir" / "secret.txt").write_text("harmless")
    swapper = subprocess.Popen([sys.executable, "-c", SWAPPER, str(project)])
    seen = {"read": 0, "refused": 0}
    try:
        with Root(project) as root:
            until = time.monotonic() + 2
            while time.monotonic() < until:
                try:
                    data, _ = root.read("dir/secret.txt")
                    assert data == b"harmless"
                    seen["read"] += 1
                except TetherError:
                    seen["refused"] += 1
                try:
                    fd, leaf = root.open_parent("dir/planted.txt")
                except TetherError:
                    continue
                os.close(os.open(leaf, os.O_CREAT | os.O_WRONLY | os.O_NOFOLLOW, dir_fd=fd))
                os.close(fd)
    finally:
        swapper.kill()
        swapper.wait()
    assert min(seen.values()) > 0, "the attacker never got between"
    assert os.listdir(outside) == ["secret.txt"]


def test_importing_the_guard_and_the_staging_stays_cheap() -> None:
    code = "import sys; a = set(sys.modules); import tether.source.staging; print(*(set(sys.modules) - a))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    heavy = {"dataclasses", "typing", "pathlib", "asyncio", "subprocess", "ctypes", "unicodedata", "difflib"}
    assert not heavy & set(loaded.split())
