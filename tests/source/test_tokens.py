"""Counts are exact, offline, and the same for everyone; the cache can only ever save time."""

from __future__ import annotations

import glob
import os
import sqlite3
import subprocess
import sys
import warnings

import pytest
import tiktoken
from hypothesis import given, settings
from hypothesis import strategies as st

from tether.errors import TetherError
from tether.source.tokens import EXACT, TokenCache, tokenizer

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # its way of opening its own data
    from bpe_openai import registry

# The reference engine, which is another program than ours, with vocabularies that need no network.
JUDGES = {name: tiktoken.Encoding(**registry.ENCODING_CONSTRUCTORS[name]()) for name in EXACT}

# Counts published for these vocabularies by their makers' own examples.
KNOWN = [
    ("o200k_base", "", 0),
    ("cl100k_base", "tiktoken is great!", 6),
    ("o200k_base", "tiktoken is great!", 6),
    ("cl100k_base", "antidisestablishmentarianism", 6),
    ("o200k_base", "antidisestablishmentarianism", 6),
    ("cl100k_base", "2 + 2 = 4", 7),
    ("o200k_base", "2 + 2 = 4", 7),
    ("cl100k_base", "お誕生日おめでとう", 9),
    ("o200k_base", "お誕生日おめでとう", 8),
]


@pytest.mark.parametrize(("name", "text", "count"), KNOWN)
def test_published_counts_are_met(name, text, count):
    assert tokenizer(name).count(text) == count


@pytest.mark.parametrize("name", EXACT)
@settings(max_examples=150, deadline=None)
@given(text=st.text(max_size=400))
def test_any_text_counts_as_an_independent_implementation_counts_it(name, text):
    assert tokenizer(name).count(text) == len(JUDGES[name].encode_ordinary(text))


@pytest.mark.parametrize("name", EXACT)
def test_real_code_counts_as_an_independent_implementation_counts_it(name):
    counter = tokenizer(name)
    files = sorted(glob.glob(os.path.join(os.path.dirname(os.__file__), "*.py")))[:40]
    assert len(files) > 20
    for path in files:
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read(20_000)
        assert counter.count(text) == len(JUDGES[name].encode_ordinary(text)), path


@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("special", ["<|endoftext|>", "<|im_start|>", "<|fim_prefix|>", "<|endofprompt|>"])
def test_special_tokens_in_a_text_are_plain_text(name, special):
    assert tokenizer(name).count(special) > 3


@pytest.mark.parametrize("filler", ["a", " ", "\n", "漢", "é", "=", "ab1", "-\n", "🎉"])
@pytest.mark.parametrize("name", ["o200k_base", "cl100k_base", "estimate"])
def test_a_megabyte_without_a_break_is_counted(name, filler):
    assert tokenizer(name).count(filler * (1_000_000 // len(filler))) > 1000


@pytest.mark.parametrize("name", ["o200k_base", "cl100k_base", "estimate"])
def test_lone_surrogates_are_counted_not_raised(name):
    assert tokenizer(name).count("caf\udce9 \ud800") > 0


def test_an_unknown_name_says_which_there_are():
    with pytest.raises(TetherError, match="o200k_base"):
        tokenizer("gpt2")


@given(st.text(max_size=300))
def test_the_estimate_is_the_sum_its_rule_says(text):
    weights = {1: 3, 2: 6, 3: 12, 4: 18}
    twelfths = sum(weights[len(char.encode("utf-8", "surrogatepass"))] for char in text)
    assert tokenizer("estimate").count(text) == (twelfths + 11) // 12


def test_the_estimate_is_near_for_code():
    with open(os.__file__, encoding="utf-8") as file:
        text = file.read()
    exact, estimate = tokenizer("o200k_base").count(text), tokenizer("estimate").count(text)
    assert 0.7 < estimate / exact < 1.4


# ── the cache ────────────────────────────────────────────────────────────────


class Counting:
    """A tokenizer that remembers how often it was asked."""

    def __init__(self, name: str = "length") -> None:
        self.name = name
        self.asked = 0

    def count(self, text: str) -> int:
        self.asked += 1
        return len(text)


def test_the_same_text_is_counted_once_even_by_another_process_of_the_project(tmp_path):
    counter = Counting()
    path = str(tmp_path / "deep" / "tokens.db")
    first = TokenCache(path)
    assert first.count("hello", counter) == 5
    assert first.count("hello", counter) == 5
    first.close()
    assert TokenCache(path).count("hello", counter) == 5
    assert counter.asked == 1


def test_counts_of_different_tokenizers_are_kept_apart(tmp_path):
    cache = TokenCache(str(tmp_path / "t.db"))
    one, two = Counting("one"), Counting("two")
    cache.count("x", one)
    cache.count("x", two)
    assert (one.asked, two.asked) == (1, 1)


@given(st.lists(st.text(max_size=20), max_size=20))
@settings(deadline=None, max_examples=30)
def test_the_cache_never_changes_a_count(texts):
    cache = TokenCache(":memory:")
    assert cache.count_many(texts, Counting()) == [len(text) for text in texts]
    assert cache.count_many(texts, Counting()) == [len(text) for text in texts]
    cache.close()


@pytest.mark.parametrize(
    "damage", [b"", b"not a database at all" * 100, b"SQLite format 3\0" + b"\xff" * 5000]
)
def test_a_damaged_cache_is_begun_again(tmp_path, damage):
    path = tmp_path / "t.db"
    path.write_bytes(damage)
    cache = TokenCache(str(path))
    counter = Counting()
    assert [cache.count("abc", counter) for _ in range(3)] == [3, 3, 3]
    assert counter.asked == 1
    cache.close()


def test_a_cache_that_cannot_be_written_only_costs_time(tmp_path):
    (tmp_path / "file").write_text("")
    cache = TokenCache(str(tmp_path / "file" / "t.db"))
    assert cache.count("abc", Counting()) == 3


def test_the_cache_stays_within_its_bound(tmp_path):
    path = str(tmp_path / "t.db")
    cache = TokenCache(path, limit=50)
    for n in range(300):
        cache.count(f"text {n}", Counting())
    counter = Counting()
    cache.count("text 299", counter)
    assert counter.asked == 0
    cache.count("text 0", counter)
    assert counter.asked == 1
    with sqlite3.connect(path) as database:
        (rows,) = database.execute("SELECT count(*) FROM counts").fetchone()
    database.close()
    assert rows <= 50
    cache.close()


def test_many_processes_share_one_cache(tmp_path):
    path = str(tmp_path / "t.db")
    code = (
        "import sys; from tether.source.tokens import TokenCache, tokenizer\n"
        "cache = TokenCache(sys.argv[1]); counter = tokenizer('estimate')\n"
        "texts = [f'text number {n % 40}' * 9 for n in range(400)]\n"
        "assert [cache.count(t, counter) for t in texts] == [counter.count(t) for t in texts]\n"
    )
    workers = [subprocess.Popen([sys.executable, "-c", code, path]) for _ in range(4)]
    assert [worker.wait() for worker in workers] == [0, 0, 0, 0]


def test_importing_the_module_loads_no_vocabulary():
    code = "import sys; import tether.source.tokens; print('rs_bpe' in sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "False"
