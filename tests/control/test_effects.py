"""What a command would do to files: nothing it names is lost, and nothing harmless is counted."""

from hypothesis import given
from hypothesis import strategies as st

from tether.control.effects import NOWHERE, SCRATCH, command_effects
from tether.types import Effect, Risk


def targets(risk, cwd="", root=""):
    return [(e.kind, e.target) for e in command_effects("x", risk, cwd, root)[1:]]


def test_the_run_comes_first_with_its_risk_and_place():
    risk = Risk("SAFE", reads=("a",), writes=("b",), hosts=("example.com",))
    assert command_effects("cp a b", risk, "src") == (
        Effect("run", "cp a b", risk=risk, cwd="src"),
        Effect("read", "src/a", command=True),
        Effect("write", "src/b", command=True),
        Effect("reach", "example.com", command=True),
    )


def test_paths_are_placed_where_the_command_runs():
    risk = Risk("SAFE", writes=("a", "../b", "/opt/c", "~/d"))
    placed = [("write", "src/a"), ("write", "src/../b"), ("write", "/opt/c"), ("write", "~/d")]
    assert targets(risk, "src") == targets(risk, "src/") == placed
    assert [target for _, target in targets(risk, ".")] == list(risk.writes)


def test_devices_that_keep_nothing_are_nobody_s():
    assert targets(Risk("SAFE", reads=tuple(NOWHERE), writes=tuple(NOWHERE))) == []
    assert targets(Risk("SAFE", writes=("/dev/sda",))) == [("write", "/dev/sda")]


def test_scratch_places_are_nobody_s_however_they_are_spelt():
    assert (
        targets(Risk("SAFE", writes=("/tmp/x", "/var/tmp/y", "/tmp", "/tmp/", "/tmp//z", "/./tmp/x"))) == []
    )


def test_a_way_out_of_a_scratch_place_counts():
    for path in ("/tmp/../etc/passwd", "/tmp/a/../../opt/x", "/tmpfile", "tmp/x", "/opt/tmp/x"):
        assert targets(Risk("SAFE", writes=(path,))) == [("write", path)]


def test_a_project_in_a_scratch_place_is_no_scratch():
    inside = ("/tmp/repo/tether.toml", "/tmp//repo/./src/a.py", "/tmp/repo", "/tmp")
    assert [target for _, target in targets(Risk("SAFE", writes=inside), root="/tmp/repo")] == list(inside)
    assert targets(Risk("SAFE", writes=("/tmp/repository/a", "/tmp/other")), root="/tmp/repo") == []


NAMES = st.sampled_from(("tmp", "var", "repo", "src", "..", ".", "", "dev", "shm"))


@given(st.lists(NAMES, min_size=1, max_size=6), st.booleans())
def test_only_what_is_surely_in_a_scratch_place_is_dropped(names, absolute):
    path = ("/" if absolute else "") + "/".join(names)
    kept = targets(Risk("SAFE", writes=(path,)), root="/tmp/repo")
    if not kept:
        plain = "/" + "/".join(n for n in names if n not in ("", ".")) + "/"
        assert absolute or path.startswith("/")
        assert plain.startswith(SCRATCH)
        assert ".." not in names
        assert not plain.startswith("/tmp/repo/")
