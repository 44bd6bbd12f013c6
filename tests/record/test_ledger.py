import json
import multiprocessing
import os
import random
import signal
import subprocess
import time

import pytest

from tether.errors import TetherError
from tether.record import ledger, trace
from tether.record.ledger import export, read, verify
from tether.types import Agent, Change

ONE = "11111111-1111-4111-8111-111111111111"
TWO = "22222222-2222-4222-8222-222222222222"


def make(seq, journal=ONE, path="a.py"):
    contents = {"x": f"line {seq}\n".encode()}
    return trace.build(
        [Change(path, "", "x")],
        contents.get,
        journal=journal,
        seq=seq,
        at="2026-01-01T00:00:00.000000Z",
        agent=Agent("s", name='"journal":"' + journal + '","seq":999'),
    )


def several(seqs, journal=ONE):
    return [(seq, make(seq, journal)) for seq in seqs]


def kinds(problems):
    return [(problem.kind, problem.seq) for problem in problems]


@pytest.fixture
def place(tmp_path):
    return str(tmp_path / ".orchestration" / "agent_trace.jsonl"), str(tmp_path / "state")


def lines_of(path):
    with open(path, "rb") as file:
        return file.read().splitlines(keepends=True)


def write(path, lines):
    with open(path, "wb") as file:
        file.writelines(lines)


def test_records_are_appended_once(place):
    path, state = place
    assert export(path, ONE, several([1, 4]), state=state).count == 2
    assert export(path, ONE, several([1, 4]), state=state).count == 0
    done = export(path, ONE, several([1, 4, 9]), state=state)
    assert (done.count, done.seq) == (1, 9)
    assert [trace.own(record)["seq"] for _, record in read(path)] == [1, 4, 9]
    assert verify(path) == []


def test_a_function_is_asked_only_for_what_follows(place):
    path, state = place
    asked = []

    def after(seq):
        asked.append(seq)
        return several(range(seq + 1, 4))

    export(path, ONE, after, state=state)
    export(path, ONE, after, state=state)
    assert asked == [0, 3]


def test_a_lost_or_outdated_cursor_changes_nothing(place, tmp_path):
    path, state = place
    export(path, ONE, several([1, 2]), state=state)
    export(path, TWO, several([1], TWO), state=str(tmp_path / "elsewhere"))
    for cursor in (tmp_path / "state").glob("*.json"):
        cursor.write_text('{"journal": "x"}')
    assert export(path, ONE, several([1, 2, 3]), state=state).count == 1
    assert verify(path) == []


def test_a_ledger_set_back_by_a_checkout_is_completed_with_the_same_lines(place):
    path, state = place
    export(path, ONE, several([1, 2]), state=state)
    shorter = lines_of(path)
    export(path, ONE, several([1, 2, 3, 4]), state=state)
    whole = lines_of(path)
    write(path, shorter)
    assert export(path, ONE, several([1, 2, 3, 4]), state=state).count == 2
    assert lines_of(path) == whole


def test_a_torn_last_line_is_set_aside_and_written_again(place):
    path, state = place
    export(path, ONE, several([1, 2, 3]), state=state)
    whole = lines_of(path)
    for cut in (1, 40, len(whole[-1]) - 2):
        write(path, [*whole[:-1], whole[-1][:cut]])
        done = export(path, ONE, several([1, 2, 3]), state=state)
        assert done.count == 1
        with open(done.torn, "rb") as file:
            assert file.read() == whole[-1][:cut]
        assert lines_of(path) == whole


def test_a_record_that_only_lacks_its_newline_is_kept(place):
    path, state = place
    export(path, ONE, several([1, 2]), state=state)
    whole = lines_of(path)
    write(path, [whole[0], whole[1].rstrip()])
    done = export(path, ONE, several([1, 2, 3]), state=state)
    assert (done.count, done.torn) == (1, "")
    assert lines_of(path)[:2] == whole


def test_a_torn_ledger_without_any_newline_is_mended(place):
    path, state = place
    export(path, ONE, several([1]), state=state)
    write(path, [lines_of(path)[0][:200]])
    with open(path, "ab") as file:
        file.write(b"{" * 20_000)
    assert export(path, ONE, several([1]), state=state).count == 1
    assert verify(path) == []


