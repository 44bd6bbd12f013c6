import os
import subprocess

import jsonschema
import pytest

from tether.errors import TetherError
from tether.record import ledger, trace
from tether.record.catalog import Catalog
from tether.record.contents import Contents
from tether.record.lines import Lines
from tether.record.why import Why
from tether.source.git import find_repository
from tether.types import Agent, Change, Decision, plain

JOURNAL = "11111111-1111-4111-8111-111111111111"
START = 1_700_000_000


class Project:
    """A repository in which an agent's edits are recorded, as the gate records them."""

    def __init__(self, folder, name="project", journal=JOURNAL):
        self.root = folder / name
        self.state = folder / f"{name}-state"
        self.journal = journal
        self.contents = Contents(str(self.state / "contents"))
        self.lines = Lines(str(self.state / "lines"))
        self.changes, self.records = [], []
        self.minute = 0
        if not self.root.exists():
            self.root.mkdir(parents=True)
            self.git("init", "-qb", "main")

    @property
    def ledger(self):
        return str(self.root / ".orchestration" / "agent_trace.jsonl")

    def git(self, *args):
        when = f"{START + 60 * self.minute} +0000"
        env = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")} | {
            "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "GIT_EDITOR": "true",
            "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.com", "GIT_AUTHOR_DATE": when,
            "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.com", "GIT_COMMITTER_DATE": when,
        }  # fmt: skip
        done = subprocess.run(
            ["git", *args], cwd=self.root, env=env, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    def commit(self, message="work", *args):
        self.minute += 1
        self.git("add", "-A")
        self.git("commit", "-qm", message, *args)
        self.minute += 1

    def write(self, path, text):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)

    def read(self, path):
        return (self.root / path).read_text() if (self.root / path).exists() else None

    def edit(self, path, text, *, moved_from="", intent="INT-001", author="ai"):
        """The agent writes, and it is recorded; the record's id."""
        self.minute += 1
        seq = len(self.records) + 1
        before = self.read(moved_from or path)
        change = Change(
            path,
            self._put(before),
            self._put(text),
            moved_from,
            author,
            trace.derive_id(self.journal, seq),
            seq,
        )
        if moved_from:
            (self.root / moved_from).unlink()
        self.write(path, text)
        record = trace.build(
            [change],
            self.contents.get,
            journal=self.journal,
            seq=seq,
            at=f"2023-11-14T{22 + (13 * 60 + 20 + 60 * self.minute) // 3600:02d}:"
            f"{(13 + self.minute) % 60:02d}:20.000000Z",
            agent=Agent("s-1", name="coder", model="m/1", conversation="https://example.com/c/1"),
            decision=Decision("allow", rules=("scope.owned",), policy="p7", approval="A-1"),
            intent=intent,
            related=["#7"],
        )
        self.changes.append(change)
        self.records.append((seq, record))
        ledger.export(self.ledger, self.journal, self.records, state=str(self.state))
        return record["id"]

    def _put(self, text):
        return "" if text is None else self.contents.put(text.encode())

    def history(self, path, after):
        return [c for c in self.changes if path in (c.path, c.moved_from) and c.seq > after]

    def local(self, **more):
        """The one who asks where the edits were made."""
        by_id = {record["id"]: record for _, record in self.records}
        return Why(
            str(self.root),
            lines=self.lines,
            contents=self.contents,
            history=self.history,
            records=by_id.get,
            repo=find_repository(str(self.root)),
            journal=self.journal,
            **more,
        )

    def clone(self, folder, name="clone"):
        """The one who asks on a fresh clone."""
        self.git("clone", "-q", str(self.root), str(folder / name))
        home = str(folder / name)
        path = os.path.join(home, ".orchestration", "agent_trace.jsonl")
        return Why(home, catalog=Catalog(path, str(folder / f"{name}.db")), repo=find_repository(home))


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path)


def body(*names):
    return "".join(f"def {name}():\n    return compute_{name}()\n\n" for name in names)


def who(why, path):
    return [(answer.contributor, answer.record) for answer in why.ask_file(path)]


