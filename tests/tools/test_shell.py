"""Commands end when they must, say how, and know nothing they should not."""

import os
import signal
import subprocess
import sys
import time

import jsonschema
import pytest

from tether.errors import TetherError
from tether.source.root import Root
from tether.tools.changes import Direct
from tether.tools.process import clean_environment
from tether.tools.shell import VERBS, prepare_command
from tether.types import Prepared, Risk


@pytest.fixture
def root(tmp_path):
    with Root(tmp_path) as root:
        yield root


def unknown(_: str) -> Risk:
    """A classifier that knows nothing."""
    return Risk("UNKNOWN")


def prepare(root: Root, command: object, **args: object) -> Prepared:
    return prepare_command(root, {"command": command, **args}, classify=unknown)


def run(root: Root, command: object, **args: object) -> dict:
    return prepare(root, command, **args).run(Direct(root))


def is_alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_the_schema_is_valid() -> None:
    jsonschema.Draft202012Validator.check_schema(VERBS["run_command"].schema)


def test_a_line_runs_in_bash_and_a_list_without_a_shell(root) -> None:
    answer = run(root, 'x=(a b); echo "${x[1]}"; echo err >&2')
    assert (answer["exit_code"], answer["output"], answer["signal"]) == (0, "b\nerr\n", "")
    assert run(root, ["echo", "$HOME; id"])["output"] == "$HOME; id\n"


def test_preparing_runs_nothing(root, tmp_path) -> None:
    prepare(root, "touch made")
    assert not (tmp_path / "made").exists()


def test_effects_carry_the_risk_and_the_paths_it_names(root, tmp_path) -> None:
    (tmp_path / "sub").mkdir()
    risk = Risk(
        "UNKNOWN", reads=("in", "/etc/passwd"), writes=("out", "/dev/null", "../x"), hosts=("example.com",)
    )
    seen = []

    def classify(command: str) -> Risk:
        seen.append(command)
        return risk

    prepared = prepare_command(root, {"command": ["cp", "a b", "c"], "cwd": "sub"}, classify=classify)
    assert seen == ["cp 'a b' c"]
    assert [(e.kind, e.target) for e in prepared.effects] == [
        ("run", "cp 'a b' c"),
        ("read", "sub/in"),
        ("read", "/etc/passwd"),
        ("write", "sub/out"),
        ("write", "sub/../x"),
        ("reach", "example.com"),
    ]
    assert prepared.effects[0].risk is risk
    assert prepared.effects[0].cwd == "sub"


def test_it_runs_where_it_is_told_and_never_outside(root, tmp_path) -> None:
    (tmp_path / "sub").mkdir()
    os.symlink("/", tmp_path / "out")
    assert run(root, "pwd", cwd="sub")["output"] == f"{os.path.realpath(tmp_path)}/sub\n"
    for cwd, code in {"out": "SECURITY_VIOLATION", "..": "SECURITY_VIOLATION", "none": "NOT_FOUND"}.items():
        with pytest.raises(TetherError) as caught:
            run(root, "pwd", cwd=cwd)
        assert caught.value.code == code


def test_a_directory_swapped_after_preparing_is_not_entered(root, tmp_path) -> None:
    (tmp_path / "sub").mkdir()
    prepared = prepare(root, "pwd", cwd="sub")
    (tmp_path / "sub").rmdir()
    os.symlink("/", tmp_path / "sub")
    with pytest.raises(TetherError) as caught:
        prepared.run(Direct(root))
    assert caught.value.code == "SECURITY_VIOLATION"


def test_exit_codes_and_signals_are_told_apart_from_a_timeout(root) -> None:
    assert run(root, "exit 7")["exit_code"] == 7
    ended = run(root, "kill -TERM $$")
    assert (ended["exit_code"], ended["signal"], ended["timed_out"]) == (None, "SIGTERM", False)
    ended = run(root, "exit 143")
    assert (ended["exit_code"], ended["signal"], ended["timed_out"]) == (143, "", False)


def test_the_time_limit_holds_when_a_background_child_keeps_the_pipe(root, tmp_path) -> None:
    started = time.monotonic()
    answer = run(root, "sleep 300 & echo $! > pid; echo started; wait", timeout=0.5)
    assert time.monotonic() - started < 30
    assert answer["timed_out"] is True
    assert answer["output"] == "started\n"
    assert not is_alive(int((tmp_path / "pid").read_text()))


def test_a_program_that_ignores_the_request_to_end_is_killed(root) -> None:
    answer = run(root, "trap '' TERM; while :; do sleep 0.1; done", timeout=0.3)
    assert (answer["timed_out"], answer["signal"]) == (True, "SIGKILL")


ESCAPES = {
    "background": "sleep 300 >/dev/null 2>&1 & echo $! > pid",
    "holding the pipe": "sleep 300 & echo $! > pid",
    "own session": "setsid sleep 300 >/dev/null 2>&1 & echo $! > pid; sleep 0.2",
    "own session, forked twice": (
        f'{sys.executable} -c "import os,time\nif os.fork(): os._exit(0)\nos.setsid()\n'
        "if os.fork(): os._exit(0)\nopen('pid','w').write(str(os.getpid()))\ntime.sleep(300)\" & sleep 1"
    ),
    "no environment": "env -i sleep 300 >/dev/null 2>&1 & echo $! > pid; sleep 0.2",
}


