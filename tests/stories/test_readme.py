"""The tour of the README, played: every command is run, and says what the page says it says."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

README = Path(__file__).parent.parent.parent / "README.md"
FILES = {
    "src/auth/token.py": 'def is_expired(token, now):\n    return token["expires"] < now\n',
    "src/pay/index.py": 'def charge(card, cents):\n    return {"card": card, "cents": cents}\n',
}
# what differs from one run to the next: ids, hashes, times
PASSING = (
    (r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", "<uuid>"),
    (r"\b\d{4}-\d\d-\d\dT[\d:.]+Z", "<time>"),
    (r"\bA-[0-9a-f]{10}\b", "<approval>"),
    (r"\b[0-9a-f]{64}\b", "<sha256>"),
    (r"\b(head|policy +) ?[0-9a-f]{12,16}\b", r"\1 <head>"),
)


def steady(text):
    for pattern, mark in PASSING:
        text = re.sub(pattern, mark, text)
    return text


def steps(page):
    """Every command of the tour, with the lines the page shows below it."""
    for block in re.findall(r"```console\n(.*?)```", page, re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, shown = part.partition("\n")
            yield command, shown.splitlines()


def test_the_tour_of_the_readme_is_what_happens(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    subprocess.run(["git", "init", "-q", "-b", "main"], cwd=tmp_path, check=True)
    subprocess.run(["git", "add", "-A"], cwd=tmp_path, check=True)
    subprocess.run(["git", "commit", "-q", "-m", "first"], cwd=tmp_path, check=True)
    played = list(steps(README.read_text()))
    assert len(played) >= 8
    for command, shown in played:
        words = shlex.split(command)
        assert words[0] == "tether"
        done = subprocess.run(
            [sys.executable, "-m", "tether", *words[1:]],
            cwd=tmp_path,
            env=dict(os.environ),
            text=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        said = steady(done.stdout).splitlines()
        if shown[-1:] == ["…"]:  # the rest is left out on the page
            shown = shown[:-1]
            said = said[: len(shown)]
        assert said == steady("\n".join(shown)).splitlines(), command
