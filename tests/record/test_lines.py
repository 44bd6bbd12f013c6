import itertools
import multiprocessing
import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tether.record.contents import Contents
from tether.record.journal import Journal
from tether.record.lines import HUMAN, UNKNOWN, Lines, carry, compress, expand, reach
from tether.types import Change


class Diary:
    """A journal as the maps see it: changes of paths, in order."""

    def __init__(self, folder):
        self.contents = Contents(str(folder / "contents"))
        self.lines = Lines(str(folder / "lines"))
        self.changes = []

    def put(self, text):
        return "" if text is None else self.contents.put(text.encode())

    def add(self, path, before, after, author="ai", moved_from="", seq=None):
        seq = seq or len(self.changes) + 1
        change = Change(path, self.put(before), self.put(after), moved_from, author, f"r{seq}", seq)
        self.changes.append(change)

    def history(self, path, after):
        return [c for c in self.changes if path in (c.path, c.moved_from) and c.seq > after]

    def owners(self, path, renamed=None):
        return expand(self.lines.advance(path, self.history, self.contents, renamed).runs)


@pytest.fixture
def diary(tmp_path):
    return Diary(tmp_path)


def test_lines_that_stay_keep_their_owner_and_new_ones_get_the_new():
    old, runs = [b"a", b"b", b"c"], [(1, "x"), (2, "y")]
    assert carry(old, runs, [b"a", b"new", b" b"], "z") == [(1, "x"), (1, "z"), (1, "y")]


@given(st.lists(st.sampled_from("abc")))
def test_runs_are_the_owners_and_nothing_else(owners):
    runs = compress(owners)
    assert expand(runs) == owners
    assert all(first[1] != second[1] for first, second in itertools.pairwise(runs))


def test_a_created_file_is_its_creators(diary):
    diary.add("a", None, "1\n2\n")
    assert diary.owners("a") == ["ai:r1"] * 2


def test_what_stood_there_before_the_record_is_nobodys(diary):
    diary.add("a", "old\n", "old\nnew\n")
    assert diary.owners("a") == [UNKNOWN, "ai:r1"]


def test_what_changed_between_recorded_changes_is_a_humans(diary):
    diary.add("a", None, "1\n2\n")
    diary.add("a", "1\nhand\n2\n", "1\nhand\n2\n3\n")
    assert diary.owners("a") == ["ai:r1", HUMAN, "ai:r1", "ai:r2"]


def test_a_recorded_human_change_keeps_its_record(diary):
    diary.add("a", None, "1\n")
    diary.add("a", "1\n", "1\n2\n", author="human")
    diary.add("a", "1\n2\n", "1\n2\n3\n", author="mixed")
    assert diary.owners("a") == ["ai:r1", "human:r2", "mixed:r3"]


def test_maps_advance_step_by_step_or_all_at_once_to_the_same(tmp_path, diary):
    other = Diary(tmp_path / "other")
    steps = [(None, "1\n"), ("1\n", "1\n2\n"), ("0\n1\n2\n", "0\n2\n3\n"), ("0\n2\n3\n", None), (None, "1\n")]
    for before, after in steps:
        diary.add("a", before, after)
        other.add("a", before, after)
        other.owners("a")
        other.owners("a")
    assert diary.owners("a") == other.owners("a") == ["ai:r5"]


def test_switching_branches_restores_the_map_of_each(diary):
    diary.add("a", None, "base\n")
    diary.add("a", "base\n", "base\nside\n")
    diary.add("a", "base\n", "base\nmain\n")
    diary.add("a", "base\nside\n", "base\nside\nmore\n")
    assert diary.owners("a") == ["ai:r1", "ai:r2", "ai:r4"]


def test_a_move_carries_the_map(diary):
    diary.add("a", None, "1\n2\n")
    diary.add("b", "1\n2\n", "1\n2\n3\n", moved_from="a")
    assert diary.owners("b") == ["ai:r1", "ai:r1", "ai:r2"]
    assert diary.owners("a") == []


def test_a_move_carries_the_map_of_its_moment_even_if_the_old_path_lives_again(diary):
    diary.add("a", None, "1\n2\n")
    diary.add("b", "1\n2\n", "1\n2\n", moved_from="a")
    diary.add("a", None, "other\n")
    assert diary.owners("a") == ["ai:r3"]
    assert diary.owners("b") == ["ai:r1"] * 2


def test_two_files_can_change_places(diary):
    diary.add("a", None, "1\n")
    diary.add("b", None, "2\n")
    diary.add("a", "2\n", "2\n", moved_from="b", seq=3)
    diary.add("b", "1\n", "1\n", moved_from="a", seq=3)
    assert diary.owners("a") == ["ai:r2"]
    assert diary.owners("b") == ["ai:r1"]


def test_a_file_renamed_by_hand_is_known_by_its_content(diary):
    text = "".join(f"line {n}\n" for n in range(6))
    diary.add("a", None, text)
    diary.owners("a")
    diary.add("b", text, text + "more\n")
    assert diary.owners("b") == ["ai:r1"] * 6 + ["ai:r2"]


def test_a_content_too_plain_to_identify_a_file_does_not(diary):
    diary.add("a", None, "\n\n\n")
    diary.owners("a")
    diary.add("b", "\n\n\n", "\n\n\nmore\n")
    assert diary.owners("b") == [UNKNOWN] * 3 + ["ai:r2"]


