"""The order of nodes and the parts of a plan that do not meet."""

from hypothesis import given
from hypothesis import strategies as st
from tests.control.plans import change, escalate, plan, side_effect, validate

from tether.control.plan_graph import Graph, split
from tether.control.plan_model import ChangeNode, files_of
from tether.control.plan_text import parse


def read(*nodes):
    made, _ = parse(plan(*nodes))
    return made


def test_disjoint_parts_are_splits_and_what_joins_them_comes_after():
    hints = split(
        read(
            change("a", file="src/a.py"),
            change("a2", file="src/a2.py", needs=("a",)),
            change("b", file="src/b.py"),
            validate("va", maps=("a2",)),
            validate("all", maps=("a2", "b")),
            side_effect("push", needs=("all",)),
            escalate("ask"),
        )
    )
    assert hints["recommended"] is True
    assert [(s["nodeIds"], s["files"]) for s in hints["splits"]] == [
        (["a", "a2", "va"], ["src/a.py", "src/a2.py"]),
        (["b"], ["src/b.py"]),
    ]
    assert (hints["before"], hints["after"]) == ([], ["all", "push", "ask"])


def test_one_part_is_no_split():
    whole = {"recommended": False, "splits": [], "before": [], "after": []}
    assert split(read(change("a"), change("b", needs=("a",)))) == whole
    assert split(read(change("a"), change("b"))) == whole, "one file is one part"
    assert split(read(escalate())) == whole


def test_a_check_between_two_changes_holds_them_together():
    parts = split(
        read(change("a", file="a.py"), validate("v", maps=("a",)), change("b", file="b.py", needs=("v",)))
    )
    assert not parts["recommended"]


def test_what_several_parts_need_comes_before_them():
    parts = split(
        read(escalate("e"), change("a", file="a.py", needs=("e",)), change("b", file="b.py", needs=("e",)))
    )
    assert parts["before"] == ["e"]
    assert [s["nodeIds"] for s in parts["splits"]] == [["a"], ["b"]]


@st.composite
def graphs(draw):
    count = draw(st.integers(1, 9))
    nodes = []
    for n in range(count):
        needs = draw(st.lists(st.integers(0, count - 1), max_size=3, unique=True))
        nodes.append(change(f"n{n}", file=f"f{draw(st.integers(0, 4))}.py", needs=[f"n{m}" for m in needs]))
    return read(*nodes)


def reaches(graph, start, end):
    seen, left = set(), list(graph.needs[start])
    while left:
        n = left.pop()
        if n == end:
            return True
        if n not in seen:
            seen.add(n)
            left.extend(graph.needs[n])
    return False


@given(graphs())
def test_the_order_respects_every_dependency_and_cycles_are_exactly_what_reaches_itself(made):
    graph = Graph(made.nodes)
    count = len(made.nodes)
    on_cycle = [n for n in range(count) if reaches(graph, n, n)]
    assert set(on_cycle) <= set(graph.cycle)
    assert bool(on_cycle) == bool(graph.cycle)
    place = {n: at for at, n in enumerate(graph.order)}
    for n in graph.order:
        assert all(place[m] < place[n] for m in graph.needs[n])
        assert all(graph.comes_after(n, m) == reaches(graph, n, m) for m in range(count))
    assert sorted(n for layer in graph.levels() for n in layer) == list(range(count))


@given(graphs())
def test_splits_share_no_file_and_no_dependency(made):
    graph = Graph(made.nodes)
    splits = split(made)["splits"]
    where = {name: n for n, part in enumerate(splits) for name in part["nodeIds"]}
    files = [set(part["files"]) for part in splits]
    assert all(not one & two for n, one in enumerate(files) for two in files[:n])
    for n, node in enumerate(made.nodes):
        for m in graph.needs[n]:
            if splits and n in graph.order and isinstance(made.nodes[m], ChangeNode):
                assert where[node.common.id] == where[made.nodes[m].common.id]
    if splits:
        assert {f for node in made.nodes for f in files_of(node)} == set().union(*files)
