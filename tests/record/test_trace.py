import json
import re
import uuid
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tether.errors import TetherError
from tether.record import clone, trace, why
from tether.record.contents import Contents
from tether.types import Agent, Change, Decision

JOURNAL = "0b0f5c3e-3f5b-4a57-9d0e-3a3df1f1c0de"
AT = "2026-01-02T03:04:05.000006Z"
SCHEMA = json.loads((Path(trace.__file__).parent / "agent_trace.schema.json").read_text())
# RFC 3986, written independently of the code under test
URI = re.compile(r"^[A-Za-z][A-Za-z0-9+.\-]*:(?:%[0-9A-Fa-f]{2}|[A-Za-z0-9\-._~:/?#@!$&'()*+,;=])+$")

checker = jsonschema.FormatChecker()


@checker.checks("uri")
def _is_uri(value):
    return bool(URI.match(value)) and value.count("#") <= 1


@checker.checks("date-time")
def _is_time(value):
    return bool(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)", value))


validator = jsonschema.Draft202012Validator(SCHEMA, format_checker=checker)


@pytest.fixture
def store(tmp_path):
    return Contents(str(tmp_path / "contents"))


def put(store, text):
    return store.put(text.encode()) if text is not None else ""


def build(store, *changes, **more):
    given = {"journal": JOURNAL, "seq": 7, "at": AT, "agent": Agent("s-1", model="anthropic/claude-opus-4-5")}
    record = trace.build(changes, store.get, **{**given, **more})
    validator.validate(record)
    json.dumps(record, ensure_ascii=False).encode()  # any JSON reader can take it
    return record


def ranges(record, file=0):
    return [
        (span["start_line"], span["end_line"]) for span in record["files"][file]["conversations"][0]["ranges"]
    ]


def test_the_id_is_the_uuid5_of_the_position_in_the_journal(store):
    record = build(store, Change("a", "", put(store, "x\n")))
    assert record["id"] == str(uuid.uuid5(uuid.UUID(JOURNAL), "7"))
    assert trace.derive_id(JOURNAL.upper(), 123) == str(uuid.uuid5(uuid.UUID(JOURNAL), "123"))


def test_a_journal_that_is_no_uuid_is_refused(store):
    with pytest.raises(TetherError, match="not a uuid"):
        build(store, Change("a", "", put(store, "x\n")), journal="journal")


def test_ranges_are_the_lines_the_change_introduced(store):
    before, after = put(store, "a\nb\nc\nd\n"), put(store, "a\nB\nc\nd\ne\nf\n")
    record = build(store, Change("m.py", before, after))
    assert ranges(record) == [(2, 2), (5, 6)]
    kept = trace.own(record)["files"][0]
    assert kept["kind"] == "modify"
    assert (kept["before"], kept["after"]) == (before, after)


def test_re_indented_lines_are_not_introduced(store):
    record = build(store, Change("m.py", put(store, "a\nb\n"), put(store, "  a\n\tb  \nc\n")))
    assert ranges(record) == [(3, 3)]


def test_content_hashes_are_of_the_exact_bytes_with_lf_newlines(store):
    import hashlib

    record = build(store, Change("m", "", store.put("  ü \r\nb\r\n".encode())))
    (span,) = record["files"][0]["conversations"][0]["ranges"]
    assert span["content_hash"] == "sha256:" + hashlib.sha256("  ü \nb\n".encode()).hexdigest()


def test_a_deleted_file_appears_without_ranges_and_with_what_it_was(store):
    before = put(store, "a\n")
    record = build(store, Change("gone.py", before, ""))
    assert record["files"][0]["path"] == "gone.py"
    assert ranges(record) == []
    kept = trace.own(record)["files"][0]
    assert (kept["kind"], kept["before"], kept["after"]) == ("delete", before, "")


def test_a_move_names_where_the_file_was(store):
    sha = put(store, "a\nb\n")
    kept = trace.own(build(store, Change("new", sha, sha, moved_from="old")))["files"][0]
    assert (kept["kind"], kept["moved_from"]) == ("move", "old")


def test_lines_of_several_hands_in_one_passage_keep_their_contributor(store):
    first, second, third = put(store, "a\n"), put(store, "a\nai\n"), put(store, "human\na\nai\n")
    record = build(store, Change("m", first, second), Change("m", second, third, author="human"))
    (conversation,) = record["files"][0]["conversations"]
    assert conversation["contributor"]["type"] == "mixed"
    by_line = {span["start_line"]: span["contributor"]["type"] for span in conversation["ranges"]}
    assert by_line == {1: "human", 3: "ai"}


def test_a_step_whose_content_is_lost_is_nobodys(store):
    first, third = put(store, "a\n"), put(store, "a\nx\n")
    record = build(store, Change("m", first, "1" * 64), Change("m", "1" * 64, third))
    assert record["files"][0]["conversations"][0]["contributor"]["type"] == "unknown"


def test_missing_contents_give_no_ranges_and_say_so(store):
    record = build(store, Change("big.bin", "", "2" * 64))
    assert ranges(record) == []
    assert trace.own(record)["files"][0]["content"] == "missing"


def test_binary_contents_give_no_ranges(store):
    assert ranges(build(store, Change("x.png", "", store.put(b"\x89PNG\0\n\n\n")))) == []