def test_a_file_renamed_and_edited_by_hand_is_followed_where_git_knows(diary):
    text = "".join(f"line {n}\n" for n in range(6))
    diary.add("a", None, text)
    diary.add("b", text + "hand\n", text + "hand\nmore\n")
    assert diary.owners("b") == [UNKNOWN] * 7 + ["ai:r2"]
    renames = {"b": ["never recorded", "a"]}
    assert diary.owners("b", lambda path: renames.get(path, [])) == ["ai:r1"] * 6 + [HUMAN, "ai:r2"]
    assert diary.owners("b") == ["ai:r1"] * 6 + [HUMAN, "ai:r2"]


def test_lost_contents_make_lines_unknown_never_an_agents(diary):
    diary.add("a", None, "1\n")
    diary.add("a", "1\n", "1\nlost\n")
    diary.add("a", "1\nlost\n", "1\nlost\n3\n")
    lost = diary.changes[1].after
    os.unlink(os.path.join(diary.contents.folder, lost[:2], lost))
    assert diary.owners("a") == ["ai:r1", UNKNOWN, UNKNOWN]
    diary.add("a", "1\nlost\n3\n", "1\nlost\n3\n4\n")
    assert diary.owners("a") == ["ai:r1", UNKNOWN, UNKNOWN, "ai:r4"]


def test_an_end_that_is_lost_leaves_the_map_uncertain(diary):
    diary.add("a", None, "1\n")
    diary.add("a", "1\n", "2\n")
    lost = diary.changes[1].after
    os.unlink(os.path.join(diary.contents.folder, lost[:2], lost))
    state = diary.lines.advance("a", diary.history, diary.contents)
    assert not state.certain
    reach(state, diary.put("1\n2\n"), diary.contents)
    assert expand(state.runs) == ["ai:r1", UNKNOWN]


def test_a_spoilt_map_is_derived_again(diary):
    diary.add("a", None, "1\n")
    diary.owners("a")
    for damage in (b"", b"{", b"[]", b'{"format":1}', b'{"format":1,"path":"b"}'):
        with open(diary.lines._locate("a"), "wb") as file:
            file.write(damage)
        assert diary.owners("a") == ["ai:r1"]


def test_any_path_has_a_map(diary):
    for path in ("a/../b", "x\udcff", "ü" * 300, "-", " "):
        diary.changes.clear()
        diary.add(path, None, "1\n")
        assert diary.owners(path) == ["ai:r1"]


def test_former_names_that_explain_nothing_are_tried_once(diary):
    diary.add("b", "old\n", "old\nnew\n")
    asked = []

    def history(path, after):
        asked.append((path, after))
        return diary.history(path, after)

    for _ in range(2):
        diary.lines.advance("b", history, diary.contents, lambda path: ["a"])
    assert asked == [("b", 0), ("a", 0), ("b", 1)]


def _advance(folder, count):
    diary = Diary(folder)
    for n in range(count):
        diary.add(
            "a",
            None if not n else "".join(f"{k}\n" for k in range(n)),
            "".join(f"{k}\n" for k in range(n + 1)),
        )
        diary.owners("a")


def test_many_processes_advance_one_map_to_the_same_end(tmp_path, diary):
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=_advance, args=(tmp_path, 12)) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
    for n in range(12):
        diary.add(
            "a",
            None if not n else "".join(f"{k}\n" for k in range(n)),
            "".join(f"{k}\n" for k in range(n + 1)),
        )
    assert diary.owners("a") == [f"ai:r{n + 1}" for n in range(12)]


def test_the_journal_is_such_a_history(tmp_path, diary):
    journal = Journal.open(str(tmp_path / "journal.db"), create_id="11111111-1111-4111-8111-111111111111")

    def settle(path, before, after, moved_from="", record=""):
        change = {"path": path, "before": diary.put(before), "after": diary.put(after), "record": record}
        if moved_from:
            change["moved_from"] = moved_from
        journal.append("settled", {"tree": "t", "changes": [change]})

    settle("a", None, "1\n2\n", record="r1")
    settle("b", "1\n2\n", "1\n2\n3\n", moved_from="a", record="r2")
    settle("a", None, "new\n", record="r3")

    def history(path, after):
        return [Change(**change) for change in journal.touches("t", path, after)]

    states = {path: diary.lines.advance(path, history, diary.contents) for path in "ab"}
    assert expand(states["b"].runs) == ["ai:r1", "ai:r1", "ai:r2"]
    assert expand(states["a"].runs) == ["ai:r3"]
    journal.close()


def test_the_contents_still_needed_are_told(diary):
    diary.add("a", None, "1\n")
    diary.add("b", None, "2\n")
    diary.owners("a")
    diary.owners("b")
    assert diary.lines.hashes() == {diary.put("1\n"), diary.put("2\n")}


texts = st.lists(st.sampled_from(["a", "b", "c", "", "}", "x1", "x2"]), max_size=8).map(
    lambda lines: "".join(f"{line}\n" for line in lines)
)


@given(steps=st.lists(st.tuples(st.booleans(), texts), min_size=1, max_size=8))
@settings(max_examples=60, deadline=None)
def test_a_line_is_an_agents_only_if_a_recorded_change_brought_it(tmp_path_factory, steps):
    diary = Diary(tmp_path_factory.mktemp("maps"))
    now = None
    for recorded, text in steps:
        if recorded:
            diary.add("a", now, text)
        now = text
    owners = diary.owners("a")
    if diary.changes:
        final = next(text for recorded, text in reversed(steps) if recorded).split("\n")
        records = {change.record: change for change in diary.changes}
        for owner, line in zip(owners, final, strict=False):
            author, _, record = owner.partition(":")
            if author == "ai":
                after = diary.contents.get(records[record].after).decode().split("\n")
                assert line in after
