"""The decision against an oracle written the other way round, over every combination of a small world."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tether.control import decide as module
from tether.control.decide import decide, is_mutating, signature
from tether.control.facts import Facts
from tether.control.plan_cover import OpenNode
from tether.control.scope import compile_scope
from tether.errors import CODES, INTENT_HANDSHAKE
from tether.types import Agent, Approval, Call, Effect, Intent, Risk, Spot, plain, replace

CALL = Call("c1", "write_file", {}, Agent("s1"))
NOW = 100.0

# a strict project without a plan, and with an open node for file and command
PRESETS = ("observe", "intent", "strict", "strict+node")
SELECTED = ("", "INT-1", "INT-404")
STATUSES = ("active", "paused")
# what the command beside the write was parsed to be, and what the project does with unknown ones
RISKS = (
    None,
    ("SAFE", "ask"),
    ("UNKNOWN", "allow"),
    ("UNKNOWN", "ask"),
    ("UNKNOWN", "deny"),
    ("DESTRUCTIVE", "allow"),
)
APPROVALS = (
    None,
    ("pending", 200.0),
    ("approved", 200.0),
    ("approved", 50.0),
    ("rejected", 200.0),
    ("rejected", 50.0),
)
# (what the agent saw, what the disk holds)
READINGS = (("h1", "h1"), ("h0", "h1"), (None, "h1"), (None, ""))
FLAGS = (False, True)

WORLD = (PRESETS, SELECTED, STATUSES, FLAGS, FLAGS, FLAGS, FLAGS, RISKS, APPROVALS, READINGS, FLAGS)


def build(preset, selected, status, inside, protected, problem, writable, risk, approval, reading, halted):
    path = "tether.toml" if protected else "src/a.py"
    preset, _, plan = preset.partition("+")
    nodes = (OpenNode("n1", "P", "W", (path,), checks=("x",)),) if plan else ()
    saw, disk = reading
    level, unknown = risk or ("SAFE", "ask")
    spot = (
        Spot(path, problem="outside")
        if problem
        else Spot(path, path, kind="file" if disk else "absent", hash=disk)
    )
    facts = Facts(
        now=NOW,
        policy="p",
        preset=preset,
        plan_nodes=nodes,
        write_enabled=writable,
        unknown_commands=unknown,
        intents=(Intent("INT-1", "one", status, (path,) if inside else ("other/**",)),),
        selected=selected,
        halted="going in circles" if halted else "",
        spots={path: spot},
        seen={} if saw is None else {path: saw},
        approval=Approval("A-1", "c", approval[0], approval[1]) if approval else None,
    )
    write = Effect("write", path)
    return facts, (Effect("run", "x", risk=Risk(level, rules=("risk.x",))), write) if risk else (write,)


def objections(
    preset, selected, status, inside, protected, problem, writable, risk, approval, reading, halted
):
    """Every reason against the call, as (rank, verdict, code); which gates there are in `decide` is not asked."""
    found = set()
    if halted:
        found.add((0, "deny", "LOOP_HALTED"))
    if problem or protected:
        found.add((1, "deny", "SECURITY_VIOLATION"))
    if selected == "":
        found.add((2, "deny", "INTENT_REQUIRED"))
    if selected == "INT-404" or status != "active":
        found.add((3, "deny", "INTENT_INVALID"))
    if not inside:
        found.add((4, "deny", "SCOPE_VIOLATION"))
    if not writable:
        found.add((5, "deny", "WRITE_DENIED"))
    if preset == "strict":
        found.add((6, "deny", "PLAN_REQUIRED"))
    if risk == ("UNKNOWN", "deny"):
        found.add((7, "deny", "RISK_APPROVAL_REQUIRED"))
    if risk in (("UNKNOWN", "ask"), ("DESTRUCTIVE", "allow")) and approval != ("approved", 200.0):
        answer = {
            ("approved", 50.0): ("deny", "APPROVAL_EXPIRED"),
            ("rejected", 200.0): ("deny", "APPROVAL_REJECTED"),
        }
        found.add((8, *answer.get(approval, ("ask", "RISK_APPROVAL_REQUIRED"))))
    if reading in (("h0", "h1"), (None, "h1")):
        found.add((9, "deny", "STALE_FILE"))
    return found


def test_every_combination_of_a_small_world_gets_the_verdict_of_the_oracle():
    count = 0
    for world in product(*WORLD):
        facts, effects = build(*world)
        decision = decide(facts, CALL, effects)
        against = objections(*world)
        hard = {one for one in against if one[0] < 2}
        expected = min(hard if world[0] == "observe" else against, default=(99, "allow", ""))
        assert (decision.verdict, decision.code) == expected[1:], (world, decision)
        assert decision.rules, world
        count += 1
        if decision.verdict == "allow":
            noticed = [rule for rule in decision.rules if rule.startswith("observe.would-")]
            assert bool(noticed) == bool(against), (world, decision)
            if against:
                assert noticed == [f"observe.would-{min(against)[1]}"]
            spent = (
                world[7] in (("UNKNOWN", "ask"), ("DESTRUCTIVE", "allow"))
                and min(against, default=(99,))[0] > 8
            )
            assert decision.approval == ("A-1" if spent else ""), (world, decision)
        else:
            assert decision.recoverable == CODES[decision.code][0]
            if decision.rules != ("plan.ambiguous",):
                assert decision.required_action == CODES[decision.code][1]
            assert decision.message
            assert decision.policy == "p"
            assert decision.approval == "", "only what is allowed spends an approval"
    assert count == 110_592


def test_reads_are_free_wherever_an_agent_is_not_halted_and_stays_inside():
    for world in product(*WORLD[:7], RISKS[:1], APPROVALS[:1], READINGS[:1], FLAGS):
        *_, problem, _, _, _, _, halted = world
        facts, effects = build(*world)
        decision = decide(facts, CALL, (Effect("read", effects[-1].target),))
        assert (decision.verdict == "allow") == (not halted and not problem)


class Exploding:
    """Facts whose fields cannot be read."""

    def __init__(self, field, facts):
        self._field = field
        self._facts = facts

    def __getattr__(self, name):
        if name == self._field:
            raise RuntimeError("the very text of the failure")
        return getattr(self._facts, name)


GOOD = Facts(
    now=NOW,
    policy="p",
    write_enabled=True,
    intents=(Intent("INT-1", "one", "active", ("src/**",)),),
    selected="INT-1",
    spots={"src/a.py": Spot("src/a.py", "src/a.py", kind="file", hash="h1")},
    seen={"src/a.py": "h1"},
    approval=Approval("A-1", "c", "approved", 200.0),
)
BUSY = (Effect("run", "x", risk=Risk("UNKNOWN", rules=("risk.x",))), Effect("write", "src/a.py"))


@pytest.mark.parametrize(
    "field",
    (
        "now policy write_enabled unknown_commands protected intents intents_problem selected halted spots seen "
        "held approval preset"
    ).split(),
)
def test_a_rule_that_raises_denies_and_never_tells_what_it_read(field):
    assert decide(GOOD, CALL, BUSY).verdict == "allow", "otherwise the explosion proves nothing"
    # observing reads every field but the preset on the way; the preset only matters once a gate objects
    facts = replace(GOOD, halted="halted") if field == "preset" else GOOD
    decision = decide(Exploding(field, facts), CALL, BUSY)
    assert (decision.verdict, decision.code, decision.rules) == ("deny", "POLICY_ERROR", ("policy.error",))
    assert (decision.recoverable, decision.required_action) == CODES["POLICY_ERROR"]
    assert "RuntimeError" in decision.message
    assert "very text" not in decision.message


def test_effects_that_are_no_effects_deny():
    for effects in ((None,), ("write",), (Effect("write", None),), 7):
        decision = decide(GOOD, CALL, effects)
        assert (decision.verdict, decision.code) in (("deny", "POLICY_ERROR"), ("deny", "SECURITY_VIOLATION"))


@pytest.mark.parametrize("gate", module.GATES, ids=lambda gate: gate.__name__)
@pytest.mark.parametrize("preset", ["observe", "intent"])
def test_every_gate_that_raises_denies(monkeypatch, gate, preset):
    def broken(case):
        raise KeyError("gate")

    monkeypatch.setattr(module, "GATES", tuple(broken if g is gate else g for g in module.GATES))
    decision = decide(replace(GOOD, preset=preset), CALL, BUSY)
    assert (decision.verdict, decision.code, decision.policy) == ("deny", "POLICY_ERROR", "p")


def test_a_call_no_gate_speaks_of_is_denied(monkeypatch):
    monkeypatch.setattr(module, "GATES", ())
    for preset in PRESETS:
        decision = decide(replace(GOOD, preset=preset), CALL, BUSY)
        assert (decision.verdict, decision.code, decision.rules) == (
            "deny",
            "POLICY_ERROR",
            ("policy.no-rule",),
        )


def test_no_effects_change_nothing_and_pass_as_a_read():
    assert not is_mutating(())
    decision = decide(Facts(), CALL, ())
    assert (decision.verdict, decision.rules) == ("allow", ("path.inside", "read.free"))
    assert decide(Facts(halted="x"), CALL, ()).code == "LOOP_HALTED"


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("selected", SELECTED)
@pytest.mark.parametrize("kind", ["", "teleport", "Write", "run ", "unknown"])
def test_an_effect_of_unknown_kind_is_denied_in_every_preset(preset, selected, kind):
    facts = replace(GOOD, preset=preset, selected=selected)
    for effects in ((Effect(kind, "x"),), (*BUSY, Effect(kind, "x"))):
        decision = decide(facts, CALL, effects)
        assert (decision.verdict, decision.code, decision.rules) == (
            "deny",
            "POLICY_ERROR",
            ("policy.no-rule",),
        )
        assert is_mutating(effects)


def test_only_what_is_proven_to_change_nothing_is_no_mutation():
    look = Risk("SAFE", read_only=True)
    assert not is_mutating(
        (Effect("run", "ls", risk=look), Effect("read", "a"), Effect("reach", "example.com"))
    )
    for effect in (
        Effect("run", "ls"),
        Effect("run", "x", risk=Risk("SAFE")),
        Effect("write", "a"),
        Effect("delete", "a"),
        Effect("external", "a"),
    ):
        assert is_mutating((Effect("run", "ls", risk=look), effect))


def test_the_handshake_is_word_for_word():
    decision = decide(replace(GOOD, selected=""), CALL, BUSY)
    assert (
        decision.message
        == INTENT_HANDSHAKE
        == "You must cite a valid active Intent ID before mutating tools."
    )


def test_deciding_changes_nothing_and_twice_is_the_same():
    before = plain(GOOD)
    assert decide(GOOD, CALL, BUSY) == decide(GOOD, CALL, BUSY)
    assert plain(GOOD) == before


# ── the loop breaker's eye ───────────────────────────────────────────────────


def sign(facts, effects, call=CALL):
    return signature(facts, call, decide(facts, call, effects), effects)


STALE = replace(GOOD, seen={"src/a.py": "h0"})
WRITE = (Effect("write", "src/a.py"),)


def test_the_same_refusal_has_the_same_signature():
    first, again = replace(CALL, id="c1"), replace(CALL, id="c2")
    assert sign(STALE, WRITE, first) == sign(replace(STALE, now=NOW + 60), WRITE, again) != ""


def test_different_refusals_have_different_signatures():
    out = replace(GOOD, spots={**GOOD.spots, "b": Spot("b", "b"), "c": Spot("c", "c")})
    seen = {
        sign(STALE, WRITE),
        sign(replace(GOOD, selected=""), WRITE),
        sign(replace(GOOD, write_enabled=False), WRITE),
        sign(replace(GOOD, write_enabled=False), WRITE, replace(CALL, verb="edit_file")),
        sign(out, (Effect("write", "b"),)),
        sign(out, (Effect("write", "c"),)),
    }
    assert len(seen) == 6


def test_reading_again_makes_a_stale_refusal_a_new_one():
    moved = replace(STALE, seen={"src/a.py": "h5"})
    assert sign(STALE, WRITE) != sign(moved, WRITE)
    stated = [sign(GOOD, (Effect("write", "src/a.py", before=h),)) for h in ("h5", "h6")]
    assert stated[0] != stated[1]


def test_reading_again_any_of_several_files_makes_a_new_refusal():
    spots = {**GOOD.spots, "src/b.py": Spot("src/b.py", "src/b.py", kind="file", hash="h2")}
    both = (Effect("write", "src/a.py"), Effect("write", "src/b.py"))
    signs = {
        sign(replace(GOOD, spots=spots, seen={"src/a.py": "h1", "src/b.py": h}), both) for h in ("h7", "h8")
    }
    assert len(signs) == 2


def test_variants_of_one_command_are_one_refusal():
    facts = replace(GOOD, unknown_commands="deny")
    risk = Risk("UNKNOWN", rules=("risk.x",))
    assert sign(facts, (Effect("run", "make a", risk=risk),)) == sign(
        facts, (Effect("run", "make b", risk=risk),)
    )
    assert sign(facts, (Effect("run", "make a", risk=risk),)) != sign(
        facts, (Effect("run", "tox", risk=risk),)
    )


def test_refusals_that_pass_by_themselves_never_count():
    held = replace(GOOD, held={"src/a.py": "s2"})
    late = replace(GOOD, approval=Approval("A-1", "c", "approved", 10.0))
    halted = replace(GOOD, halted="x")
    for facts, effects, code in (
        (held, WRITE, "COLLISION"),
        (late, BUSY, "APPROVAL_EXPIRED"),
        (halted, WRITE, "LOOP_HALTED"),
    ):
        assert decide(facts, CALL, effects).code == code
        assert sign(facts, effects) == ""


# ── open input ───────────────────────────────────────────────────────────────

TEXTS = st.text(max_size=12) | st.sampled_from(
    ("src/a.py", "tether.toml", ".git", ".", "..", "~", "src", "a/b")
)
EFFECTS = st.builds(
    Effect,
    kind=st.sampled_from(("read", "write", "delete", "run", "reach", "external")) | st.text(max_size=4),
    target=TEXTS,
    before=st.none() | st.sampled_from(("", "h1")),
    anchored=st.booleans(),
    command=st.booleans(),
    risk=st.none()
    | st.builds(Risk, level=st.sampled_from(("SAFE", "UNKNOWN", "DESTRUCTIVE")), read_only=st.booleans()),
)
SPOTS = st.builds(
    Spot,
    given=TEXTS,
    path=TEXTS,
    problem=st.sampled_from(("", "", "", "outside", "home", "loop", "new problem")),
    kind=st.sampled_from(("file", "dir", "absent", "other")),
    hash=st.sampled_from(("", "h1")),
)


@given(
    st.lists(EFFECTS, max_size=4),
    st.lists(SPOTS, max_size=4),
    st.lists(TEXTS, max_size=3),
    st.lists(TEXTS, max_size=3),
    st.sampled_from(PRESETS),
)
def test_whatever_comes_a_verdict_follows(effects, spots, scope, protected, preset):
    facts = replace(
        GOOD,
        preset=preset,
        spots={spot.given: spot for spot in spots}
        | {e.target: s for e, s in zip(effects, spots, strict=False)},
        intents=(Intent("INT-1", "one", "active", tuple(scope)),),
        protected=tuple(protected),
    )
    decision = decide(facts, CALL, effects)
    assert decision.verdict in ("allow", "ask", "deny")
    assert decision.rules
    assert (decision.code in CODES) == (decision.verdict != "allow")
    assert isinstance(signature(facts, CALL, decision, effects), str)
    if decision.verdict == "allow":
        for effect in effects:
            if effect.kind in ("write", "delete"):
                spot = facts.spots[effect.target]
                assert not spot.problem
                assert spot.path not in ("tether.toml", ".git")


NAMES = st.sampled_from(("a", "b", "_", "x.py", "[a]"))
GLOBS = st.lists(
    st.sampled_from(
        ("a/**", "!a/b/", "a/*", "**/*.py", "_*", "a/b", "!**/x.py", "**", "/a/?/", "!b", "a/[[]a[]]/**")
    ),
    max_size=3,
)


@given(GLOBS, st.lists(NAMES, min_size=1, max_size=2), st.lists(NAMES, min_size=1, max_size=2))
def test_a_folder_a_command_may_name_holds_nothing_the_scope_does_not_own(scope, folder, below):
    path = "/".join(folder)
    facts = replace(
        GOOD,
        intents=(Intent("INT-1", "one", "active", tuple(scope)),),
        spots={path: Spot(path, path, kind="dir")},
        approval=None,
    )
    effects = (Effect("run", "x", risk=Risk("SAFE")), Effect("write", path, command=True))
    if decide(facts, CALL, effects).verdict == "allow":
        assert compile_scope(scope).owns("/".join((*folder, *below)))