def test_the_intent_and_its_references_are_related(store):
    related = [
        "#12",
        "https://example.com/o/r/issues/3",
        "https://example.com/spec a",
        "RFC 3986",
        "spec:auth",
    ]
    record = build(store, Change("m", "", put(store, "x")), intent="INT-001", related=related)
    assert record["files"][0]["conversations"][0]["related"] == [
        {"type": "intent", "url": "urn:intent:INT-001"},
        {"type": "issue", "url": "urn:issue:12"},
        {"type": "issue", "url": "https://example.com/o/r/issues/3"},
        {"type": "spec", "url": "https://example.com/spec%20a"},
        {"type": "spec", "url": "urn:spec:RFC%203986"},
        {"type": "spec", "url": "urn:spec:auth"},
    ]


def test_the_decision_is_kept_whole(store):
    decision = Decision("allow", rules=("scope.owned",), policy="r3", approval="A-1", intent="INT-001")
    record = build(store, Change("m", "", put(store, "x")), decision=decision, node="N2", anchor="f" * 64)
    kept = trace.own(record)
    assert kept["decision"] == {
        "verdict": "allow",
        "rules": ["scope.owned"],
        "policy": "r3",
        "approval": "A-1",
    }
    assert (kept["node"], kept["anchor"], kept["agent"]) == ("N2", "f" * 64, {"session": "s-1"})


def test_the_revision_is_named_only_when_known(store):
    change = Change("m", "", put(store, "x"))
    assert "vcs" not in build(store, change)
    assert build(store, change, revision="a" * 40)["vcs"] == {"type": "git", "revision": "a" * 40}


@pytest.mark.parametrize(
    ("conversation", "url"),
    [
        ("", "urn:tether:session:s-1"),
        ("https://example.com/c/1?x=[2]#top", "https://example.com/c/1?x=%5B2%5D#top"),
        ("javascript:alert(1)", "urn:tether:session:s-1"),
        ("not a url", "urn:tether:session:s-1"),
        ("https://x/%zz", "urn:tether:session:s-1"),
        ("https://x/\n", "https://x/"),
    ],
)
def test_the_conversation_is_always_a_uri(store, conversation, url):
    record = build(store, Change("m", "", put(store, "x")), agent=Agent("s-1", conversation=conversation))
    assert record["files"][0]["conversations"][0]["url"] == url


def test_fingerprints_stand_for_the_introduced_lines_and_one_neighbour_each_side(store):
    record = build(store, Change("m", put(store, "a\nd\n"), put(store, "a\n b\nc\nd\n")))
    ((start, packed),) = trace.own(record)["files"][0]["lines"]
    assert start == 2
    assert trace.unpack(packed) == [trace.fingerprint(line) for line in (b"a", b"b", b"c", b"d")]


def test_fingerprints_mark_the_edges_of_a_file(store):
    ((_, packed),) = trace.own(build(store, Change("m", "", put(store, "a\n"))))["files"][0]["lines"]
    assert trace.unpack(packed) == [trace.EDGE, trace.fingerprint(b"a"), trace.EDGE]


def test_a_file_name_that_is_not_utf8_can_be_told_exactly(store):
    record = build(store, Change("bad\udcff.py", "", put(store, "x")))
    assert record["files"][0]["path"] == "bad\ufffd.py"
    assert bytes.fromhex(trace.own(record)["files"][0]["path_bytes"]) == b"bad\xff.py"


words = st.text(alphabet=st.characters(), max_size=40)
texts = st.none() | st.lists(st.sampled_from(["a", "b", " a", "", "é", "\r", "}\r"]), max_size=8).map(
    "\n".join
)


@given(
    paths=st.lists(words, min_size=1, max_size=3),
    texts=st.lists(st.tuples(texts, texts), min_size=1, max_size=4),
    agent=st.builds(Agent, session=words, name=words, model=words | st.just("m" * 999), conversation=words),
    authors=st.lists(words | st.sampled_from(["ai", "human", "mixed"]), min_size=1, max_size=4),
    intent=words,
    related=st.lists(words, max_size=3),
    moved=words,
)
@settings(max_examples=150)
def test_records_are_valid_whatever_they_are_made_of(
    tmp_path_factory, paths, texts, agent, authors, intent, related, moved
):
    store = Contents(str(tmp_path_factory.getbasetemp() / "hostile"))
    changes = [
        Change(paths[n % len(paths)], put(store, old), put(store, new), moved, authors[n % len(authors)])
        for n, (old, new) in enumerate(texts)
    ]
    record = build(store, *changes, agent=agent, intent=intent, related=related)
    for file in record["files"]:
        for conversation in file["conversations"]:
            assert all(span["start_line"] <= span["end_line"] for span in conversation["ranges"])
    assert trace.is_sound(record)


scalars = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
)


@given(data=st.data())
@settings(max_examples=200)
def test_a_record_of_another_shape_is_known_as_unsound_or_can_be_read(tmp_path_factory, data):
    store = Contents(str(tmp_path_factory.getbasetemp() / "shape"))
    decision = Decision("allow", rules=("r",))
    record = build(store, Change("a", "", put(store, "x\n")), decision=decision, intent="I")
    at, places = record, []
    while isinstance(at, (dict, list)) and at:
        key = data.draw(st.sampled_from(sorted(at) if isinstance(at, dict) else range(len(at))))
        places.append((at, key))
        at = at[key]
    holder, key = data.draw(st.sampled_from(places))
    holder[key] = data.draw(values)
    if trace.is_sound(record):
        list(clone._runs(record, {"a"}))
        why._describe({"id": "x", **record}, "a", 0, "ai", 1.0, "ledger", "")
