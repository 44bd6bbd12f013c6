"""Intents from the command line."""

import json


def test_an_intents_life(site):
    site.tether(
        "intent", "new", "Payments", "--scope", "src/pay/**", "--related", "SPEC-9", "--criterion", "$ true"
    )
    text = site.read(".orchestration/active_intents.yaml")
    assert text.startswith("# people own this file\n"), "comments stay"
    assert json.loads(site.tether("intent", "show", "INT-003", "--json"))["status"] == "draft"
    site.tether("intent", "activate", "INT-003")
    site.tether("intent", "edit", "INT-003", "--add-scope", "tests/pay/**", "--constraint", "no floats")
    shown = json.loads(site.tether("intent", "show", "INT-003", "--json"))
    assert shown["owned_scope"] == ["src/pay/**", "tests/pay/**"]
    assert shown["constraints"] == ["no floats"]
    assert [i["id"] for i in json.loads(site.tether("intent", "list", "--status", "active", "--json"))] == [
        "INT-001",
        "INT-003",
    ]
    assert "✓ true" in site.tether("intent", "check", "INT-003")
    site.tether("intent", "close", "INT-003", "--as", "done")
    assert site.call("select_active_intent", intent_id="INT-003").error["error_code"] == "INTENT_INVALID"
    assert "no intent `INT-999`" in site.tether("intent", "show", "INT-999", code=1)


def test_check_fails_when_a_criterion_does(site):
    site.tether("intent", "edit", "INT-001", "--criterion", "$ echo out; exit 3", "--criterion", "reads well")
    said = json.loads(site.tether("intent", "check", "INT-001", "--json", code=1))
    assert [c["result"] for c in said["criteria"]] == ["fail", "by hand"]
    assert said["criteria"][0]["exit_code"] == 3
    assert "out" in said["criteria"][0]["output"]


def test_delegation_stays_within_the_parent_and_reports_overlap(site):
    made = json.loads(
        site.tether("intent", "delegate", "INT-001", "--to", "w1", "--scope", "src/auth/tokens/**", "--json")
    )
    child = made["intent"]["id"]
    assert made["intent"]["parent"] == "INT-001"
    assert made["overlaps"] == []
    again = json.loads(
        site.tether(
            "intent", "delegate", "INT-001", "--to", "w2", "--scope", "src/auth/tokens/a/**", "--json"
        )
    )
    assert again["overlaps"][0]["intent"] == child
    said = site.tether("intent", "delegate", "INT-001", "--to", "w3", "--scope", "src/**", code=1)
    assert "src/" in said
    site.select(child, "worker")
    assert site.call("write_file", "worker", path="src/auth/tokens/t.py", content="x").ok
    refused = site.call("write_file", "worker", path="src/auth/other.py", content="x")
    assert refused.error["error_code"] == "SCOPE_VIOLATION"
    site.tether("intent", "close", "INT-001", "--as", "paused")
    refused = site.call("write_file", "worker", path="src/auth/tokens/u.py", content="x")
    assert refused.error["error_code"] == "INTENT_INVALID", "a paused parent stops its workers"


def test_a_malformed_file_names_the_place_and_what_was_expected(site):
    site.write(
        ".orchestration/active_intents.yaml",
        "active_intents:\n  - id: INT-001\n    name: x\n    status: activ\n",
    )
    said = site.tether("intent", "list", code=1)
    assert ".orchestration/active_intents.yaml:4:13" in said
    assert "expected" in said


def test_an_agents_shell_cannot_create_or_change_intents(site):
    for words in (["new", "x"], ["edit", "INT-001"], ["activate", "INT-002"], ["close", "INT-001"]):
        assert "for people" in site.tether("intent", *words, code=1, CLAUDECODE="1")
    assert "INT-001" in site.tether("intent", "list", CLAUDECODE="1")
