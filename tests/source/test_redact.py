"""What redaction promises of any text at all."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tether.source import detect
from tether.source.redact import MARK, find, redact, redact_bytes, redact_value

KEY = "AKIA" + "Z7QW2MNB4XCV5LKJ"
TOKEN = "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7cF0hR3uX6"
PEM = "-----BEGIN RSA PRIVATE" + " KEY-----\n" + "MIIEow9xQ+/7bZ\n" * 12 + "-----END RSA PRIVATE KEY-----"

# Text made of what detectors look for, so that every branch is visited.
PIECES = st.sampled_from(
    (
        *(
            KEY,
            TOKEN,
            PEM,
            PEM.replace("\n", "\\n"),
            "password",
            "api_key",
            "token",
            " = ",
            ": ",
            '"',
            "'",
            "\n",
            " ",
        ),
        *("Tr0ub4dor&3", "postgres://bob:", "s3cr3tpw", "@host/db", "Authorization: Bearer ", "\r", "\r\n"),
        *(
            "kind: Secret\ndata:\n  a: ",
            "aGVsbG8gd29ybGQ=",
            "Cookie: sid=",
            "mysql -u root -p",
            "curl -u bob:",
        ),
        *("[REDACTED:jwt]", "[REDACTED:", "]", "--password ", "<password>", "</password>", "{", "}", "-----"),
        *("machine h login u password ", "\u2028", "İ", "é"),
    )
)
TEXTS = st.one_of(st.text(max_size=300), st.lists(PIECES, max_size=14).map("".join))


@settings(max_examples=150, deadline=None)
@given(TEXTS)
@example(f"{TOKEN}{KEY}")
@example(f"x{TOKEN} password={KEY}")
def test_redacting_twice_changes_nothing(text):
    once = redact(text).text
    assert redact(once).text == once


@settings(max_examples=150, deadline=None)
@given(TEXTS)
def test_spans_are_ordered_disjoint_and_inside_the_text(text):
    at = 0
    for finding in find(text):
        assert at <= finding.start < finding.end <= len(text)
        assert finding.label == f"[REDACTED:{finding.rule}]"
        at = finding.end


@settings(max_examples=150, deadline=None)
@given(TEXTS)
def test_every_line_keeps_its_number(text):
    # The bar keeps a last, emptied line countable.
    assert len((redact(text).text + "|").splitlines()) == len((text + "|").splitlines())


@settings(max_examples=150, deadline=None)
@given(TEXTS)
def test_what_is_outside_the_findings_is_untouched(text):
    result = redact(text)
    rest = result.text
    at = 0
    for finding in result.findings:
        before = text[at : finding.start] + finding.label
        assert rest.startswith(before)
        rest = rest[len(before) :].lstrip("\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029")
        at = finding.end
        while text[at : at + 1] and text[at] in "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029":
            at += 1
    assert rest == text[at:]


@settings(max_examples=150, deadline=None)
@given(TEXTS)
def test_how_much_was_read_before_does_not_matter(text):
    before = detect.MUCH_TEXT
    try:
        detect.MUCH_TEXT = 10**12
        plain = find(text)
        detect.MUCH_TEXT = 0
        assert find(text) == plain
    finally:
        detect.MUCH_TEXT = before


@settings(deadline=None)
@given(st.binary(max_size=300))
def test_any_bytes_are_taken(data):
    once = redact_bytes(data)
    assert redact_bytes(once) == once


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["password", "a", "token", "n"]), inner)
    ),
    max_leaves=8,
)


@settings(max_examples=80, deadline=None)
@given(JSON)
def test_any_structure_keeps_its_shape_and_is_redacted_once(value):
    once = redact_value(value)
    assert redact_value(once) == once
    assert type(once) is type(value)


def test_a_secret_is_replaced_by_its_kind_whatever_its_length():
    for secret, rule in (
        (KEY, "aws-access-key"),
        (TOKEN, "github-token"),
        (TOKEN + "q7Zp2" * 8, "github-token"),
    ):
        assert redact(f"see {secret} there").text == f"see [REDACTED:{rule}] there"


def test_a_multi_line_key_keeps_its_lines():
    result = redact(f"before\n{PEM}\nafter\n")
    assert "MII" not in result.text
    assert result.text.splitlines().index("after") == f"before\n{PEM}\nafter\n".splitlines().index("after")


def test_neighbouring_secrets_are_all_found():
    text = f'{{"a": "{TOKEN}", "b": "{KEY}"}}{KEY}|{TOKEN}'
    assert TOKEN not in redact(text).text
    assert KEY not in redact(text).text


def test_values_under_secret_names_go_whatever_they_look_like():
    given_value = {"user": "bob", "password": "tulip", "nested": {"api_key": ["orchid", ""], "max_tokens": 5}}
    assert redact_value(given_value) == {
        "user": "bob",
        "password": f"{MARK}named-secret]",
        "nested": {"api_key": [f"{MARK}named-secret]", ""], "max_tokens": 5},
    }


def test_placeholders_under_secret_names_stay():
    value = {"password": "${DB_PASSWORD}", "token": "<your-token>", "secret": "changeme"}
    assert redact_value(value) == value


def test_keys_and_bytes_and_tuples_are_redacted_too():
    assert redact_value({TOKEN: [KEY.encode()], "t": (KEY,)}) == {
        "[REDACTED:github-token]": [b"[REDACTED:aws-access-key]"],
        "t": ("[REDACTED:aws-access-key]",),
    }


def test_a_structure_too_deep_to_walk_is_withheld():
    deep: list[object] = [TOKEN]
    for _ in range(5000):
        deep = [deep]
    assert TOKEN not in repr_bounded(redact_value(deep))


def repr_bounded(value: object) -> str:
    while isinstance(value, list):
        value = value[0]
    return repr(value)


@pytest.mark.parametrize(
    "filler", ["a", " ", "\n", "key", "token=", "://", ":@", "-----BEGIN PRIVATE KEY-----"]
)
@pytest.mark.parametrize("times", [100_000])
def test_long_monotonous_input_comes_to_an_end(filler, times):
    # Anything worse than linear would not finish at this size.
    redact(filler * (times // len(filler)))


def test_importing_the_detector_brings_in_nothing_heavy():
    code = (
        "import sys; before = set(sys.modules); import tether.source.redact;"
        "print(' '.join(sorted(set(sys.modules) - before)))"
    )
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    heavy = {
        "typing",
        "dataclasses",
        "pathlib",
        "asyncio",
        "inspect",
        "tomllib",
        "yaml",
        "tree_sitter",
        "logging",
    }
    assert not heavy & set(out)
