"""Docs fail the build when they lie."""

import re
import shlex
from pathlib import Path

import pytest
from docs import coverage
from docs.generate import PAGES

from tether.cli.frame import GROUPS, commands, load, parser_of

ROOT = Path(__file__).parent.parent
DOCS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "src").rglob("README.md")])


@pytest.mark.parametrize("name", sorted(PAGES))
def test_a_generated_reference_is_what_the_code_says(name, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    assert (ROOT / "docs" / name).read_text() == PAGES[name](), "run `make docs`"


@pytest.mark.parametrize("path", DOCS, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_lead_somewhere(path):
    for target in re.findall(r"\]\((?!https?:|#|mailto:)([^)#\s]+)", path.read_text()):
        assert (path.parent / target).exists(), f"{path.name} links to `{target}`"


@pytest.mark.parametrize("name", [n for n in commands() if n != "hook"])
def test_every_command_has_help_and_examples_that_parse(name):
    module = load(name)
    assert (module.__doc__ or "").strip()
    parser = parser_of(name)
    assert parser.description
    examples = module.EXAMPLES[name] if isinstance(module.EXAMPLES, dict) else module.EXAMPLES
    for line in examples.splitlines():
        line = line.split("#")[0].split(">")[0].split("|")[-1].strip()
        if line.startswith(f"tether {name} "):
            parser.parse_args(shlex.split(line)[2:])


def test_every_command_of_the_docs_exists():
    known = set(commands())
    for path in DOCS:
        for name in re.findall(r"`tether ([a-z-]+)", path.read_text()):
            assert name in known | {"mcp", "pack", "zoom", "search", "index", "context", "acp"}, (
                f"{path.name}: tether {name}"
            )


def test_the_overview_lists_every_command_once():
    listed = [name for group in GROUPS.values() for name in group]
    assert len(listed) == len(set(listed))


def test_the_readme_begins_with_the_two_commands_that_do_all_the_set_up():
    text = (ROOT / "README.md").read_text()
    assert text.index("make demo") < text.index("make test")
    assert len(text.splitlines()) <= 150


def test_agents_md_is_short():
    assert len((ROOT / "AGENTS.md").read_text().splitlines()) < 60


def test_spec_coverage_names_only_files_and_tests_that_exist():
    text = (ROOT / "docs/spec-coverage.md").read_text()
    rows = [
        line
        for line in text.splitlines()
        if line.startswith("|") and not line.startswith(("|---", "| requirement"))
    ]
    assert len(rows) >= 300
    for row in rows:
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        assert len(cells) == 4, row
        for name in re.findall(r"`([^`]+)`", cells[2]):
            assert (ROOT / name).exists() or (ROOT / "src/tether" / name).exists(), f"no file `{name}`: {row}"
        for name in re.findall(r"`([^`]+)`", cells[3]):
            file, _, test = name.partition("::")
            assert (ROOT / file).exists(), f"no test file `{file}`: {row}"
            assert not test or f"def {test}" in (ROOT / file).read_text(), f"no test `{name}`"
        if not cells[2] or cells[2] == "—":
            assert cells[3] == "—", f"a test without a module: {row}"


def test_the_summary_of_the_coverage_is_what_its_rows_add_up_to():
    text = coverage.PAGE.read_text()
    assert coverage.stated(text) == coverage.summary(text), "run `python -m docs.coverage --write`"
    for requirement, seed, module, test in coverage.rows(text):
        assert (module == "—") == (test == "—"), f"built means a module and a test: {seed}: {requirement}"


def test_every_decision_is_listed_and_numbered_in_order():
    listed = re.findall(r"\]\((\d{4}-[a-z0-9-]+\.md)\)", (ROOT / "docs/decisions/README.md").read_text())
    assert listed == sorted(p.name for p in (ROOT / "docs/decisions").glob("0*.md"))
    assert [int(name[:4]) for name in listed] == list(range(1, len(listed) + 1))


def test_the_architecture_page_names_every_part_of_the_house():
    text = (ROOT / "docs/architecture.md").read_text()
    parts = {
        p.stem for p in (ROOT / "src/tether").iterdir() if p.suffix == ".py" or (p / "__init__.py").exists()
    }
    for part in parts - {"__init__", "__main__"}:
        assert re.search(rf"^\| .*`{part}`", text, re.MULTILINE), f"`{part}` has no row"
