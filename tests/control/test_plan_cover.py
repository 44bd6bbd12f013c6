"""Open nodes: whose turn it is, and what they cover."""

from tests.control.plans import change, plan, side_effect, validate

from tether.control.plan_cover import listed, open_nodes
from tether.control.plan_text import parse

NODES = listed(
    parse(
        plan(
            change("a", file="src/a.py"),
            change("b", file="src/b.py", needs=("a",), operation="delete"),
            change("m", file="src/m.py", operation="move", destinationFile="src/n.py"),
            validate("v", maps=("a", "b")),
            side_effect("s", needs=("v",)),
        )
    )[0]
)


def opened(done, work=""):
    return [n.id for n in open_nodes({"W-1": {"plan": "P", "nodes": NODES, "done": done}}, work)]


def test_a_node_is_open_when_all_it_needs_is_done_and_it_is_not():
    assert opened([]) == ["a", "m"]
    assert opened(["a"]) == ["b", "m"]
    assert opened(["a", "b", "m"]) == ["v"]
    assert opened(["a", "b", "m", "v"]) == ["s"]
    assert opened(["a", "b", "m", "v", "s"]) == []


def test_a_work_sees_only_its_own_nodes_and_a_call_without_work_sees_all():
    assert opened([], "W-1") == ["a", "m"]
    assert opened([], "W-2") == []


def test_the_journal_keeps_what_covering_needs():
    by_name = {node["id"]: node for node in NODES}
    assert by_name["b"]["deletes"] == ["src/b.py"]
    assert by_name["m"]["files"] == ["src/m.py", "src/n.py"]
    assert by_name["m"]["deletes"] == ["src/m.py"]
    assert by_name["a"]["deletes"] == []
    assert by_name["v"]["checks"] == ["pytest -q"]
    assert by_name["s"]["files"] == by_name["s"]["checks"] == []
