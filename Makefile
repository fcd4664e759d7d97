# `make demo` and `make test` are all a fresh machine needs: Python >= 3.11, a C++ compiler, make.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check --quiet
NATIVE := $(wildcard native/*.cpp native/*.hpp)
DATA   ?= ../shared/data

.PHONY: demo test bench lint docs clean

demo: $(VENV)/.built
	$(BIN)/veilset demo

test: $(VENV)/.built
	$(BIN)/python -m pytest -n auto

bench: $(VENV)/.built
	$(PIP) install -c constraints.txt pyfim
	$(BIN)/python benchmarks/run.py --data $(DATA)

lint: $(VENV)/.built
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# The command-line reference is generated; a test fails when it is not up to date.
docs: $(VENV)/.built
	$(BIN)/python -m veilset.cli.reference > docs/cli.md.new
	mv docs/cli.md.new docs/cli.md

$(VENV)/.tools: constraints.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("veilset needs Python 3.11 or later; found " + sys.version.split()[0] + ". Try: make PYTHON=python3.12 $(MAKECMDGOALS)" if sys.version_info < (3, 11) else 0)'
	@echo 'Setting up $(VENV): a minute or two, once.'
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) install -c constraints.txt cmake nanobind ninja scikit-build-core
	@touch $@

$(VENV)/.built: $(VENV)/.tools CMakeLists.txt $(NATIVE)
	@PATH="$(abspath $(BIN)):$$PATH" $(PIP) install -c constraints.txt --no-build-isolation --editable ".[dev]"
	@touch $@

clean:
	rm -rf $(VENV) build dist veilset-demo
