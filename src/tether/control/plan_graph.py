"""The order of a plan's nodes: cycles, what comes before what, and which parts are independent. Pure."""

from __future__ import annotations

from tether.control.plan_model import ChangeNode, ValidateNode, files_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from tether.control.plan_model import Node, Plan


class Graph:
    """Nodes by id and, for each, everything it comes after. Sets are bit masks over places in `nodes`."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self.nodes = nodes
        self.place: dict[str, int] = {}
        for n, node in enumerate(nodes):
            self.place.setdefault(node.common.id, n)
        self.needs: list[list[int]] = [
            [self.place[name] for name in node.common.depends_on if name in self.place] for node in nodes
        ]
        self.order, self.cycle = self._sort()
        self.before = self._closure()
        self.kinds: dict[str, int] = {}
        for n, node in enumerate(nodes):
            self.kinds[node.common.kind] = self.kinds.get(node.common.kind, 0) | 1 << n

    def _sort(self) -> tuple[list[int], list[int]]:
        """An order in which every node follows what it needs, ties by place; and the nodes that have none."""
        waiting = [len(set(needs)) for needs in self.needs]
        users: list[list[int]] = [[] for _ in self.nodes]
        for n, needs in enumerate(self.needs):
            for need in set(needs):
                users[need].append(n)
        ready = [n for n, count in enumerate(waiting) if not count]
        order = []
        for n in ready:  # grows as it is walked
            order.append(n)
            for user in users[n]:
                waiting[user] -= 1
                if not waiting[user]:
                    ready.append(user)
        return order, self._trim([n for n, count in enumerate(waiting) if count], users)

    def _trim(self, stuck: list[int], users: list[list[int]]) -> list[int]:
        """Of the nodes that have no place in an order, those on a cycle and not only behind one."""
        left = set(stuck)
        ends = [n for n in stuck if not left.intersection(users[n])]
        while ends:
            n = ends.pop()
            left.discard(n)
            ends.extend(m for m in set(self.needs[n]) if m in left and not left.intersection(users[m]))
        return sorted(left)

    def _closure(self) -> list[int]:
        masks = [0] * len(self.nodes)
        for n in self.order:
            mask = 0
            for need in self.needs[n]:
                mask |= masks[need] | 1 << need
            masks[n] = mask
        return masks

    def comes_after(self, later: int, earlier: int) -> bool:
        """Whether one node can only start when the other is done."""
        return bool(self.before[later] >> earlier & 1)

    def levels(self) -> list[list[int]]:
        """Nodes in layers: each stands below everything it needs."""
        depth = [0] * len(self.nodes)
        for n in self.order:
            depth[n] = max((depth[need] + 1 for need in self.needs[n]), default=0)
        for n in self.cycle:
            depth[n] = 0
        layers: list[list[int]] = [[] for _ in range(max(depth, default=-1) + 1)]
        for n, level in enumerate(depth):
            layers[level].append(n)
        return layers


def kinds_before(graph: Graph, place: int) -> tuple[str, ...]:
    """The kinds of everything a node comes after."""
    return tuple(kind for kind, mask in graph.kinds.items() if graph.before[place] & mask)


def split(plan: Plan) -> dict[str, Any]:
    """`subAgentHints`: the parts of a plan that several agents can work on without meeting.

    Two changes belong together when one comes after the other or both touch a file. A check or side effect
    that needs several parts comes after all of them; one that several parts need comes before.
    """
    graph = Graph(plan.nodes)
    changes = [n for n, node in enumerate(plan.nodes) if isinstance(node, ChangeNode)]
    groups = _Groups(changes)
    owner: dict[str, int] = {}
    for n in changes:
        for file in files_of(plan.nodes[n]):
            groups.join(n, owner.setdefault(file, n))
    after: list[int] = [0] * len(plan.nodes)  # the changes that come after each node
    for n in changes:
        for m in range(len(plan.nodes)):
            if graph.before[n] >> m & 1:
                after[m] |= 1 << n
                if isinstance(plan.nodes[m], ChangeNode):
                    groups.join(n, m)
    ahead: list[int] = []
    behind: list[int] = []
    others = [n for n in range(len(plan.nodes)) if n not in groups.parent]

    def around(n: int) -> tuple[set[int], set[int]]:
        """The changes that come before a node, checked ones included, and those that come after."""
        node = plan.nodes[n]
        checked = node.maps_to if isinstance(node, ValidateNode) else ()
        earlier = {c for c in changes if graph.before[n] >> c & 1}
        earlier |= {graph.place[i] for i in checked if graph.place.get(i) in groups.parent}
        return earlier, {c for c in changes if after[n] >> c & 1}

    for n in others:
        earlier, later = around(n)
        if earlier and later:
            for c in earlier | later:
                groups.join(c, min(earlier | later))
    own: dict[int, list[int]] = {root: [] for root in groups.roots()}
    for n in others:
        earlier, later = around(n)
        met = {groups.root(c) for c in earlier | later}
        if len(met) == 1:
            own[met.pop()].append(n)
        elif later:
            ahead.append(n)
        else:
            behind.append(n)
    for c in changes:
        own[groups.root(c)].append(c)
    parts = sorted(sorted(members) for members in own.values())
    return {
        "recommended": len(parts) > 1,
        "splits": [_told(plan, part) for part in parts] if len(parts) > 1 else [],
        "before": [plan.nodes[n].common.id for n in ahead] if len(parts) > 1 else [],
        "after": [plan.nodes[n].common.id for n in behind] if len(parts) > 1 else [],
    }


def _told(plan: Plan, part: list[int]) -> dict[str, Any]:
    files = sorted({file for n in part for file in files_of(plan.nodes[n])})
    ids = [plan.nodes[n].common.id for n in part]
    return {
        "nodeIds": ids,
        "files": files,
        "reason": f"shares no file and no dependency with the rest: {len(files)} files, {len(ids)} nodes",
    }


class _Groups:
    """Union-find; the root of a group is its smallest member, so that answers do not depend on the order."""

    def __init__(self, members: list[int]) -> None:
        self.parent = {n: n for n in members}

    def root(self, n: int) -> int:
        while self.parent[n] != n:
            self.parent[n] = self.parent[self.parent[n]]
            n = self.parent[n]
        return n

    def join(self, one: int, other: int) -> None:
        a, b = self.root(one), self.root(other)
        self.parent[max(a, b)] = min(a, b)

    def roots(self) -> set[int]:
        return {self.root(n) for n in self.parent}
