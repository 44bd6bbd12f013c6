"""Plans from the command line, and a strict project governed by one."""

import asyncio
import json
from hashlib import sha256

import pytest
from tests.control.plans import change, plan, validate

from tether.control.plan_model import digest, fingerprint
from tether.gate import submit
from tether.types import Agent, Call

PACK = {"header": {"schemaVersion": "1.0.0"}}


def written(site, *nodes, **more):
    """A plan that fits the site, in a file."""
    lines = site.read("src/auth/token.py").splitlines()
    cited = "sha256:" + sha256("".join(line + "\n" for line in lines[:2]).encode()).hexdigest()
    nodes = nodes or (change(verificationHooks=["grep -q valid src/auth/token.py"]), validate())
    for node in nodes:
        for item in node.get("codeEvidence", ()):
            item["contentHash"] = cited
    site.write("pack.json", json.dumps(PACK))
    document = {
        **plan(*nodes),
        "worktreeRoot": str(site.path),
        "repoSnapshotId": "git:" + site.git("rev-parse", "HEAD").strip(),
        "contextPackHash": digest(PACK),
        **more,
    }
    document["planFingerprint"] = more.get("planFingerprint") or fingerprint(document)
    site.write("plan.json", json.dumps(document))
    return document


def test_a_valid_plan_is_called_valid_and_a_wrong_one_is_refused_with_everything(site):
    written(site)
    assert "valid: 2 nodes, strategy debug_symptom_trace" in site.tether("plan", "validate", "plan.json")
    written(site, change(file="src/pay/index.py", verificationHooks=["true"]), validate())
    said = json.loads(site.tether("plan", "validate", "plan.json", "--json", code=3))
    assert said["valid"] is False
    assert {(v["pointer"], v["code"]) for v in said["violations"]} >= {
        ("/nodes/0/targetFile", "PLAN_SCOPE_VIOLATION"),
        ("/nodes/0/verificationHooks/0", "PLAN_VERIFICATION_WEAK"),
    }
    shown = site.tether("plan", "validate", "plan.json", code=3)
    assert "→ use a command that fails when the work is wrong" in shown


def test_evidence_is_looked_up_in_the_project(site):
    document = written(site)
    site.write("src/auth/token.py", "changed\nsince\n")
    said = site.tether("plan", "validate", "plan.json", code=3)
    assert "/nodes/0/codeEvidence/0/contentHash  PLAN_EVIDENCE_INSUFFICIENT" in said
    document["nodes"][0]["codeEvidence"][0]["endLine"] = 99
    written(site, *document["nodes"])
    assert "has no lines 1 to 99" in site.tether("plan", "validate", "plan.json", code=3)


def test_policies_of_the_project_are_in_force(site):
    row = {
        "id": "P-1", "type": "policy", "version": 1, "updated_at": "2026-01-01", "updated_by": "ann",
        "scope": {"kinds": ["change"]}, "predicate": "requiresHumanReview = true",
    }  # fmt: skip
    site.write(".tether/graph/seed/team/policies.jsonl", json.dumps(row) + "\n")
    written(site)
    said = site.tether("plan", "validate", "plan.json", code=3)
    assert "/policyVersionSet/P-1  PLAN_POLICY_VIOLATION  (policy.stale)" in said
    assert "breaks policy `P-1` version 1 (.tether/graph/seed/team/policies.jsonl:1)" in said
    nodes = (change(verificationHooks=["pytest -q tests/auth"], requiresHumanReview=True), validate())
    written(site, *nodes, policyVersionSet={"P-1": 1})
    site.tether("plan", "validate", "plan.json")
    site.write(".tether/graph/seed/broken.jsonl", "{")
    assert "policy.broken" in site.tether("plan", "validate", "plan.json", code=3)


def test_plans_are_shown_and_explained(site):
    written(site)
    assert "modify src/auth/token.py" in site.tether("plan", "show", "plan.json")
    assert site.tether("plan", "show", "plan.json", "--format", "mermaid").startswith("flowchart TD")
    assert site.tether("plan", "show", "plan.json", "--format", "svg").startswith("<svg ")
    said = site.tether("plan", "explain", "plan.json")
    assert "testConfidenceLevel = high" in said
    assert "0. c1" in said
    told = json.loads(
        site.tether("plan", "explain", "plan.json", "--json", "--prompt", "the ag-Grid", code=3)
    )
    assert told["knowledgeStrategy"]["strategyId"] == "ui_aggrid_feature"
    assert told["denyReasons"] == ["PLAN_ORIGIN_UNKNOWN", "PLAN_STRATEGY_MISMATCH"]


def test_what_is_no_plan_or_no_file_is_told(site):
    site.write("x.json", "[")
    assert "not JSON" in site.tether("plan", "validate", "x.json", code=3)
    assert "cannot be read" in site.tether("plan", "validate", "gone.json", code=1)
    assert "needs a file" in site.tether("plan", "validate", code=2)