def test_an_answer_leads_from_the_line_to_the_conversation(project):
    identity = project.edit("a.py", "x = 1\n")
    answer = project.local().ask("a.py", 1)
    assert plain(answer) == {
        "path": "a.py",
        "line": 1,
        "contributor": "ai",
        "confidence": 0.99,
        "source": "journal",
        "record": identity,
        "timestamp": answer.timestamp,
        "intent": "INT-001",
        "related": [
            {"type": "intent", "url": "urn:intent:INT-001"},
            {"type": "issue", "url": "urn:issue:7"},
        ],
        "decision": {"verdict": "allow", "rules": ["scope.owned"], "policy": "p7", "approval": "A-1"},
        "conversation": "https://example.com/c/1",
        "model": "m/1",
        "agent": {"session": "s-1", "name": "coder"},
        "commit": "",
        "candidates": [],
        "note": "",
    }


def test_a_line_that_is_not_there_is_refused(project):
    project.edit("a.py", "x = 1\n")
    for line in (0, 2, -1):
        with pytest.raises(TetherError, match="has 1 lines"):
            project.local().ask("a.py", line)
    with pytest.raises(TetherError, match="does not exist"):
        project.local().ask("b.py", 1)


def test_a_path_may_be_spelt_otherwise_but_not_lead_outside(project, tmp_path):
    identity = project.edit("lib/a.py", "x = 1\n")
    os.symlink("lib", project.root / "link")
    for path in ("./lib/a.py", "lib/../lib/a.py", str(project.root / "lib" / "a.py"), "link/a.py"):
        answer = project.local().ask(path, 1)
        assert (answer.path, answer.record) == ("lib/a.py", identity)
    (tmp_path / "secret").write_text("x\n")
    os.symlink(tmp_path / "secret", project.root / "leak")
    os.mkfifo(project.root / "pipe")
    for path in ("../secret", str(tmp_path / "secret"), "leak", "pipe"):
        with pytest.raises(TetherError):
            project.local().ask(path, 1)


def test_lines_a_human_wrote_are_never_the_agents(project):
    project.write("a.py", body("old"))
    first = project.edit("a.py", body("old", "agent"))
    project.write("a.py", body("old", "hand", "agent"))
    second = project.edit("a.py", body("old", "hand", "agent", "more"))
    project.write("a.py", "# on disk\n" + body("old", "hand", "agent", "more"))
    assert who(project.local(), "a.py") == [
        ("human", ""),
        *[("unknown", "")] * 3,
        *[("human", "")] * 3,
        *[("ai", first)] * 3,
        *[("ai", second)] * 3,
    ]


def test_moved_and_re_indented_lines_stay_whose_they_were(project):
    identity = project.edit("a.py", body("one", "two", "three"))
    moved = (
        body("one") + "class K:\n" + "".join(f"    {line}\n" for line in body("two", "three").splitlines())
    )
    project.write("a.py", moved)
    expected = [("ai", identity)] * 3 + [("human", "")] + [("ai", identity)] * 6
    assert who(project.local(), "a.py") == expected


@pytest.mark.parametrize("committed", [True, False])
def test_a_file_renamed_by_git_keeps_its_answers(project, committed):
    identity = project.edit("a.py", body("one", "two", "three"))
    project.commit()
    (project.root / "lib").mkdir()
    project.git("mv", "a.py", "lib/b.py")
    if committed:
        project.write("lib/b.py", body("one", "two", "three") + "# by hand\n")
        project.commit("rename")
        project.git("mv", "lib/b.py", "lib/c d.py")
        project.commit("again")
        later = project.edit("lib/c d.py", body("one", "two", "three") + "# by hand\n# later\n")
        expected = [("ai", identity)] * 9 + [("human", ""), ("ai", later)]
        assert who(project.local(), "lib/c d.py") == expected
    else:
        assert who(project.local(), "lib/b.py") == [("ai", identity)] * 9


def test_a_recorded_move_keeps_its_answers(project, tmp_path):
    identity = project.edit("a.py", body("one", "two"))
    project.commit()
    later = project.edit("b.py", body("one", "two") + "# more\n", moved_from="a.py")
    project.commit()
    expected = [("ai", identity)] * 6 + [("ai", later)]
    assert who(project.local(), "b.py") == expected
    assert who(project.clone(tmp_path), "b.py") == expected


