"""The demo is a claim about the product: each of its steps must go as it tells."""

import json
import subprocess
import sys

import pytest


@pytest.mark.slow
def test_every_step_of_the_demo_goes_as_told(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "tether", "demo", "--json"],
        cwd=tmp_path,
        text=True,
        capture_output=True,
        check=False,
    )
    told = json.loads(done.stdout)
    assert told["failures"] == []
    assert told["ok"] and done.returncode == 0
    assert len(told["steps"]) >= 25
    assert list(tmp_path.iterdir()) == [], "nothing is left where it was started"