def test_only_a_person_accepts_and_only_what_is_valid(site):
    written(site, change(verificationHooks=["true"]), validate())
    site.tether("plan", "accept", "plan.json", code=3)
    assert "no plan is in force" in site.tether("plan", "list")
    written(site)
    assert "belongs to an agent" in site.tether("plan", "accept", "plan.json", code=1, CLAUDECODE="1")
    site.tether("plan", "accept", "plan.json")
    assert json.loads(site.tether("plan", "list", "--json"))["W-1"]["open"] == ["c1"]
    site.tether("plan", "withdraw", "W-1")
    assert "no plan is in force" in site.tether("plan", "list")
    assert "has no plan in force" in site.tether("plan", "withdraw", "W-1", code=1)
    assert "verified" in site.tether("journal", "verify")


@pytest.fixture
def strict(site):
    site.tether("config", "set", "governance.preset", "strict")
    site.select()
    site.call("read_file", path="src/auth/token.py")
    return site


def edit(site, path="src/auth/token.py"):
    return site.call("edit_file", path=path, old="token > 0", new="token >= 0")


def test_a_strict_project_admits_what_exactly_one_open_node_covers(strict):
    assert edit(strict).error["error_code"] == "PLAN_REQUIRED"
    check = "grep -q '>= 0' src/auth/token.py"
    new = change("c2", file="src/auth/new.py", symbols=("fresh",), needs=("c1",), operation="create")
    written(strict, change(verificationHooks=[check]), new, validate(maps=("c1", "c2")))
    strict.tether("plan", "accept", "plan.json")
    assert (
        strict.call("write_file", path="src/auth/new.py", content="x").error["error_code"] == "PLAN_REQUIRED"
    )
    assert "✗" in strict.tether("plan", "done", "W-1", "c1", code=1), "the check fails before the change"
    done = edit(strict)
    assert done.ok, done.error
    assert done.decision.plan_node == "W-1/c1"
    assert "plan.covered" in done.decision.rules
    strict.tether("plan", "done", "W-1", "c1", CLAUDECODE="1")
    assert json.loads(strict.tether("plan", "list", "--json"))["W-1"]["open"] == ["c2"]
    assert edit(strict).error["error_code"] == "PLAN_REQUIRED", "a node that is done is closed"
    assert strict.call("write_file", path="src/auth/new.py", content="def fresh(): ...\n").ok
    assert strict.records()[0]["metadata"]["dev.tether"]["decision"]["plan_node"] == "W-1/c1"
    assert "verified" in strict.tether("journal", "verify")


def test_a_hooked_write_and_command_are_covered_alike(strict):
    def hook(tool, **given):
        event = {
            "hook_event_name": "PreToolUse",
            "session_id": "s1",
            "cwd": str(strict.path),
            "tool_use_id": tool,
        }
        answer = strict.hook("claude-code", {**event, "tool_name": tool, "tool_input": given})
        return json.dumps(answer)

    edit = {
        "file_path": str(strict.path / "src/auth/token.py"),
        "old_string": "token > 0",
        "new_string": "True",
    }
    assert "no open plan node covers" in hook("Edit", **edit)
    check = "test -f src/auth/token.py && ls src/auth"
    written(strict, change(verificationHooks=["pytest -q tests/auth", check]), validate())
    strict.tether("plan", "accept", "plan.json")
    assert "deny" not in hook("Edit", **edit)
    assert "deny" not in hook("Bash", command="pytest -q tests/auth")
    assert "no open plan node covers" in hook("Bash", command="pytest -q tests/auth; echo x > src/auth/y.py")
    assert "no open plan node covers" in hook("Bash", command="pytest -q tests/pay")
    assert "for people" in hook("Bash", command="tether plan accept plan.json")
    assert "no open plan node covers" in hook("Write", file_path="src/auth/other.py", content="x")


def test_a_second_plan_of_a_work_takes_the_place_of_the_first(strict):
    written(strict)
    strict.tether("plan", "accept", "plan.json")
    written(strict, change("other", verificationHooks=["pytest -q tests/auth"]), validate(maps=("other",)))
    strict.tether("plan", "accept", "plan.json")
    assert json.loads(strict.tether("plan", "list", "--json"))["W-1"]["open"] == ["other"]


def test_a_call_made_for_one_work_is_not_covered_by_the_plan_of_another(strict):
    written(strict)
    strict.tether("plan", "accept", "plan.json")

    def write(work):
        call = Call(
            f"c-{work}",
            "edit_file",
            {"path": "src/auth/token.py", "old": "> 0", "new": "> 1"},
            Agent("s1"),
            work,
        )
        return asyncio.run(submit(strict.workspace(), call))

    assert write("W-2").error["error_code"] == "PLAN_REQUIRED"
    assert write("W-1").ok


def test_an_accepted_plan_tells_what_a_person_must_review(strict):
    nodes = (change(verificationHooks=["pytest -q tests/auth"], requiresHumanReview=True), validate())
    written(strict, *nodes)
    assert "review by hand: c1" in strict.tether("plan", "accept", "plan.json")
