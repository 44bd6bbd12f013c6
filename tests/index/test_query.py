"""What a question holds as evidence."""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from tether.index.query import MOST_TERMS, read_query
from tether.index.terms import Lexicon

REPORT = """Saving a form with an empty date raises
Consider this:
```python
from shop.forms.fields import DateField
DateField(required=False).clean("")
```
Traceback (most recent call last):
  File "/usr/lib/python3.9/site-packages/shop/forms/fields.py", line 42, in clean
    value = self.to_python(value)
  File "C:\\work\\shop\\utils\\dateparse.py", line 7, in parse_date
ValueError: not a date
It worked before the last release and the documentation says that an empty value is allowed there too.
"""


def test_one_name_is_a_symbol_and_weighs_most() -> None:
    query = read_query("Session::store_all()", Lexicon())
    assert query.is_symbol
    assert max(query.names, key=lambda name: query.names[name]) == "store_all"


def test_a_report_gives_paths_modules_and_names() -> None:
    query = read_query(REPORT, Lexicon())
    assert query.is_report and not query.is_symbol
    assert "usr/lib/python3.9/site-packages/shop/forms/fields.py" in query.paths
    assert any(path.endswith("shop/utils/dateparse.py") for path in query.paths)
    assert ("shop", "forms", "fields") in query.modules
    assert {"DateField", "to_python", "parse_date"} <= query.names.keys()


def test_words_of_prose_are_not_names() -> None:
    assert read_query("how are routes registered", Lexicon()).names == {}


def test_asking_for_tests_is_noticed() -> None:
    assert read_query("tests for the cart total", Lexicon()).wants_tests
    assert not read_query("latest cart total", Lexicon()).wants_tests


def test_a_question_of_stop_words_alone_still_asks_something() -> None:
    assert read_query("if not in", Lexicon()).terms


@given(st.text(max_size=2_000))
def test_any_question_can_be_read(text: str) -> None:
    query = read_query(text, Lexicon())
    assert len(query.terms) <= MOST_TERMS


def test_hostile_questions_cost_little() -> None:
    for text in ("a." * 10_000, "/" * 20_000, "\n" * 20_000, "A_" * 10_000, "x" * 20_000, "a::" * 6_000):
        began = time.process_time()
        read_query(text, Lexicon())
        assert time.process_time() - began < 5  # not a speed test: the naive pattern takes hours
