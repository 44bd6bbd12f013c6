"""A plan's graph as text a person can look at: Mermaid, or a drawing of its own in SVG. Pure."""

from __future__ import annotations

from tether.control.plan_graph import Graph
from tether.control.plan_model import ChangeNode, EscalateNode, SideEffectNode, ValidateNode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tether.control.plan_model import Node, Plan

WIDTH, HEIGHT, GAP_X, GAP_Y, MARGIN = 210, 56, 40, 52, 24
SWEEPS = 4  # passes over the layers that put nodes under what they need
LABEL = 28
FILLS = {"change": "#dbeafe", "validate": "#dcfce7", "escalate": "#fef3c7", "side_effect": "#fee2e2"}
STROKES = {"change": "#1d4ed8", "validate": "#15803d", "escalate": "#b45309", "side_effect": "#b91c1c"}
SHAPES = {"change": ("[", "]"), "validate": ("([", "])"), "escalate": (">", "]"), "side_effect": ("{{", "}}")}


def label(node: Node) -> str:
    """What a node is about, in a few words."""
    if isinstance(node, ChangeNode):
        return f"{node.operation} {node.file}"
    if isinstance(node, ValidateNode):
        return node.hooks[0].command if node.hooks else "no check"
    if isinstance(node, EscalateNode):
        return node.requested[0] if node.requested else "asks"
    if isinstance(node, SideEffectNode):
        return f"{node.type} behind {node.gate}"
    return ""


def draw_mermaid(plan: Plan) -> str:
    """The graph as a Mermaid flowchart."""
    lines = ["flowchart TD"]
    for n, node in enumerate(plan.nodes):
        opened, closed = SHAPES[node.common.kind]
        text = f"{_mermaid(node.common.id)}<br/>{_mermaid(_clip(label(node), 60))}"
        lines.append(f'  n{n}{opened}"{text}"{closed}:::{node.common.kind}')
    graph = Graph(plan.nodes)
    for n, needs in enumerate(graph.needs):
        lines.extend(f"  n{need} --> n{n}" for need in needs)
    used = {node.common.kind for node in plan.nodes}
    lines.extend(
        f"  classDef {kind} fill:{fill},stroke:{STROKES[kind]},color:#111827"
        for kind, fill in FILLS.items()
        if kind in used
    )
    return "\n".join(lines) + "\n"


def draw_svg(plan: Plan) -> str:
    """The graph as a drawing: layers from top to bottom, each node under what it depends on."""
    graph = Graph(plan.nodes)
    layers = _arrange(graph)
    widest = max((len(layer) for layer in layers), default=1)
    width = MARGIN * 2 + widest * WIDTH + (widest - 1) * GAP_X
    height = MARGIN * 2 + max(len(layers), 1) * HEIGHT + max(len(layers) - 1, 0) * GAP_Y
    place: dict[int, tuple[int, int]] = {}
    for row, layer in enumerate(layers):
        indent = (widest - len(layer)) * (WIDTH + GAP_X) // 2
        for column, n in enumerate(layer):
            place[n] = (MARGIN + indent + column * (WIDTH + GAP_X), MARGIN + row * (HEIGHT + GAP_Y))
    title = f"Plan {plan.work}: {len(plan.nodes)} nodes"
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img" font-family="system-ui, sans-serif" font-size="13">',
        f"<title>{_xml(title)}</title>",
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" '
        'orient="auto"><path d="M0 0L8 4L0 8z" fill="#6b7280"/></marker></defs>',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
    ]
    for n, needs in enumerate(graph.needs):
        lines.extend(_edge(place[need], place[n]) for need in needs)
    for n, node in enumerate(plan.nodes):
        lines.append(_box(node, *place[n]))
    return "\n".join([*lines, "</svg>"]) + "\n"


def _arrange(graph: Graph) -> list[list[int]]:
    """Layers whose order brings every node near what it is tied to, so that few lines cross."""
    layers = graph.levels()
    users: list[list[int]] = [[] for _ in graph.nodes]
    for n, needs in enumerate(graph.needs):
        for need in needs:
            users[need].append(n)
    for sweep in range(SWEEPS):
        ties = graph.needs if sweep % 2 == 0 else users
        where = {n: column - len(layer) / 2 for layer in layers for column, n in enumerate(layer)}
        for layer in layers if sweep % 2 == 0 else reversed(layers):
            weight = {
                n: sum(where[m] for m in ties[n]) / len(ties[n]) if ties[n] else where[n] for n in layer
            }
            layer.sort(key=lambda n: (weight[n], n))
            where.update({n: column - len(layer) / 2 for column, n in enumerate(layer)})
    return layers


def _edge(start: tuple[int, int], end: tuple[int, int]) -> str:
    x1, y1 = start[0] + WIDTH // 2, start[1] + HEIGHT
    x2, y2 = end[0] + WIDTH // 2, end[1]
    bend = max((y2 - y1) // 2, GAP_Y // 2)
    return (
        f'<path d="M{x1} {y1}C{x1} {y1 + bend} {x2} {y2 - bend} {x2} {y2}" fill="none" '
        'stroke="#6b7280" marker-end="url(#tip)"/>'
    )


def _box(node: Node, x: int, y: int) -> str:
    kind = node.common.kind
    text = label(node)
    return (
        f"<g><title>{_xml(f'{node.common.id} ({kind}): {text}')}</title>"
        f'<rect x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" rx="8" fill="{FILLS[kind]}" '
        f'stroke="{STROKES[kind]}"/>'
        f'<text x="{x + 12}" y="{y + 23}" font-weight="600" fill="#111827">{_xml(_clip(node.common.id))}</text>'
        f'<text x="{x + 12}" y="{y + 42}" fill="#374151">{_xml(_clip(text))}</text></g>'
    )


def _clip(text: str, most: int = LABEL) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _xml(text: str) -> str:
    """Hostile text made fit for XML: no markup, and no character XML does not have."""
    clean = "".join(c if c.isprintable() else " " for c in text)
    return clean.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


def _mermaid(text: str) -> str:
    """Hostile text made fit for a quoted Mermaid label: anything but plain characters as an entity."""
    return "".join(c if c.isalnum() or c in " ._-/:" else f"#{ord(c)};" for c in text if c.isprintable())