def prepare(project):
    """Three commits: an agent's, a human's, an agent's; what `why` should say."""
    project.write("README", "readme\n")
    project.commit("base")
    first = project.edit("a.py", body("one", "two"))
    project.commit("agent")
    project.write("a.py", body("one", "hand", "two"))
    project.commit("human")
    second = project.edit("a.py", body("one", "hand", "two", "three"))
    project.commit("agent again")
    return [*[("ai", first)] * 3, *[("human", "")] * 3, *[("ai", first)] * 3, *[("ai", second)] * 3]


def test_answers_survive_a_fresh_clone(project, tmp_path):
    expected = prepare(project)
    assert who(project.local(), "a.py") == expected
    why = project.clone(tmp_path)
    assert who(why, "a.py") == expected
    answer = why.ask("a.py", 1)
    assert (answer.source, answer.intent, answer.conversation) == (
        "ledger",
        "INT-001",
        "https://example.com/c/1",
    )
    assert answer.decision["rules"] == ["scope.owned"]


def test_answers_survive_squash(project, tmp_path):
    expected = prepare(project)
    base = project.git("rev-list", "--max-parents=0", "HEAD")
    project.git("reset", "-q", "--soft", base)
    project.git("commit", "-qm", "squashed")
    assert who(project.local(), "a.py") == expected
    assert who(project.clone(tmp_path), "a.py") == expected


def test_answers_survive_amend(project, tmp_path):
    expected = prepare(project)
    project.write("README", "readme, amended\n")
    project.commit("amended", "--amend")
    assert who(project.local(), "a.py") == expected
    assert who(project.clone(tmp_path), "a.py") == expected


def test_answers_survive_rebase(project, tmp_path):
    project.write("README", "readme\n")
    project.commit("base")
    project.git("checkout", "-qb", "side")
    first = project.edit("a.py", body("one", "two"))
    project.commit("agent")
    project.write("a.py", body("one", "hand", "two"))
    project.commit("human")
    project.git("checkout", "-q", "main")
    project.minute += 60
    project.write("README", "readme, later\n")
    project.commit("upstream")
    project.git("checkout", "-q", "side")
    project.git("rebase", "-q", "main")
    expected = [*[("ai", first)] * 3, *[("human", "")] * 3, *[("ai", first)] * 3]
    assert who(project.local(), "a.py") == expected
    assert who(project.clone(tmp_path), "a.py") == expected


def test_answers_survive_a_squash_merge_long_after(project, tmp_path):
    project.write("a.py", body("old"))
    project.commit("base")
    project.git("checkout", "-qb", "side")
    first = project.edit("a.py", body("old", "agent"))
    project.commit("agent")
    project.write("a.py", body("old", "agent", "hand"))
    project.commit("human")
    project.git("checkout", "-q", "main")
    project.minute += 60
    project.write("README", "upstream\n")
    project.commit("upstream")
    project.git("merge", "-q", "--squash", "side")
    project.minute += 1
    project.git("commit", "-qm", "squash-merged")
    expected = [("unknown", "")] * 3 + [("ai", first)] * 3 + [("human", "")] * 3
    assert who(project.local(), "a.py") == expected
    assert who(project.clone(tmp_path), "a.py") == expected


def test_lines_an_old_record_brought_are_not_its_again_when_a_human_rewrites_them(project, tmp_path):
    project.edit("a.py", body("one", "two", "three", "four"))
    project.commit("agent")
    project.write("a.py", body("one", "three", "four"))
    project.commit("human removes")
    project.write("a.py", body("one", "three", "four", "two"))
    project.commit("human writes it again")
    contributors = [answer.contributor for answer in project.clone(tmp_path).ask_file("a.py")]
    assert contributors == ["ai"] * 9 + ["human"] * 3


def test_a_staged_rename_is_followed_on_a_clone(project, tmp_path):
    expected = prepare(project)
    why = project.clone(tmp_path)
    subprocess.run(["git", "mv", "a.py", "b.py"], cwd=why.root, check=True)
    assert who(why, "b.py") == expected


@pytest.mark.parametrize("name", ['qu"ote.py', "ü ö.py", ":(top)x.py", "-x.py"])
def test_odd_names_are_names(project, tmp_path, name):
    identity = project.edit(name, body("one"))
    project.commit()
    project.write(name, body("one") + "# hand\n")
    project.commit()
    expected = [("ai", identity)] * 3 + [("human", "")]
    assert who(project.local(), name) == expected
    assert who(project.clone(tmp_path), name) == expected


