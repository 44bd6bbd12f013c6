"""Strategies: features from what is known, packs as data, switches."""

import pytest
from tests.control.plans import KNOWN, change, judged, plan, validate

from tether.control import strategy
from tether.control.plan_text import parse
from tether.control.strategy import History, Material, compute_signature, fired, read_packs, select, switch
from tether.control.strategy_packs import PACKS
from tether.errors import TetherError
from tether.types import replace


def features(plan=None, **material):
    return compute_signature(Material(**material), plan).features


def test_the_signature_has_exactly_the_eight_features_each_with_its_reason():
    found = compute_signature(Material())
    assert tuple(found.features) == strategy.FEATURES
    assert tuple(found.reasons) == strategy.FEATURES
    assert all(found.reasons.values())
    assert set(found.features.values()) == {False, "none"}


@pytest.mark.parametrize(
    ("feature", "material"),
    [
        ("hasJira", {"prompt": "do SHOP-12 today"}),
        ("hasJira", {"artifacts": ("jira:SHOP-12",)}),
        ("hasSwagger", {"files": {"api/openapi.yaml": ""}}),
        ("hasSwagger", {"files": {"api/v1.json": '{\n  "openapi": "3.1.0"'}}),
        ("hasSwagger", {"artifacts": ("swagger:https://x/api",)}),
        ("mentionsAgGrid", {"prompt": "add a column to the ag-Grid"}),
        ("mentionsAgGrid", {"files": {"a.ts": "const c: ColDef = {}"}}),
        ("touchesShadowDom", {"files": {"a.ts": "this.attachShadow({mode: 'open'})"}}),
        ("crossesFederationBoundary", {"files": {"w.js": "new ModuleFederationPlugin({})"}}),
        (
            "crossesFederationBoundary",
            {
                "files": {"shell/a.ts": "", "shop/b.ts": ""},
                "remotes": {"shell": ("shell/**",), "shop": ("shop/**",)},
            },
        ),
        ("migrationAdpDetected", {"prompt": "move the ADP table to SDF"}),
    ],
)
def test_a_feature_is_seen_in_what_shows_it_and_nowhere_else(feature, material):
    assert features(**material)[feature] is True
    assert features(prompt="read UTF-8 and SHA-256 of INT-001")[feature] is False


def test_the_contract_anchor_is_a_citation_of_the_contract():
    cited = change(citations=[{"category": "requirement", "sourceRef": "file:api/openapi.yaml#L1-L2"}])
    assert features(parse(plan(cited))[0])["contractAnchorPresent"] is True
    assert features(parse(plan())[0])["contractAnchorPresent"] is False


@pytest.mark.parametrize(
    ("nodes", "level"),
    [
        ((change(verificationHooks=["true"]),), "none"),
        ((change(), change("c2", file="src/b.py", verificationHooks=["true"])), "low"),
        ((change(),), "medium"),
        ((change(), validate()), "high"),
        ((change(), validate(verificationHooks=["true"])), "medium"),
    ],
)
def test_test_confidence_is_how_far_checks_would_notice(nodes, level):
    assert features(parse(plan(*nodes))[0])["testConfidenceLevel"] == level


def test_before_a_plan_tests_among_the_files_give_some_confidence():
    assert features(files={"tests/test_a.py": ""})["testConfidenceLevel"] == "low"


def test_memories_may_override_features_but_not_invent_them():
    found = compute_signature(
        Material(overrides={"hasJira": (True, "we always have one"), "x": (True, "no")})
    )
    assert found.features["hasJira"] is True
    assert "we always have one" in found.reasons["hasJira"]
    assert "x" not in found.features


@pytest.mark.parametrize(
    ("material", "chosen"),
    [
        ({"prompt": "fix the crash"}, "debug_symptom_trace"),
        ({"prompt": "ag-grid filter"}, "ui_aggrid_feature"),
        ({"artifacts": ("swagger:x",)}, "api_contract_feature"),
        ({"prompt": "ADP to SDF with ag-grid", "artifacts": ("swagger:x",)}, "migration_adp_to_sdf"),
        ({"prompt": "ag-grid", "artifacts": ("swagger:x",)}, "ui_aggrid_feature"),
    ],
)
def test_the_strategy_follows_from_the_signature_and_says_why(material, chosen):
    signature = compute_signature(Material(**material))
    selection = select(signature)
    assert selection.strategy.id == chosen
    assert selection.reasons
    assert select(signature) == selection
    told = strategy.report(selection, signature)
    assert set(told) == {"strategyId", "contextSignature", "reasons"}


def test_there_are_the_four_built_in_packs_and_a_team_adds_its_own():
    assert set(read_packs()) == {
        "ui_aggrid_feature", "api_contract_feature", "migration_adp_to_sdf", "debug_symptom_trace",
    }  # fmt: skip
    own = {**PACKS[-1], "id": "jira_first", "priority": 99, "when": "signature.hasJira"}
    packs = read_packs([own])
    assert select(compute_signature(Material(prompt="do SHOP-1")), packs).strategy.id == "jira_first"
    for broken in (
        {**own, "when": "("}, {**own, "switch": {"mood": {"after": 1, "to": "x"}}}, {"id": "x"},
        {**own, "requires": [{"id": "a", "code": "NOPE", "when": "true", "holds": "true"}]},
        {**own, "requires": [{"id": "a", "code": "PLAN_NOT_ATOMIC", "when": "true"}]},
    ):  # fmt: skip
        with pytest.raises(TetherError):
            read_packs([broken])


@pytest.mark.parametrize(
    ("trigger", "history"),
    [
        ("plan_rejected", {"plans_rejected": 3}),
        ("policy_conflict", {"policy_conflicts": 1}),
        ("repeated_failure_threshold", {"failures": {"boom": 3}}),
        ("repeated_action_threshold", {"actions": {"read a": 3}}),
        ("missing_required_proof_chain", {"chains_missing": 1}),
    ],
)
def test_each_trigger_switches_at_its_threshold_and_not_before(trigger, history):
    current = select(compute_signature(Material(prompt="ag-grid")))
    after = switch(current, History(**history))
    assert fired(History(**history), current.strategy) == (trigger,)
    assert after.strategy.id == current.strategy.switch[trigger][1]
    assert f"`{trigger}`" in after.reasons[0]
    assert switch(current, History()) == current


def test_a_strategy_demands_its_proof_chains_anchor_and_confidence():
    def known(**more):
        return replace(KNOWN, material=Material(**more))

    grid = plan(knowledgeStrategyId="ui_aggrid_feature")
    assert judged(grid, known(prompt="ag-grid")) == {("", "PLAN_ORIGIN_UNKNOWN", "strategy.origin")}
    assert judged(grid, replace(known(prompt="ag-grid"), chains=frozenset(("ag_grid_origin",)))) == set()
    crossing = known(prompt="use loadRemoteModule")
    assert judged(plan(), crossing) == {("", "PLAN_FEDERATION_PROOF_MISSING", "strategy.federation")}
    assert judged(plan(), replace(crossing, chains=frozenset(("federation",)))) == set()
    api = plan(knowledgeStrategyId="api_contract_feature")
    assert judged(api, known(artifacts=("swagger:x",))) == {
        ("", "PLAN_MISSING_CONTRACT_ANCHOR", "strategy.contract")
    }
    assert judged(plan(), replace(KNOWN, strategy="ui_aggrid_feature")) >= {
        ("/knowledgeStrategyId", "PLAN_STRATEGY_MISMATCH", "strategy.mismatch")
    }
