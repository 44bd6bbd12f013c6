"""The nouns: frozen, comparable, cheap."""

import pytest

from tether.types import Agent, Effect, Intent, plain, replace


def test_a_noun_cannot_be_changed():
    agent = Agent("s1")
    with pytest.raises(AttributeError, match="frozen"):
        agent.session = "s2"


def test_equal_fields_make_equal_nouns():
    assert Agent("s1", model="m") == Agent(session="s1", model="m")
    assert hash(Agent("s1")) == hash(Agent("s1"))
    assert Agent("s1") != Agent("s2")
    assert Agent("s1") != "s1"


def test_a_missing_or_unknown_field_is_an_error():
    with pytest.raises(TypeError, match="session"):
        Agent()
    with pytest.raises(TypeError, match="colour"):
        Agent("s1", colour="red")
    with pytest.raises(TypeError, match="at most"):
        Agent(*"abcdefgh")


def test_replace_changes_only_what_it_names():
    effect = Effect("write", "a.py", before="x")
    assert replace(effect, after="y") == Effect("write", "a.py", before="x", after="y")
    assert effect.after is None


def test_plain_gives_json_ready_data():
    intent = Intent("INT-1", "n", owned_scope=("a", "b"))
    assert plain({"intents": (intent,)})["intents"][0]["owned_scope"] == ["a", "b"]