def test_uncommitted_lines_on_a_clone_are_a_humans(project, tmp_path):
    expected = prepare(project)
    why = project.clone(tmp_path)
    with open(os.path.join(why.root, "a.py"), "a") as file:
        file.write("# mine\n")
    assert who(why, "a.py") == [*expected, ("human", "")]
    with open(os.path.join(why.root, "new.py"), "w") as file:
        file.write("x = 1\n")
    assert who(why, "new.py") == [("human", "")]


def test_work_of_others_is_found_in_the_ledger_they_sent(project, tmp_path):
    prepare(project)
    (tmp_path / "other").mkdir()
    project.git("clone", "-q", str(project.root), str(tmp_path / "other" / "project"))
    other = Project(tmp_path / "other", journal="22222222-2222-4222-8222-222222222222")
    other.minute = project.minute
    theirs = other.edit("a.py", other.read("a.py") + body("theirs"))
    other.commit("theirs")
    before = who(project.local(), "a.py")
    project.git("pull", "-q", str(other.root), "main")
    catalog = Catalog(project.ledger, str(tmp_path / "why.db"))
    assert who(project.local(catalog=catalog), "a.py") == [*before, *[("ai", theirs)] * 3]


def test_lines_older_than_the_ledger_are_unknown(project, tmp_path):
    project.write("old.py", body("old"))
    project.commit("before")
    project.edit("a.py", body("one"))
    project.commit("after")
    assert who(project.clone(tmp_path), "old.py") == [("unknown", "")] * 3


def test_a_plain_line_between_disagreeing_neighbours_is_ambiguous(project, tmp_path):
    project.write("README", "readme\n")
    project.commit("base")
    project.edit("a.py", "alpha_function()\n}\nomega_function()\n")
    project.write("a.py", "alpha_function()\nhuman_line_one()\n}\nhuman_line_two()\nomega_function()\n")
    project.commit("all")
    contributors = [answer.contributor for answer in project.clone(tmp_path).ask_file("a.py")]
    assert contributors[0] == contributors[4] == "ai"
    assert contributors[1] == contributors[3] == "human"
    assert contributors[2] in ("ambiguous", "human")


def test_without_history_only_what_the_ledger_knows_in_context_is_told(project, tmp_path):
    identity = project.edit("a.py", body("one", "two"))
    why = Why(str(project.root), catalog=Catalog(project.ledger, str(tmp_path / "why.db")))
    project.write("a.py", body("one", "two") + "# hand\n")
    project.write("b.py", body("one"))
    answers = who(why, "a.py")
    assert answers[:5] == [("ai", identity)] * 5
    assert answers[-1] == ("unknown", "")
    assert [answer.contributor for answer in why.ask_file("b.py")][:2] == ["ambiguous", "ambiguous"]


def test_nothing_recorded_is_unknown(project):
    project.write("a.py", "x\n")
    assert who(project.local(), "a.py") == [("unknown", "")]


def test_a_line_of_several_hands_names_the_hand(project, tmp_path):
    project.write("README", "readme\n")
    project.commit("base")
    contents = project.contents
    agent = contents.put(body("agent").encode())
    both = contents.put((body("agent") + body("hand")).encode())
    record = trace.build(
        [Change("a.py", "", agent), Change("a.py", agent, both, author="human")],
        contents.get, journal=JOURNAL, seq=1, at="2023-11-14T22:15:00Z", agent=Agent("s"),
    )  # fmt: skip
    ledger.export(project.ledger, JOURNAL, [(1, record)], state=str(project.state))
    project.write("a.py", body("agent") + body("hand"))
    project.commit("both")
    found = [answer.contributor for answer in project.clone(tmp_path).ask_file("a.py")]
    assert found == ["ai"] * 3 + ["human"] * 3


def test_answers_are_plain_data(project, tmp_path):
    prepare(project)
    for why in (project.local(), project.clone(tmp_path)):
        for answer in why.ask_file("a.py"):
            jsonschema.validate(plain(answer), {"type": "object", "required": ["contributor", "confidence"]})
