# Two commands set everything up on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.ready

.PHONY: demo test check lint types layers bench docs lock clean

demo: $(STAMP)            ## the main job end to end, on a sample repository made on the spot
	$(BIN)/tether demo

test: check               ## everything the fast suite needs, lint and types included
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not slow"

slow: $(STAMP)            ## kill tests, replays of real histories, real servers and browsers
	$(BIN)/python -m pytest -m slow

check: lint types layers  ## ruff, mypy strict, import-linter

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	$(BIN)/mypy

layers: $(STAMP)
	$(BIN)/lint-imports

bench: $(STAMP)           ## every target, printed as a ratio against a peer or bound of the same run
	$(BIN)/python -m bench

docs: $(STAMP)            ## regenerate the CLI and configuration references
	$(BIN)/python -m docs.generate

lock:                     ## recompile the locked requirements (no registry address in them)
	$(BIN)/pip -q install uv
	$(BIN)/uv pip compile -q pyproject.toml --no-emit-index-url --no-header --no-annotate --generate-hashes --universal -o requirements/base.txt
	$(BIN)/uv pip compile -q pyproject.toml --group dev --no-emit-index-url --no-header --no-annotate --generate-hashes --universal -o requirements/dev.txt

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache

$(STAMP): requirements/dev.txt pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --require-hashes -r requirements/dev.txt
	$(BIN)/python -m pip install -q --no-deps --no-build-isolation -e .
	touch $@
