"""Policy as data: every case under `tests/policies` states facts, a call's effects and the verdict they must get."""

import ast
import re
import tomllib
from pathlib import Path

import pytest

from tether.control import decide as decide_module
from tether.control.decide import decide
from tether.control.facts import from_plain
from tether.control.protected import PROTECTED
from tether.errors import CODES
from tether.types import Agent, Call, Effect, Risk

HERE = Path(__file__).resolve().parents[1]
POLICIES = HERE / "policies"
SHARED = tomllib.loads((POLICIES / "bases.toml").read_text())
FILES = sorted(POLICIES.glob("[0-9]*.toml"))
GUIDE = HERE.parent / "docs/policy.md"

STATED = {"name", "base", "facts", "call", "effects", "verdict", "code", "rules"}
OPTIONAL = {"message", "required_action", "suggested_action", "recoverable", "intent", "approval", "policy"}
OPTIONAL |= {"plan_node"}


def cases():
    for file in FILES:
        for case in tomllib.loads(file.read_text())["case"]:
            yield pytest.param(case, id=f"{file.stem}: {case['name']}")


def merged(held, more):
    """Facts with some changed; maps such as `spots` grow, all else is replaced."""
    grown = dict(held)
    for key, value in more.items():
        old = grown.get(key)
        grown[key] = {**old, **value} if isinstance(value, dict) and isinstance(old, dict) else value
    return grown


def base_facts(name):
    own = dict(SHARED["base"][name])
    below = own.pop("base", None)
    return merged(base_facts(below), own) if below else own


def effect(stated):
    stated = dict(stated)
    if "risk" in stated:
        risk = SHARED["risk"][stated["risk"]]
        stated["risk"] = Risk(**{k: tuple(v) if isinstance(v, list) else v for k, v in risk.items()})
    return Effect(**stated)


def judge(case):
    facts = from_plain(merged(base_facts(case.get("base", "work")), case.get("facts", {})))
    stated = case.get("call", {})
    call = Call("c1", stated.get("verb", "write_file"), stated.get("args", {}), Agent("s1"))
    return facts, decide(facts, call, tuple(effect(e) for e in case["effects"]))


@pytest.mark.parametrize("case", list(cases()))
def test_the_verdict_is_the_one_the_case_states(case):
    assert case.keys() <= STATED | OPTIONAL, "a misspelt key would expect nothing"
    facts, decision = judge(case)
    assert decision.verdict == case["verdict"], decision
    assert decision.code == case.get("code", ""), decision
    assert list(decision.rules) == case["rules"]
    for name in OPTIONAL & case.keys():
        assert getattr(decision, name) == case[name], name
    if decision.code and "required_action" not in case and decision.rules != ("self.governance",):
        assert (decision.recoverable, decision.required_action) == CODES[decision.code]
    if "policy" not in case:
        assert decision.policy == facts.policy


def test_there_are_cases_for_every_gate_and_no_sentence_is_used_twice():
    names = [param.values[0]["name"] for param in cases()]
    assert len(names) >= 180
    assert len(set(names)) == len(names)
    assert len(FILES) == 18


def test_every_code_the_decision_can_give_has_a_case():
    source = Path(decide_module.__file__).read_text()
    given = {code for code in CODES if f'"{code}"' in source}
    shown = {param.values[0].get("code", "") for param in cases()}
    assert given == shown - {""}


def literal_rules():
    """The rule ids spelt in `decide.py`: dotted words in string literals, f-strings by their fixed beginning."""
    for node in ast.walk(ast.parse(Path(decide_module.__file__).read_text())):
        text = node.value if isinstance(node, ast.Constant) else None
        if isinstance(text, str) and re.fullmatch(r"[a-z]+\.[a-z][a-z_-]*[a-z]", text):
            yield text
    yield from (f"path.{problem}" for problem in decide_module.PATH_PROBLEMS)
    yield from ("observe.would-ask", "observe.would-deny")
    yield from (f"protected:{glob}" for glob in PROTECTED)


def test_every_rule_the_decision_can_give_has_a_case():
    shown = {rule for param in cases() for rule in param.values[0]["rules"]}
    assert set(literal_rules()) <= shown


def test_the_guide_explains_every_rule_and_code():
    guide = GUIDE.read_text()
    # rules of commands are explained beside the commands they match, and a project's own globs by the project
    own = {"protected:infra/prod/", "protected:*.pem"}
    commands = {rule for risk in SHARED["risk"].values() for rule in risk.get("rules", ())}
    shown = {rule for param in cases() for rule in param.values[0]["rules"]}
    missing = {rule for rule in (shown | set(literal_rules())) - own - commands if f"`{rule}`" not in guide}
    assert not missing
    rows = [f"| `{code}` | {'yes' if again else 'no'} | {todo} |" for code, (again, todo) in CODES.items()]
    assert [row for row in rows if row not in guide] == [], "add these rows to the table of codes"


def test_the_guide_tells_only_rules_that_exist():
    guide = GUIDE.read_text()
    listed = set(re.findall(r"^\| `([a-z]+[.:][^`]+)` \|", guide, re.MULTILINE))
    assert listed <= set(literal_rules()) | {"path.refused"}
    assert len(listed) > 50
