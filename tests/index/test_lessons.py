"""What a code base says of itself, and the model that learns it."""

from __future__ import annotations

import json
from pathlib import Path

from tether.cli.frame import run
from tether.embed.static import StaticModel
from tether.index.code import CodeIndex
from tether.index.lessons import collect_lessons


def lessons_of(index: CodeIndex) -> dict[str, str]:
    store = index.store()
    assert store is not None
    return dict(collect_lessons(store))


def test_docs_and_names_ask_for_the_code_below_them(index: CodeIndex) -> None:
    lessons = lessons_of(index)
    assert "find_price(product) * quantity" in lessons["The sum of all lines, taxes included."]
    assert "self.lines.append" in lessons["add line"]


def test_the_answer_does_not_hold_the_question(index: CodeIndex) -> None:
    for question, answer in lessons_of(index).items():
        assert question not in answer


def test_training_leaves_a_model_of_this_project_on_this_machine(tmp_path: Path, capsys) -> None:
    verbs, things = "open close read write find drop".split(), "door window letter basket lamp ladder".split()
    code = "".join(
        f"def {verb}_{thing}(house, number):\n"
        f'    """Lets a visitor {verb} the {thing} of a house."""\n'
        f"    entry = house.entries[number]\n    return entry.apply('{verb}', house.owner)\n\n\n"
        for verb in verbs
        for thing in things
    )
    (tmp_path / "house.py").write_text(code)
    assert run(["models", "train", "-C", str(tmp_path), "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert Path(made["path"]).is_relative_to(tmp_path / ".tether" / "local")
    built_in, own = StaticModel.open(), StaticModel.open(made["path"])
    assert own.name == made["name"] != built_in.name and own.dimension == built_in.dimension
    assert made["pairs"] >= 72
    assert (own.embed(["open the door"]) != built_in.embed(["open the door"])).any()


def test_a_project_that_says_little_is_not_learned_from(tmp_path: Path, capsys) -> None:
    (tmp_path / "one.py").write_text("def f(x):\n    return x\n")
    assert run(["models", "train", "-C", str(tmp_path)]) != 0
    assert "too little" in capsys.readouterr().err


def test_a_model_tells_what_it_is_and_how_fast(tmp_path: Path, capsys) -> None:
    assert run(["models", "info", "-C", str(tmp_path), "--json"]) == 0
    about = json.loads(capsys.readouterr().out)
    assert about["name"] == StaticModel.open().name and about["dimension"] == 256
    assert about["words"] > 10_000 and about["bytes"] == Path(about["path"]).stat().st_size
    assert run(["models", "bench", "-C", str(tmp_path)]) == 0
    assert "texts per second" in capsys.readouterr().out


def test_a_file_that_is_no_model_is_not_told_of(tmp_path: Path, capsys) -> None:
    (tmp_path / "x.bin").write_text("nothing")
    assert run(["models", "info", str(tmp_path / "x.bin"), "-C", str(tmp_path)]) != 0
    assert "not a model" in capsys.readouterr().err
