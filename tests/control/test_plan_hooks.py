"""Which commands verify something."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tether.control.plan_hooks import harm, judge

IDLE = [
    "true", ":", "echo ok", "printf done", "exit 0", "pytest || true", "pytest || :", "pytest; true",
    "pytest || echo failed", "pytest | tee log.txt", "pytest 2>&1 | tail -5", "pytest &", "(pytest) || exit 0",
    "bash -c 'pytest || true'", "sh -c \"true\"", "timeout 10 true", "env A=1 true", "! false", "/bin/true",
    "if pytest; then echo ok; else echo no; fi", "for f in a b; do echo $f; done", "ruff check --exit-zero .",
    "jest --passWithNoTests", "npm run lint --if-present", "pytest --collect-only", "make -n test", "make -i test",
    "python -c 'print(1)'", "python3 -c pass", "[ 1 = 1 ]", "test x", "git status", "git log -1", "git diff",
    "python --version", "pytest && true || true", "set +e; pytest; true", "A=1",
]  # fmt: skip
REAL = [
    "pytest", "pytest -q tests", "npm test", "cargo test", "make test", "set -e; pytest; echo done",
    "set -euo pipefail; pytest | tee log", "pytest && echo ok", "cd src && pytest", "[ -f dist/app.js ]",
    "test -d build", "grep -q valid src/auth/token.py", "! grep -rn TODO src", "python -c 'import app'",
    "python -c 'assert 1'", "git diff --exit-code", "env A=1 pytest", "timeout 60 pytest", "bash -c 'pytest -q'",
    "ruff check .", "mypy --strict src", "pytest || exit 1", "true && pytest", "if true; then pytest; fi",
    "pytest -q 2>&1 | grep -q passed", "npx tsc --noEmit",
]  # fmt: skip


@pytest.mark.parametrize("command", IDLE)
def test_a_command_that_cannot_fail_verifies_nothing(command):
    assert judge(command) == "it cannot fail"


@pytest.mark.parametrize("command", REAL)
def test_a_command_that_can_fail_and_pass_verifies(command):
    assert judge(command) == ""


@pytest.mark.parametrize("command", ["false", "exit 1", "pytest && false", "! true"])
def test_a_command_that_cannot_pass_verifies_nothing(command):
    assert judge(command) == "it cannot pass"


def test_what_is_not_understood_or_empty_verifies_nothing():
    assert "not understood" in judge("echo 'open")
    assert judge("  ") == judge("# a comment") == "it runs nothing"


def test_verification_must_not_destroy_or_govern():
    assert harm("rm -rf /")
    assert "person" in harm("tether approve A-1")
    assert harm("pytest -q") == ""


WORDS = "true false echo pytest make -n git status diff --exit-code test x if exit 0 1 env A=1 timeout 5 sh -c".split()


@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=5))
def test_plain_words_are_judged_alike_parsed_or_not(words):
    assert judge(" ".join(words)) == judge("  ".join(words)), "two spaces are parsed, one is not"


@given(st.text(max_size=60))
def test_any_text_gets_an_answer(text):
    assert isinstance(judge(text), str)