def test_a_link_in_the_ledgers_place_is_refused(place, tmp_path):
    path, state = place
    os.makedirs(os.path.dirname(path))
    victim = tmp_path / "victim"
    victim.write_text("mine\n")
    os.symlink(victim, path)
    with pytest.raises(TetherError, match="cannot append"):
        export(path, ONE, several([1]), state=state)
    os.unlink(path)
    os.rmdir(os.path.dirname(path))
    os.mkdir(tmp_path / "elsewhere")
    os.symlink(tmp_path / "elsewhere", os.path.dirname(path))
    with pytest.raises(TetherError, match="cannot append"):
        export(path, ONE, several([1]), state=state)
    assert victim.read_text() == "mine\n"
    assert os.listdir(tmp_path / "elsewhere") == []


def test_a_pipe_in_the_ledgers_place_is_refused(place):
    path, state = place
    os.makedirs(os.path.dirname(path))
    os.mkfifo(path)
    with pytest.raises(TetherError, match="not a regular file"):
        export(path, ONE, several([1]), state=state)


def test_a_record_of_another_journal_is_refused(place):
    path, state = place
    with pytest.raises(TetherError, match="not position 1 of this journal"):
        export(path, ONE, several([1], TWO), state=state)


def test_every_kind_of_damage_is_found(place):
    path, state = place
    export(path, ONE, several(range(1, 6)), state=state)
    good = lines_of(path)

    write(path, [good[0], good[1].replace(b"line", b"LINE").replace(b"a.py", b"b.py"), *good[2:]])
    assert kinds(verify(path)) == [("altered", 2)]

    write(path, [*good[:2], *good[3:]])
    assert kinds(verify(path)) == [("missing", 4)]

    write(path, good[1:])
    assert kinds(verify(path)) == [("missing", 2)]

    write(path, [good[0], good[2], good[1], *good[3:]])
    assert kinds(verify(path)) == [("reordered", 2)]

    write(path, [*good[:2], good[2][:50] + b"\n", *good[3:]])
    assert sorted(kinds(verify(path))) == [("missing", 4), ("unparsable", 0)]

    rewritten = ledger.link(
        {**make(2), "timestamp": "2020-01-01T00:00:00Z"}, trace.own(json.loads(good[1]))["prev"]
    )
    other = ledger.canonical(rewritten).encode() + b"\n"
    write(path, [good[0], other, *good[2:]])
    assert kinds(verify(path)) == [("missing", 3)]

    write(path, [*good[:2], other, *good[2:]])
    assert kinds(verify(path)) == [("doubled", 2)]


def test_an_end_cut_off_is_seen_only_with_the_journal_at_hand(place):
    path, state = place
    export(path, ONE, several(range(1, 6)), state=state)
    write(path, lines_of(path)[:3])
    assert verify(path) == []
    assert kinds(verify(path, ONE, several(range(1, 6)))) == [("behind", 4), ("behind", 5)]
    assert kinds(verify(path, ONE, several([1, 3]))) == [("altered", 2)]


def test_a_chain_forged_throughout_is_seen_with_the_journal_at_hand(place):
    path, state = place
    forged = [(1, {**make(1), "timestamp": "2020-01-01T00:00:00Z"}), (2, make(2))]
    export(path, ONE, forged, state=state)
    assert verify(path) == []
    assert kinds(verify(path, ONE, several([1, 2]))) == [("altered", 1)]


def test_other_tools_records_are_let_stand(place):
    path, state = place
    export(path, ONE, several([1]), state=state)
    with open(path, "a") as file:
        file.write('{"version":"0.1.0","id":"x","timestamp":"2026-01-01T00:00:00Z","files":[]}\n\n')
    export(path, ONE, several([1, 2]), state=state)
    assert verify(path) == []
    assert len(list(read(path))) == 3


