"""Pictures of plans."""

import re
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st
from tests.control.plans import change, escalate, plan, side_effect, validate

from tether.control.plan_picture import HEIGHT, WIDTH, draw_mermaid, draw_svg
from tether.control.plan_text import parse

SVG = "{http://www.w3.org/2000/svg}"


def read(*nodes):
    return parse(plan(*nodes))[0]


def test_mermaid_has_every_node_and_every_dependency():
    drawn = draw_mermaid(read(change(), validate(), escalate(), side_effect()))
    lines = drawn.splitlines()
    assert lines[0] == "flowchart TD"
    assert [line for line in lines if "-->" in line] == ["  n0 --> n1", "  n1 --> n3"]
    assert '  n0["c1<br/>modify src/auth/token.py"]:::change' in lines
    assert sum("classDef" in line for line in lines) == 4


def test_the_drawing_puts_every_node_below_what_it_depends_on_and_none_on_another():
    made = read(
        change("a", file="a.py"), change("b", file="b.py"), change("c", file="c.py", needs=("a", "b")),
        validate("v", maps=("a", "b", "c")), side_effect("s", needs=("v",)),
    )  # fmt: skip
    root = ElementTree.fromstring(draw_svg(made))
    boxes = {}
    for group in root.findall(f"{SVG}g"):
        name = group.findtext(f"{SVG}title").split(" ")[0]
        rect = group.find(f"{SVG}rect")
        boxes[name] = (int(rect.get("x")), int(rect.get("y")))
    assert set(boxes) == {"a", "b", "c", "v", "s"}
    for node in made.nodes:
        for need in node.common.depends_on:
            assert boxes[need][1] + HEIGHT < boxes[node.common.id][1]
    placed = list(boxes.values())
    for n, (x, y) in enumerate(placed):
        assert all(abs(x - u) >= WIDTH or abs(y - v) >= HEIGHT for u, v in placed[:n])
        assert x + WIDTH <= int(root.get("width"))
        assert y + HEIGHT <= int(root.get("height"))
    assert len(root.findall(f"{SVG}path")) == sum(len(node.common.depends_on) for node in made.nodes)


@given(st.text(max_size=40).filter(lambda t: t.strip() and "\x00" not in t))
def test_hostile_labels_stay_text(label):
    made = read(change(file=label), validate())
    root = ElementTree.fromstring(draw_svg(made))
    assert {child.tag for child in root.iter()} <= {
        SVG + tag for tag in ("svg", "title", "defs", "marker", "path", "rect", "g", "text")
    }
    line = draw_mermaid(made).splitlines()[1]
    assert re.fullmatch(r'  n0\["c1<br/>[^"\[\]{}()<>]*"\]:::change', line), line


def test_a_circle_and_an_empty_plan_are_drawn_too():
    assert ElementTree.fromstring(draw_svg(read(change("a", needs=("b",)), change("b", needs=("a",)))))
    assert ElementTree.fromstring(draw_svg(parse({})[0])) is not None
    assert draw_mermaid(parse({})[0]) == "flowchart TD\n"
