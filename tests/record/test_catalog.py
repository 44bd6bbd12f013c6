import json

import pytest

from tether.record import ledger, trace
from tether.record.catalog import Catalog, gram
from tether.types import Agent, Change

ONE = "11111111-1111-4111-8111-111111111111"
TWO = "22222222-2222-4222-8222-222222222222"


def make(seq, journal=ONE, path="a.py"):
    contents = {"x": f"first {seq}\nsecond {seq}\n".encode()}
    return trace.build(
        [Change(path, "", "x", moved_from=f"old-{path}" if seq == 9 else "")],
        contents.get,
        journal=journal,
        seq=seq,
        at=f"2026-01-01T00:00:{seq:02d}.000000Z",
        agent=Agent("s"),
        revision="a" * 40,
    )


def several(seqs, journal=ONE):
    return [(seq, make(seq, journal)) for seq in seqs]


@pytest.fixture
def place(tmp_path):
    return str(tmp_path / "agent_trace.jsonl"), str(tmp_path / "state"), str(tmp_path / "why.db")


def seqs(rows):
    return [row.seq for row in rows]


ALWAYS = (float("-inf"), float("inf"))


def test_only_what_was_appended_is_read(place):
    path, state, database = place
    ledger.export(path, ONE, several([1, 2, 3]), state=state)
    catalog = Catalog(path, database)
    assert catalog.refresh() == 3
    assert catalog.refresh() == 0
    ledger.export(path, ONE, several([1, 2, 3, 4]), state=state)
    assert catalog.refresh() == 1
    assert seqs(catalog.find_by_path(["a.py"], *ALWAYS)) == [4, 3, 2, 1]


def test_a_merge_costs_only_the_lines_it_brought(place):
    path, state, database = place
    ledger.export(path, ONE, several([1, 2, 3]), state=state)
    catalog = Catalog(path, database)
    catalog.refresh()
    with open(path) as file:
        lines = file.readlines()
    other = ledger.canonical(ledger.link(make(1, TWO), "")) + "\n"
    with open(path, "w") as file:
        file.writelines([lines[0], other, *lines[1:], lines[1]])
    assert catalog.refresh() == 1
    for row in catalog.find_by_path(["a.py"], *ALWAYS):
        assert catalog.load(row.n)["id"] == row.id


def test_what_a_checkout_took_away_is_forgotten(place):
    path, state, database = place
    ledger.export(path, ONE, several([1, 2, 3]), state=state)
    catalog = Catalog(path, database)
    catalog.refresh()
    with open(path) as file:
        lines = file.readlines()
    with open(path, "w") as file:
        file.writelines(lines[:1])
    catalog.refresh()
    assert seqs(catalog.find_by_path(["a.py"], *ALWAYS)) == [1]
    assert catalog.find_by_id(make(2)["id"]) is None
    mark = [trace.fingerprint(line) for line in (b"first2", b"second2")]
    assert catalog.find_by_gram(gram(trace.EDGE, *mark)) == []


def test_records_are_found_by_path_time_and_lines(place):
    path, state, database = place
    ledger.export(path, ONE, several([1, 5, 9]), state=state)
    catalog = Catalog(path, database)
    catalog.refresh()
    start = catalog.begins()
    assert seqs(catalog.find_by_path(["a.py"], start, start + 4)) == [5]
    assert seqs(catalog.find_by_path(["old-a.py", "a.py"], *ALWAYS)) == [9, 5, 1]
    assert seqs(catalog.find_by_path(["old-a.py"], *ALWAYS)) == [9]
    mark = [trace.fingerprint(line) for line in (b"first5", b"second5")]
    assert seqs(catalog.find_by_gram(gram(trace.EDGE, *mark))) == [5]
    (row,) = catalog.find_by_gram(gram(*mark, trace.EDGE))
    assert (row.journal, row.revision) == (ONE, "a" * 40)
    assert catalog.paths(row.n) == {"a.py"}


def test_a_line_still_being_written_waits(place):
    path, state, database = place
    ledger.export(path, ONE, several([1]), state=state)
    whole = ledger.canonical(ledger.link(make(2), ""))
    with open(path, "a") as file:
        file.write(whole[:100])
    catalog = Catalog(path, database)
    assert catalog.refresh() == 1
    with open(path, "a") as file:
        file.write(whole[100:] + "\n")
    assert catalog.refresh() == 1
    assert seqs(catalog.find_by_path(["a.py"], *ALWAYS)) == [2, 1]


def test_a_record_altered_behind_the_index_is_not_given_out(place):
    path, state, database = place
    ledger.export(path, ONE, several(range(1, 40)), state=state)
    catalog = Catalog(path, database)
    catalog.refresh()
    with open(path, "rb") as file:
        data = file.read()
    with open(path, "wb") as file:
        file.write(data.replace(b"INT", b"TNI", 1).replace(b'"a.py"', b'"b.py"', 1))
    row = catalog.find_by_id(make(1)["id"])
    assert catalog.load(row.n) is None
    catalog.refresh(whole=True)
    assert catalog.load(catalog.find_by_id(make(1)["id"]).n)["id"] == make(1)["id"]


def test_no_ledger_is_an_empty_one(place):
    path, _, database = place
    catalog = Catalog(path, database)
    assert catalog.refresh() == 0
    assert catalog.begins() is None
    assert catalog.find_by_path(["a.py"], *ALWAYS) == []
    assert catalog.load(1) is None


def test_a_spoilt_index_is_made_anew(place):
    path, state, database = place
    ledger.export(path, ONE, several([1]), state=state)
    for damage in (b"not a database" * 1000, b""):
        with open(database, "wb") as file:
            file.write(damage)
        catalog = Catalog(path, database)
        assert catalog.refresh() == 1
        catalog._db.execute("UPDATE meta SET value = '0' WHERE key = 'format'")
        catalog.close()
        catalog = Catalog(path, database)
        assert catalog.refresh() == 1
        catalog.close()


@pytest.mark.parametrize(
    "line",
    [
        b"\xff\xfe",
        b"[" * 100_000,
        b"{}",
        b'{"id":1,"timestamp":"yesterday","files":[]}',
        b'{"id":1,"timestamp":"2026-01-01T00:00:00Z","files":[{"path":7}],"metadata":{"dev.tether":{"files":[{"lines":[[1,"!"]]}]}}}',
        b'{"id":1,"timestamp":"2026-01-01T00:00:00Z","files":7}',
        b'{"id":1,"timestamp":"2026-01-01T00:00:00Z","files":[],"metadata":{"dev.tether":{"seq":1e400}}}',
        json.dumps({"id": 1, "timestamp": 5, "files": [], "vcs": "git"}).encode(),
    ],
)
def test_hostile_lines_are_passed_over(place, line):
    path, state, database = place
    ledger.export(path, ONE, several([1]), state=state)
    with open(path, "ab") as file:
        file.write(line + b"\n")
    catalog = Catalog(path, database)
    catalog.refresh()
    assert seqs(catalog.find_by_path(["a.py"], *ALWAYS)) == [1]