def test_hostile_lines_are_reported_not_obeyed(place):
    path, state = place
    export(path, ONE, several([1]), state=state)
    deep = b'{"id":1,"files":' + b"[" * 100_000 + b"\n"
    odd = b'{"id":1,"files":[],"metadata":{"dev.tether":{"journal":7,"seq":"x"}}}\n'
    write(path, [deep, odd, b"\xff\xfe\n", b"[]\n", *lines_of(path)])
    assert [problem.kind for problem in verify(path)] == ["unparsable", "altered", "unparsable", "unparsable"]
    assert export(path, ONE, several([1, 2]), state=state).count == 1


def git(folder, *args):
    env = {
        **os.environ,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "a",
        "GIT_AUTHOR_EMAIL": "a@example.com",
        "GIT_COMMITTER_NAME": "a",
        "GIT_COMMITTER_EMAIL": "a@example.com",
    }
    return subprocess.run(
        ["git", *args], cwd=folder, env=env, check=True, capture_output=True, text=True
    ).stdout


def test_branches_of_two_clones_merge_without_conflict_and_verify(tmp_path):
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    ours.mkdir()
    git(ours, "init", "-qb", "main")
    (ours / ".gitattributes").write_text(".orchestration/" + ledger.ATTRIBUTES + "\n")
    path = ".orchestration/agent_trace.jsonl"
    export(str(ours / path), ONE, several([1, 2]), state=str(tmp_path / "s1"))
    git(ours, "add", "-A")
    git(ours, "commit", "-qm", "base")
    git(tmp_path, "clone", "-q", str(ours), str(theirs))
    export(str(theirs / path), TWO, several([1, 2, 3], TWO), state=str(tmp_path / "s2"))
    git(theirs, "commit", "-qam", "theirs")
    # one journal, two branches: both carry its record 3
    git(ours, "checkout", "-qb", "side")
    export(str(ours / path), ONE, several([1, 2, 3]), state=str(tmp_path / "s1"))
    git(ours, "commit", "-qam", "side")
    git(ours, "checkout", "-q", "main")
    export(str(ours / path), ONE, several([1, 2, 3, 4]), state=str(tmp_path / "s1"))
    git(ours, "commit", "-qam", "main")
    git(ours, "merge", "-q", "-m", "m1", "side")
    git(ours, "pull", "-q", "--no-rebase", "--no-edit", str(theirs), "main")
    assert verify(str(ours / path)) == []
    found = [(trace.own(r)["journal"], trace.own(r)["seq"]) for _, r in read(str(ours / path))]
    assert sorted(found) == [(ONE, 1), (ONE, 2), (ONE, 3), (ONE, 4), (TWO, 1), (TWO, 2), (TWO, 3)]
    assert export(str(ours / path), ONE, several(range(1, 6)), state=str(tmp_path / "s1")).count == 1
    assert verify(str(ours / path), ONE, several(range(1, 6))) == []


def _export_forever(path, state, clock, size):
    while True:
        # the journal grows with time, the same for every process
        end = clock.value

        def after(seq, end=end):
            for at in range(seq + 1, end + 1):
                record = make(at)
                record["metadata"]["padding"] = "x" * size
                yield at, record

        export(path, ONE, after, state=state)


@pytest.mark.slow
def test_no_record_is_lost_or_doubled_by_killed_exporters(place):
    path, state = place
    context = multiprocessing.get_context("fork")
    clock = context.Value("q", 0)
    rng = random.Random(5)
    workers = []

    def start():
        worker = context.Process(target=_export_forever, args=(path, state, clock, 60_000), daemon=True)
        worker.start()
        workers.append(worker)

    for _ in range(8):
        start()
    for _ in range(150):
        for _ in range(5):
            clock.value += 1
            time.sleep(rng.random() * 0.01)
        victim = workers.pop(rng.randrange(len(workers)))
        os.kill(victim.pid, signal.SIGKILL)
        victim.join()
        start()
    for worker in workers:
        os.kill(worker.pid, signal.SIGKILL)
        worker.join()

    def after(seq):
        for at in range(seq + 1, clock.value + 1):
            record = make(at)
            record["metadata"]["padding"] = "x" * 60_000
            yield at, record

    export(path, ONE, after, state=state)
    assert verify(path, ONE, after(0)) == []
    lines = lines_of(path)
    assert len(lines) == len(set(lines)) == clock.value
