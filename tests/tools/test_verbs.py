"""The table of verbs says of each what a door needs to know."""

import jsonschema
import pytest

from tether.errors import TetherError
from tether.source.root import Root
from tether.tools import files, listing, patches, shell

VERBS = {**files.VERBS, **listing.VERBS, **patches.VERBS, **shell.VERBS}
READING = {"read_file", "glob"}


def test_every_verb_of_the_contract_is_there() -> None:
    changing = {"write_file", "edit_file", "apply_patch", "delete_file", "move_file", "run_command"}
    assert set(VERBS) == READING | changing
    assert {name for name, verb in VERBS.items() if not verb.mutating} == READING


@pytest.mark.parametrize("verb", VERBS.values(), ids=VERBS)
def test_a_verb_describes_itself_and_refuses_unknown_arguments(verb, tmp_path) -> None:
    jsonschema.Draft202012Validator.check_schema(verb.schema)
    assert verb.summary
    assert all(rule["description"] for rule in verb.schema["properties"].values())
    with Root(tmp_path) as root, pytest.raises(TetherError) as caught:
        verb.prepare(root, {verb.schema["required"][0] + "_": "x"})
    assert f"did you mean `{verb.schema['required'][0]}`?" in caught.value.message
