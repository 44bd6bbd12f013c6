"""The index of one project: open it, ask it, keep it fresh."""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import time
from collections import OrderedDict
from collections.abc import Container, Sequence
from typing import TYPE_CHECKING, Any, Final

from tether.errors import TetherError
from tether.index.fragments import Fragment
from tether.index.freshness import Changes, days_old, decay, find_changes, is_fresh
from tether.index.indexer import Listen, Report, bring_up, open_store, update
from tether.index.lease import Lease
from tether.index.lexical import Candidate, rank_lexically
from tether.index.metrics import Metrics
from tether.index.query import Query, read_query
from tether.index.reading import SetAsideError, read_bytes, read_text, take_apart
from tether.index.results import Answer, Hit, make_hit
from tether.index.scan import scan_tree
from tether.index.segment import DamagedSegmentError
from tether.index.store import DamagedIndexError, FileRow, Store, destroy
from tether.index.terms import Lexicon
from tether.source.root import Root
from tether.source.walk import DEFAULT_EXCLUDED
from tether.types import noun, replace

if TYPE_CHECKING:
    from tether.index.semantic import Semantic, Spot

FOLDER: Final = os.path.join(".tether", "local", "index")
INLINE: Final = 50  # changed files that are indexed before a question is answered
SAME_LANGUAGE: Final = 1.2
OLD_FLOOR: Final = 0.95  # the most that age takes from a fragment in the default ranking
CACHED_TEXTS: Final = 256


@noun
class IndexStatus:
    """How the index stands."""

    total_files: int
    indexed_files: int
    pending_files: int
    stale_files: int
    last_indexed_at: str | None
    index_size_bytes: int
    aside: dict[str, int] = {}  # noqa: RUF012
    fragments: int = 0
    symbols: int = 0
    state: str = "ready"  # missing | building | ready | stale | damaged
    note: str = ""


