"""Lines come out as they went in, however they were cut up, and nothing breaks the reader."""

import json
import os
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tether.edges.mcp import wire
from tether.edges.mcp.protocol import Fault


def read(data: bytes, cuts: list[int]):
    """What the reader makes of bytes that arrive in pieces."""
    given_, end = os.pipe()
    woken, wake = os.pipe()

    def feed():
        at = 0
        for cut in [*sorted(c % (len(data) + 1) for c in cuts), len(data)]:
            if cut > at:
                os.write(end, data[at:cut])
                at = cut
        os.close(end)

    feeder = threading.Thread(target=feed)
    feeder.start()
    try:
        return list(wire.read_lines(given_, woken))
    finally:
        feeder.join()
        for fd in (given_, woken, wake):
            os.close(fd)


@given(st.binary(max_size=300), st.lists(st.integers(min_value=0), max_size=5))
def test_every_line_arrives_once_and_whole(data, cuts):
    lines = data.split(b"\n")
    expected = lines if lines[-1] else lines[:-1]
    assert read(data, cuts) == expected


@given(st.lists(st.integers(0, 40), max_size=12), st.lists(st.integers(min_value=0), max_size=5))
def test_only_lines_beyond_the_cap_are_left_out(lengths, cuts):
    was = wire.LINE_CAP
    wire.LINE_CAP = 20
    try:
        got = read(b"".join(b"x" * n + b"\n" for n in lengths), cuts)
    finally:
        wire.LINE_CAP = was
    assert got == [b"x" * n if n <= 20 else None for n in lengths]


@given(st.binary(max_size=200))
def test_any_bytes_are_a_value_or_a_fault(data):
    try:
        wire.parse(data)
    except Fault as fault:
        assert fault.code in (-32700, -32600)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda s: st.lists(s) | st.dictionaries(st.text(), s),
    )
)
def test_a_message_is_one_line_that_reads_back_the_same(value):
    line = wire.spell({"value": value})
    assert line.endswith(b"\n") and line.count(b"\n") == 1
    assert json.loads(line) == {"value": value}


def test_a_lone_surrogate_does_not_cost_the_answer():
    assert json.loads(wire.spell({"text": "a\ud800b"})) == {"text": "a?b"}


def test_a_writer_whose_reader_has_left_says_so_instead_of_raising():
    given_, out = os.pipe()
    os.close(given_)
    writer = wire.Writer(out)
    writer.send({"id": 1, "result": {}})
    assert writer.gone
    writer.send({"id": 2, "result": {}})
    os.close(out)


def test_a_wake_ends_the_reading():
    given_, end = os.pipe()
    woken, wake = os.pipe()
    os.write(wake, b".")
    assert list(wire.read_lines(given_, woken)) == []
    for fd in (given_, end, woken, wake):
        os.close(fd)


@pytest.mark.parametrize("text", ["A-1\u202egnp", "x\x1b[2J", "tab\there", "nul\x00"])
def test_what_a_person_reads_cannot_be_rearranged(text):
    from tether.edges.mcp.asking import printable

    shown = printable(text)
    assert all(c.isprintable() or c == "\n" for c in shown)
    assert shown != text
