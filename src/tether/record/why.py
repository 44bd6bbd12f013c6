"""Why a line is there: line → record → intent → decision → conversation.

Where this machine saw the edits happen, the line map answers, compared with what is on disk now. Lines it
knows to have come from elsewhere, and everything on a fresh clone, are looked up in the ledger and git's
history. Both go by content, so rebase, squash and amend do not matter.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

from tether.errors import TetherError
from tether.record import clone
from tether.record.lines import HUMAN, UNKNOWN, State, expand, reach
from tether.record.patience import split
from tether.record.trace import clean, own
from tether.source.git import trace_renames
from tether.source.root import Root
from tether.types import noun

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from tether.record.catalog import Catalog, Row
    from tether.record.clone import Verdict
    from tether.record.lines import Contents, History, Lines
    from tether.source.git import Repo

_SURE: Final = 0.99
_LIMIT: Final = 64 << 20


@noun
class Answer:
    """Whose one line is, and everything recorded about how it came to be."""

    path: str
    line: int
    contributor: str  # ai | human | mixed | unknown | ambiguous
    confidence: float  # 0 to 1
    source: str  # journal: seen here; ledger: recognised; disk: not recorded; none: cannot be told
    record: str = ""  # id of the trace record
    timestamp: str = ""
    intent: str = ""
    related: tuple[dict[str, str], ...] = ()
    decision: dict[str, Any] = {}  # noqa: RUF012
    conversation: str = ""
    model: str = ""
    agent: dict[str, str] = {}  # noqa: RUF012
    commit: str = ""
    candidates: tuple[str, ...] = ()  # record ids, where more than one may be meant
    note: str = ""


class Why:
    """Answers for one working tree, from whatever of map, journal, ledger and git is at hand.

    `history` and `records` read the journal: the changes of a path, and a record by its id. `catalog`
    indexes the ledger. `journal` and `tree` name what the map already accounts for.
    """

    def __init__(
        self,
        root: str,
        *,
        lines: Lines | None = None,
        contents: Contents | None = None,
        history: History = lambda path, after: (),
        records: Callable[[str], dict[str, Any] | None] = lambda identity: None,
        catalog: Catalog | None = None,
        repo: Repo | None = None,
        journal: str = "",
        tree: str = "",
    ) -> None:
        self.root = root
        self.lines = lines
        self.contents = contents
        self.history = history
        self.records = records
        self.catalog = catalog
        self.repo = repo
        self.journal = journal
        self.tree = tree
        self._former: dict[str, list[str]] = {}

    def ask(self, path: str, line: int) -> Answer:
        """The answer for one line, counted from 1."""
        path, data = self._read(path)
        count = len(split(data))
        if not 1 <= line <= count:
            raise TetherError("BAD_ARGUMENTS", f"`{path}` has {count} lines; `{line}` is not one of them")
        return self._answer(path, data, [line - 1])[0]

    def ask_file(self, path: str) -> list[Answer]:
        """The answers for every line of a file."""
        path, data = self._read(path)
        return self._answer(path, data, range(len(split(data))))

    def _answer(self, path: str, data: bytes, wanted: Collection[int]) -> list[Answer]:
        owners = self._local(path, data)
        asked = [at for at in wanted if owners is None or owners[at] in (HUMAN, UNKNOWN)]
        verdicts = self._elsewhere(path, data, asked, known=owners is not None) if asked else {}
        answers = []
        for at in wanted:
            verdict = verdicts.get(at)
            if owners is not None and (verdict is None or not verdict.record):
                answers.append(self._explain_local(path, at, owners[at], verdict))
            elif verdict is not None:
                answers.append(self._explain(path, at, verdict))
            else:
                answers.append(Answer(path, at + 1, "unknown", 0.5, "none", note="nothing is recorded of it"))
        return answers

    def _local(self, path: str, data: bytes) -> list[str] | None:
        """Owners of the lines on disk by the map; None when this machine recorded nothing of the file."""
        if self.lines is None or self.contents is None:
            return None
        state = self.lines.advance(path, self.history, self.contents, self._formers)
        sha = sha256(data).hexdigest()
        if not state.versions:
            state = self._adopt(path, sha)
        if not state.versions:
            return None
        reach(state, sha, _WithDisk(self.contents, sha, data))
        return expand(state.runs)

    def _adopt(self, path: str, sha: str) -> State:
        """The map of the file this one was renamed from."""
        assert self.lines is not None and self.contents is not None
        found = self.lines.find(sha)
        for former in ([found] if found else []) + self._formers(path):
            state = self.lines.advance(former, self.history, self.contents, self._formers)
            if state.versions:
                return state
        return State(path)

    def _formers(self, path: str) -> list[str]:
        if path not in self._former:
            self._former[path] = trace_renames(self.repo, path) if self.repo else []
        return self._former[path]

    def _elsewhere(self, path: str, data: bytes, wanted: list[int], *, known: bool) -> dict[int, Verdict]:
        """What ledger and history say of lines the map does not."""
        if self.catalog is None:
            return {}
        self.catalog.refresh()
        if self.catalog.begins() is None:
            return {}

        def accounted(row: Row) -> bool:
            # INVARIANT: the map knew of these records and still did not give them the line
            return known and row.journal == self.journal and row.tree == self.tree

        if self.repo is None:
            return clone.recognise(self.catalog, path, data, wanted, accounted)
        return clone.Clone(self.repo, self.catalog, accounted).judge(path, data, wanted, self._formers)

    def _explain_local(self, path: str, at: int, owner: str, verdict: Verdict | None) -> Answer:
        author, _, identity = owner.partition(":")
        commit = verdict.commit if verdict else ""
        if not identity:
            if author == "human":
                note = "changed outside recorded calls"
                return Answer(path, at + 1, "human", 0.9, "disk", commit=commit, note=note)
            note = "older than the record, or its contents are no longer kept"
            return Answer(path, at + 1, "unknown", 0.5, "none", commit=commit, note=note)
        record = self.records(identity)
        if record is None and self.catalog is not None:
            self.catalog.refresh()
            row = self.catalog.find_by_id(identity)
            record = self.catalog.load(row.n) if row else None
        known = author if author in ("ai", "human", "mixed") else "unknown"
        if record is None:
            note = "its record is not in the journal or the ledger"
            return Answer(path, at + 1, known, 0.9, "journal", identity, commit=commit, note=note)
        return _describe(record, path, at, known, _SURE, "journal", commit)

    def _explain(self, path: str, at: int, verdict: Verdict) -> Answer:
        assert self.catalog is not None
        record = self.catalog.load(verdict.record) if verdict.record else None
        if record is not None:
            return _describe(record, path, at, verdict.author, verdict.confidence, "ledger", verdict.commit)
        rivals = [self.catalog.load(n) for n in verdict.candidates]
        sources = {"ambiguous": "ledger", "human": "disk"}
        return Answer(
            path,
            at + 1,
            verdict.author if not verdict.record else "unknown",
            verdict.confidence,
            sources.get(verdict.author, "none"),
            commit=verdict.commit,
            candidates=tuple(str(rival["id"]) for rival in rivals if rival),
            note=verdict.note,
        )

    def _read(self, path: str) -> tuple[str, bytes]:
        """Where a path leads inside the project, and what is there."""
        with Root(self.root) as root:
            data, spot = root.read(path, _LIMIT)
        return spot.path, data


class _WithDisk:
    """The kept contents and the one on disk."""

    def __init__(self, contents: Contents, sha: str, data: bytes) -> None:
        self._contents = contents
        self._sha = sha
        self._data = data

    def get(self, sha: str) -> bytes | None:
        return self._data if sha == self._sha else self._contents.get(sha)


def _describe(
    record: dict[str, Any], path: str, at: int, author: str, confidence: float, source: str, commit: str
) -> Answer:
    kept = own(record)
    files = record.get("files", ())
    name = clean(path)
    file = next((file for file in files if file.get("path") == name), files[0] if files else {})
    conversation: dict[str, Any] = next(iter(file.get("conversations", ())), {})
    related = tuple(conversation.get("related", ()))
    intent = next((link["url"] for link in related if link.get("type") == "intent"), "")
    return Answer(
        path=path,
        line=at + 1,
        contributor=author,
        confidence=confidence,
        source=source,
        record=str(record["id"]),
        timestamp=str(record.get("timestamp", "")),
        intent=intent.removeprefix("urn:intent:"),
        related=related,
        decision=dict(kept.get("decision", {})),
        conversation=str(conversation.get("url", "")),
        model=str(conversation.get("contributor", {}).get("model_id", "")),
        agent=dict(kept.get("agent", {})),
        commit=commit,
    )
