"""The journal: append-only, chained, shared, and honest about both."""

import itertools
import json
import multiprocessing
import sqlite3

import pytest

from tether.errors import TetherError
from tether.record.journal import Journal
from tether.record.verify import verify


@pytest.fixture
def journal(tmp_path):
    opened = Journal.open(str(tmp_path / "journal.db"), create_id="j1")
    yield opened
    opened.close()


def test_entries_come_back_in_order_and_chained(journal):
    for n in range(5):
        journal.append("note", {"n": n}, run="r", call=f"c{n}")
    entries = list(journal.entries())
    assert [e.body["n"] for e in entries] == list(range(5))
    assert all(b.prev == a.hash for a, b in itertools.pairwise(entries))
    assert journal.head().seq == 5
    assert verify(journal.path).problems == ()


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE entry SET body='{}' WHERE seq=1",
        "DELETE FROM entry WHERE seq=1",
        "INSERT OR REPLACE INTO entry SELECT seq, at, kind, run, call, '{}', prev, 'x' FROM entry WHERE seq=1",
        "INSERT INTO entry VALUES (99, '', '', '', '', '{}', 'x', 'y')",
        "INSERT INTO entry SELECT 3, at, kind, run, call, body, 'not the head', 'z' FROM entry WHERE seq=1",
    ],
)
def test_sql_cannot_change_what_was_written(journal, sql):
    journal.append("note", {"n": 1})
    journal.append("note", {"n": 2})
    db = sqlite3.connect(journal.path)
    with pytest.raises(sqlite3.DatabaseError, match="append-only"):
        db.execute(sql)
    db.close()
    assert verify(journal.path).problems == ()


def tamper(path, *statements):
    db = sqlite3.connect(path)
    for name in ("entry_no_update", "entry_no_delete", "entry_chained"):
        db.execute(f"DROP TRIGGER IF EXISTS {name}")
    for statement in statements:
        db.execute(statement)
    db.commit()
    db.close()


@pytest.mark.parametrize(
    ("statement", "kind"),
    [
        ("UPDATE entry SET body='{\"n\":7}' WHERE seq=2", "altered"),
        ("UPDATE entry SET at='2020' WHERE seq=2", "altered"),
        ("DELETE FROM entry WHERE seq=2", "missing"),
        ("UPDATE entry SET seq = CASE seq WHEN 2 THEN 30 WHEN 3 THEN 2 ELSE seq END", "altered"),
    ],
)
def test_verify_finds_what_a_determined_hand_changed(journal, statement, kind):
    for n in range(4):
        journal.append("note", {"n": n})
    tamper(journal.path, statement)
    kinds = {p.kind for p in verify(journal.path).problems}
    assert kind in kinds
    assert "trigger" in kinds


def test_a_cut_tail_shows_against_an_anchor_kept_elsewhere(journal):
    for n in range(4):
        last = journal.append("note", {"n": n})
    tamper(journal.path, "DELETE FROM entry WHERE seq=4")
    assert not [p for p in verify(journal.path).problems if p.kind != "trigger"]
    assert "anchor" in {p.kind for p in verify(journal.path, [(last.seq, last.hash)]).problems}


def test_a_forged_fact_does_not_follow_from_the_entries(journal):
    journal.append("enabled", {"on": False, "by": "me"})
    db = sqlite3.connect(journal.path)
    db.execute(
        "UPDATE fact SET val=? WHERE key='write_enabled'", (json.dumps({"on": True, "by": "me", "seq": 1}),)
    )
    db.commit()
    db.close()
    assert [p.kind for p in verify(journal.path).problems] == ["projection"]


def test_an_exception_inside_a_turn_leaves_nothing_behind(journal):
    with pytest.raises(RuntimeError), journal.turn() as turn:
        turn.append("note", {})
        raise RuntimeError
    assert journal.head().seq == 0
    journal.append("note", {})


def test_what_cannot_be_locked_in_time_is_an_error_not_a_wait_for_ever(journal, monkeypatch):
    journal.db.execute("PRAGMA busy_timeout=50")
    other = sqlite3.connect(journal.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(TetherError) as caught:
        journal.append("note", {})
    assert caught.value.code == "JOURNAL_UNAVAILABLE"
    other.execute("ROLLBACK")
    other.close()
    journal.append("note", {})


def test_a_file_that_is_no_journal_is_refused(tmp_path):
    path = tmp_path / "journal.db"
    path.write_bytes(b"not a database at all, but long enough to be looked at" * 40)
    with pytest.raises(TetherError) as caught:
        Journal.open(str(path), create_id="j")
    assert caught.value.code == "JOURNAL_BROKEN"


def test_an_absent_journal_is_not_made_by_looking(tmp_path):
    with pytest.raises(TetherError):
        Journal.open(str(tmp_path / "none.db"))
    assert not (tmp_path / "none.db").exists()


def _spend(path, count, results):
    journal = Journal.open(path)
    spent = 0
    for n in range(count):
        with journal.turn() as turn:
            held = turn.fact("approval", f"A{n}")
            if held["state"] == "approved":
                turn.append("decided", {"verdict": "allow", "mutating": False, "consumes": f"A{n}"})
                spent += 1
    results.put(spent)
    journal.close()


def test_a_single_use_approval_is_used_once_whoever_decides_at_the_same_time(tmp_path):
    path = str(tmp_path / "journal.db")
    journal = Journal.open(path, create_id="j1")
    for n in range(40):
        approval = {"id": f"A{n}", "call_hash": str(n), "state": "approved", "expires": 9e12, "session": ""}
        journal.append("asked", {"approval": approval})
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    workers = [context.Process(target=_spend, args=(path, 40, results)) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert sum(results.get() for _ in workers) == 40
    assert verify(path).problems == ()
    journal.close()


def _create(path, results):
    results.put(Journal.open(path, create_id="mine").id)


def test_processes_that_create_the_journal_at_once_agree_on_it(tmp_path):
    path = str(tmp_path / "journal.db")
    context = multiprocessing.get_context("fork")
    results = context.Queue()
    workers = [context.Process(target=_create, args=(path, results)) for _ in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
    assert {results.get() for _ in workers} == {"mine"}


def test_filters_and_pages_see_every_entry_once(journal):
    for n in range(2300):
        if n % 100 == 0:
            journal.append("rare", {"n": n}, run="a")
        else:
            journal.append("note", {"n": n}, run="b")
    assert len(list(journal.entries())) == 2300
    assert [e.body["n"] for e in journal.entries(kinds=("rare",))] == list(range(0, 2300, 100))
    assert len(list(journal.entries(limit=1500))) == 1500
    assert [e.body["n"] for e in journal.recent(2, run="a")] == [2200, 2100]