@pytest.mark.parametrize("command", ESCAPES.values(), ids=ESCAPES)
def test_nothing_a_command_started_outlives_it(root, tmp_path, command: str) -> None:
    answer = run(root, command, timeout=60)
    assert (answer["exit_code"], answer["timed_out"]) == (0, False)
    pid = int((tmp_path / "pid").read_text())
    deadline = time.monotonic() + 5
    while is_alive(pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not is_alive(pid)


def test_a_stranger_is_never_touched(root) -> None:
    with subprocess.Popen(["sleep", "300"]) as stranger:
        try:
            run(root, "sleep 300", timeout=0.3)
            assert stranger.poll() is None
        finally:
            stranger.kill()


def test_long_output_keeps_head_and_tail_and_counts_the_rest(root) -> None:
    answer = run(root, "echo first; seq 100000; echo last", max_output=2048)
    text = answer["output"]
    assert text.startswith("first\n1\n2\n")
    assert text.endswith("\n100000\nlast\n")
    assert f"… {answer['dropped_bytes']} bytes left out …" in text
    whole = len("first\nlast\n") + sum(len(str(n)) + 1 for n in range(1, 100001))
    assert answer["dropped_bytes"] == whole - 2048


def test_an_endless_flood_is_cut_by_the_clock_and_by_the_cap(root) -> None:
    answer = run(root, "yes", timeout=0.5, max_output=4096)
    assert answer["timed_out"] is True
    assert len(answer["output"]) < 5000


def test_output_is_passed_on_as_it_comes_and_bad_bytes_do_no_harm(root) -> None:
    context = Direct(root)
    answer = prepare(root, r"printf 'a\xff\xc3'; sleep 0.2; printf '\xa9b'").run(context)
    assert answer["output"] == "a\ufffdéb"
    assert "".join(context.emitted) == "a\ufffdéb"
    assert len(context.emitted) > 1


def test_standard_input_is_empty(root) -> None:
    assert run(root, "cat; echo done", timeout=10)["output"] == "done\n"


def test_a_cancelled_call_ends_the_command(root) -> None:
    class Impatient(Direct):
        def cancelled(self) -> bool:
            return bool(self.emitted)

    with pytest.raises(TetherError) as caught:
        prepare(root, "echo x; sleep 300").run(Impatient(root))
    assert caught.value.code == "CANCELLED"


def test_a_program_that_does_not_exist_is_a_failure_to_start(root) -> None:
    with pytest.raises(TetherError) as caught:
        run(root, ["no-such-program-anywhere"])
    assert caught.value.code == "COMMAND_FAILED"


SECRETS = {
    "AWS_SECRET_ACCESS_KEY": "x",
    "GITHUB_TOKEN": "x",
    "OPENAI_API_KEY": "x",
    "DB_PASSWORD": "x",
    "NPM_AUTH": "x",
    "SSH_AUTH_SOCK": "/run/x",
    "LC_API_KEY": "x",
    "XDG_SESSION_COOKIE": "x",
    "LD_PRELOAD": "/x.so",
    "PYTHONPATH": "/x",
    "BASH_ENV": "/x",
    "BASH_FUNC_ls%%": "() { id; }",
    "GIT_SSH_COMMAND": "x",
    "HTTPS_PROXY": "http://user:pass@proxy:3128",
    "PIP_INDEX_URL": "https://me:secret@index/simple",
    "NODE_ENV": "ghp_" + "a1B2c3D4e5F6" * 3,
    "SOMETHING_ELSE": "x",
}


def test_secrets_and_whatever_is_not_listed_stay_behind(root) -> None:
    harmless = {
        "PATH": os.environ["PATH"],
        "HOME": "/h",
        "LC_ALL": "C.UTF-8",
        "HTTP_PROXY": "http://proxy:3128",
    }
    kept = clean_environment({**harmless, **SECRETS})
    assert kept == {**harmless, "TETHER_AGENT": "1"}
    assert clean_environment(SECRETS, allow=["GITHUB_TOKEN"])["GITHUB_TOKEN"] == "x"
    prepared = prepare_command(root, {"command": "env"}, classify=unknown, environ={**harmless, **SECRETS})
    names = {line.split("=")[0] for line in prepared.run(Direct(root))["output"].splitlines()}
    assert names - {"_", "SHLVL", "OLDPWD", "TETHER_RUN", "PWD"} == {*harmless, "TETHER_AGENT"}


def test_signals_of_ours_are_back_to_normal_in_the_command(root) -> None:
    before = signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    try:
        assert run(root, "yes | head -1; echo ${PIPESTATUS[0]}")["output"] == "y\n141\n"
    finally:
        signal.signal(signal.SIGPIPE, before)