class CodeIndex:
    """One project's index, for one process. Searching never waits for indexing."""

    def __init__(
        self, root: str, *, folder: str | None = None, exclude: Sequence[str] = DEFAULT_EXCLUDED
    ) -> None:
        self.root = Root(root)
        self.folder = os.path.join(self.root.path, FOLDER) if folder is None else folder
        self.exclude = tuple(exclude)
        self.lexicon = Lexicon()
        self.lease = Lease(self.folder)
        self.watched = False  # a watcher of this process keeps it fresh
        self.semantic: Semantic | None = None  # the lane of meaning, where it is wanted
        self.ranking = "default"  # default | seed
        self.damage = ""
        self._store: Store | None = None
        self._lock = threading.RLock()
        self._texts: OrderedDict[int, str] = OrderedDict()
        self.metrics = Metrics()

    def close(self) -> None:
        """Let files and the lease go."""
        with self._lock:
            if self._store is not None:
                self._store.close()
                self._store = None
            if self.semantic is not None:
                self.semantic.close()
            self.lease.release()
            self.root.close()

    def __enter__(self) -> CodeIndex:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ── reading ──────────────────────────────────────────────────────────────

    def store(self) -> Store | None:
        """The store to read from; None while there is none or it is damaged (`damage` says how)."""
        with self._lock:
            if self._store is None:
                try:
                    self._store = Store(self.folder)
                except FileNotFoundError:
                    return None
                except DamagedIndexError as error:
                    self.damage = str(error)
                    return None
            return self._store

    def _lose(self, error: Exception) -> None:
        self.damage = str(error)
        if self._store is not None:
            try:
                self._store.close()
            except (sqlite3.Error, BufferError):
                pass  # it is damaged already, and no longer used
            self._store = None

    def search(
        self,
        text: str,
        k: int = 10,
        *,
        language: str = "",
        path: str = "",
        speaking: str = "",
        fresh: bool = True,
    ) -> Answer:
        """The fragments that answer a question best, one a file.

        `language` and `path` (a glob) filter; `speaking` is the language the asker works in: it is preferred.
        With `fresh`, changes on disk are indexed first when they are few.
        """
        began = time.perf_counter()
        if not text.strip():
            raise TetherError("BAD_ARGUMENTS", "the question is empty", action="Say what to look for")
        k = max(1, min(k, 200))
        query = read_query(text, self.lexicon)
        notes: list[str] = []
        with self._lock:
            if fresh:
                notes += self.refresh()
            try:
                hits = self._ask(query, k, language, path, speaking)
            except (DamagedIndexError, DamagedSegmentError, sqlite3.DatabaseError) as error:
                self._lose(error)
                hits = None
            source = "index"
            if hits is None:
                source = "disk"
                found, complete = scan_tree(self.root, query, self.lexicon, k=k, exclude=self.exclude)
                hits = [hit for hit in found if not language or hit.language == language]
                why = f"damaged ({self.damage})" if self.damage else "not there yet"
                notes.append(f"the index is {why}: this answer was read from disk")
                if not complete:
                    notes.append("not every file could be read in time")
        spent = (time.perf_counter() - began) * 1000
        fresh_hits = sum(not hit.stale for hit in hits) if source == "index" else 0
        self.metrics.note_search(spent, len(hits), fresh_hits)
        return Answer(tuple(hits), tuple(notes), source, spent)

    def ask(self, query: Query, k: int) -> list[Hit]:
        """The hits of a question already taken apart; none while there is no index."""
        with self._lock:
            return self._ask(query, k, "", "", "") or []

    def _ask(self, query: Query, k: int, language: str, path: str, speaking: str) -> list[Hit] | None:
        store = self.store()
        if store is None or not store.read_meta("complete"):
            return None
        allowed = self._allowed(store, language, path) if language or path else None
        if self.semantic is not None:
            return self._ask_both(self.semantic, store, query, k, allowed, speaking)
        ranked = rank_lexically(store, query, self.lexicon, allowed=allowed, limit=k)
        hits = [
            hit for candidate in ranked if (hit := self._hit(store, candidate, query, speaking)) is not None
        ]
        hits.sort(key=lambda hit: -hit.relevance_score)
        return hits

    def _ask_both(
        self,
        semantic: Semantic,
        store: Store,
        query: Query,
        k: int,
        allowed: Container[int] | None,
        speaking: str,
    ) -> list[Hit]:
        from tether.index.fusion import NEAR, blend, rank_by_seed
        from tether.index.semantic import CANDIDATES

        near = semantic.near(store, query.text, CANDIDATES if self.ranking == "seed" else NEAR)
        lists = [[spot for spot in spots if allowed is None or spot.file.id in allowed] for spots in near]
        hits: list[Hit | None]
        if self.ranking == "seed":
            best = rank_by_seed(lists, speaking)[:k]
            hits = [self._hit_of_spot(store, spot, score, speaking, {}) for score, spot in best]
        else:
            ranked = rank_lexically(store, query, self.lexicon, allowed=allowed, limit=max(k, 50))
            hits = []
            for item in blend(ranked, lists, wants_tests=query.wants_tests, limit=k):
                hit = None
                if item.candidate is not None:
                    hit = self._hit(store, item.candidate, query, speaking)
                elif item.spot is not None:
                    hit = self._hit_of_spot(store, item.spot, item.score, speaking, item.ranks)
                if hit is not None:
                    cos = item.spot.cos if item.spot is not None else None
                    lanes = {**hit.lanes, **item.ranks}
                    hits.append(replace(hit, relevance_score=item.score, cos=cos, lanes=lanes))
        return sorted((hit for hit in hits if hit is not None), key=lambda hit: -hit.relevance_score)

    def _hit_of_spot(
        self, store: Store, spot: Spot, score: float, speaking: str, ranks: dict[str, float]
    ) -> Hit | None:
        fragments = store.fragments(spot.file.id, spot.ordinal, spot.ordinal + 1)
        if not fragments:
            return None
        about: dict[str, Any] = {
            "cos": spot.cos,
            "freshness": decay(days_old(spot.file)),
            "lang_boost": SAME_LANGUAGE if speaking and speaking == spot.file.language else 1.0,
            "lanes": ranks,
            "stale": not is_fresh(self.root, spot.file),
        }
        text = self.text_of(store, spot.file.id)
        return make_hit(spot.file, fragments[0], spot.ordinal, text, score, **about)

    def _allowed(self, store: Store, language: str, path: str) -> set[int]:
        from tether.source.ignore import Rules

        rules = Rules((path,)) if path else None
        return {
            row[0]
            for row in store.db.execute("SELECT id, path FROM file WHERE ? IN ('', language)", (language,))
            if rules is None or rules.decide(row[1], row[1].rsplit("/", 1)[-1], False)
        }

    def text_of(self, store: Store, file: int) -> str:
        """The indexed text of a file, kept at hand for the next question."""
        text = self._texts.get(file)
        if text is None:
            text = self._texts[file] = store.text(file)
            if len(self._texts) > CACHED_TEXTS:
                self._texts.popitem(last=False)
        else:
            self._texts.move_to_end(file)
        return text

    def _hit(self, store: Store, candidate: Candidate, query: Query, speaking: str) -> Hit | None:
        row = candidate.file
        boost = SAME_LANGUAGE if speaking and speaking == row.language else 1.0
        age = decay(days_old(row))
        score = candidate.score / (candidate.score + 1) * (OLD_FLOOR + (1 - OLD_FLOOR) * age) * boost
        about: dict[str, Any] = {"freshness": age, "lang_boost": boost, "lanes": candidate.lanes}
        if not is_fresh(self.root, row):
            return self._live(row, query, score, about)
        text = self.text_of(store, row.id)
        if candidate.line:
            fragments, first = store.fragments_at(row.id, candidate.line)
        else:
            fragments, first = self._passage(store, row, candidate.passage)
        if not fragments:
            return None
        at = choose_fragment(fragments, text, query, self.lexicon)
        return make_hit(row, fragments[at], first + at, text, score, **about)

    def _passage(self, store: Store, row: FileRow, passage: int) -> tuple[list[Fragment], int]:
        begins = json.loads(row.passages)
        if passage >= len(begins):
            return [], 0
        last = begins[passage + 1] if passage + 1 < len(begins) else 1 << 30
        return store.fragments(row.id, begins[passage], last), begins[passage]

    def _live(self, row: FileRow, query: Query, score: float, about: dict[str, Any]) -> Hit | None:
        """The best fragment of a file as it is on disk now; None when it is gone."""
        try:
            data, digest, _ = read_bytes(self.root, row.path)
            text = read_text(data, row.path)
        except SetAsideError:
            return None
        new = take_apart(row.path, text, digest, len(data), 0, self.lexicon)
        if not new.fragments:
            return None
        at = choose_fragment(new.fragments, text, query, self.lexicon)
        fresh = replace(row, hash=digest, language=new.language)
        return make_hit(fresh, new.fragments[at], at, text, score, stale=True, **about)

    # ── keeping fresh ────────────────────────────────────────────────────────

    def refresh(self) -> list[str]:
        """Index what changed if that is little; what the asker should know if it is not."""
        store = self.store()
        if store is None or not store.read_meta("complete"):
            if not self.lease.take():
                return ["another process is indexing this project"]
            return list(self.index().notes)
        if self.watched:
            return []
        try:
            changes = find_changes(self.root, store)
        except sqlite3.DatabaseError as error:
            self._lose(error)
            return [f"the index is damaged ({error})"]
        if not changes:
            return []
        many = len(changes.changed) + len(changes.gone)
        if many > INLINE:
            return [f"INDEX_STALE: {many} indexed files have changed; run `tether index`"]
        if not self.lease.take():
            return [f"{many or len(changes.folders)} changes are being indexed by another process"]
        try:
            self.apply(changes)
        finally:
            self.lease.release()
        return []

    def apply(self, changes: Changes) -> Report:
        """Index these changes; a changed folder means walking the tree, for files may have come."""
        with self._lock:
            store, _ = self._writable()
            if changes.folders:
                report = bring_up(self.root, store, self.lexicon, exclude=self.exclude)
            else:
                report = update(self.root, store, self.lexicon, changes.changed, gone=changes.gone)
                store.merge()
            self.metrics.note_reindexed(len(report.indexed))
            return report

    def _writable(self) -> tuple[Store, str]:
        """INVARIANT: only the holder of the lease writes."""
        if not self.lease.held:
            raise TetherError("COLLISION", "the index may only be written under its lease")
        if self._store is not None:
            return self._store, ""
        self._store, note = open_store(self.folder)
        return self._store, note

    def index(self, *, rebuild: bool = False, verify: bool = False, listen: Listen | None = None) -> Report:
        """Bring the index up to the tree, from nothing if asked or if it is damaged."""
        with self._lock, self.lease:
            note = self.damage
            if rebuild or note:
                self._lose(DamagedIndexError(""))
                destroy(self.folder)
            store, problem = self._writable()
            if verify:
                try:
                    store.verify()
                except DamagedIndexError as error:
                    self._lose(error)
                    destroy(self.folder)
                    store, problem = self._writable()[0], f"the index was damaged and is made again: {error}"
            self.damage = ""
            try:
                report = bring_up(self.root, store, self.lexicon, exclude=self.exclude, listen=listen)
            except (sqlite3.DatabaseError, DamagedIndexError, DamagedSegmentError) as error:
                if isinstance(error, sqlite3.OperationalError) and "locked" in str(error):
                    raise
                self._lose(error)
                destroy(self.folder)
                problem = f"the index was damaged and is made again: {error}"
                self.damage = ""
                store, _ = self._writable()
                report = bring_up(self.root, store, self.lexicon, exclude=self.exclude, listen=listen)
            self.metrics.note_reindexed(len(report.indexed))
            if note and not problem:
                problem = f"the index was damaged and is made again: {note}"
            return replace(report, notes=(problem,) if problem else ())

    def status(self) -> IndexStatus:
        """How the index stands against the tree."""
        with self._lock:
            store = self.store()
            if store is None:
                state = "damaged" if self.damage else "missing"
                return IndexStatus(0, 0, 0, 0, None, 0, state=state, note=self.damage)
            changes = find_changes(self.root, store)
            indexed = store.total_files()
            stale = len(changes.changed) + len(changes.gone)
            state = "ready" if store.read_meta("complete") else "building"
            if indexed and stale > indexed / 2:
                state = "stale"
            at = store.read_meta("last_indexed_at")
            size = sum(
                os.path.getsize(os.path.join(self.folder, name))
                for name in os.listdir(self.folder)
                if os.path.isfile(os.path.join(self.folder, name))
            )
            count = store.db.execute
            return IndexStatus(
                indexed,
                indexed - stale,
                len(changes.folders),
                stale,
                time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(float(at))) if at else None,
                size,
                dict(count("SELECT reason, count(*) FROM aside GROUP BY reason").fetchall()),
                count("SELECT count(*) FROM fragment").fetchone()[0],
                count("SELECT count(*) FROM symbol").fetchone()[0],
                state,
            )


def choose_fragment(fragments: Sequence[Fragment], text: str, query: Query, lexicon: Lexicon) -> int:
    """The fragment of a passage that holds most of the question, its own name counting twice."""
    if len(fragments) == 1:
        return 0
    terms = query.terms
    best, at = (-1.0, 0), 0
    for place, fragment in enumerate(fragments):
        held = text[fragment.start_char : fragment.end_char].lower()
        score = sum([1.0 + 0.1 * min(held.count(word), 5) for word in query.begins if word in held])
        if fragment.name:
            score += sum([terms.get(term, 0.0) for term in lexicon.split(fragment.name)])
            score += 5 * query.names.get(fragment.name, 0.0)
        rows = fragment.end_line - fragment.start_line
        if rows < 2:
            score *= 0.7  # a bare header says less than what it heads
        if (score, rows) > best:
            best, at = (score, rows), place
    return at
