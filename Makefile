# `make demo` and `make test` are all a fresh machine needs: Python >= 3.11, a C++ compiler, make.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check --quiet
NATIVE := $(wildcard native/*.cpp native/*/*.cpp native/*/*.hpp)
DATA   ?= ../shared/data
SANITIZED := build/sanitize

.PHONY: demo test snapshots test-postgres test-browser test-spark attack-tests fuzz sanitize bench scaling experiments lint docs clean

demo: $(VENV)/.built
	$(BIN)/veilset demo

# Looks a tenth as long as CI does; HYPOTHESIS_PROFILE=ci looks as long.
test: $(VENV)/.built
	$(BIN)/python -m pytest -n auto -m "not postgres and not browser and not spark and not attack"

# Records the sentences in tests/**/__snapshots__ anew, after their wording has changed. Read the difference.
snapshots: $(VENV)/.built
	$(BIN)/python -m pytest --snapshot-update -m "not postgres and not browser and not spark and not attack" tests

# Needs PostgreSQL's programs (initdb, pg_ctl, psql); a server of its own is started and stopped.
test-postgres: $(VENV)/.built
	$(BIN)/python -m pytest -m postgres tests

# Needs Debian's chromium. The pages are served and driven as users do it.
test-browser: $(VENV)/.built
	$(BIN)/python -m pytest -m browser tests

# Needs Java 17 (Debian: default-jre-headless); PySpark comes from the package registry. Spark runs on this machine.
test-spark: $(VENV)/.built
	$(PIP) install -c constraints.txt pandas pyspark
	$(BIN)/python -m pytest -m spark tests

# Attacks on promises, files, bundles and the machine: a minute or two at home; HYPOTHESIS_PROFILE=thorough is for a night.
attack-tests: $(VENV)/.built
	$(BIN)/python -m pytest -n auto -m attack tests/attacks

# Ten thousand damaged files for every reader: some six minutes.
fuzz: $(VENV)/.built
	MUTATIONS=10000 $(BIN)/python -m pytest -n auto tests/attacks/test_reading_fuzz.py

# The tests on kernels built with the address and undefined-behaviour sanitizers, once it is shown that those would notice.
sanitize: $(SANITIZED)/.built
	$(SANITIZED_PYTEST) tests/native/sanitized.py
	$(SANITIZED_PYTEST) -n auto -m "not no_sanitizer and not postgres and not browser and not spark and not attack" tests
	$(SANITIZED_PYTEST) -n auto -m "not no_sanitizer" tests/attacks/test_reading_fuzz.py

bench: $(VENV)/.built
	$(PIP) install -c constraints.txt mlxtend pyfim
	$(BIN)/python benchmarks/run.py --data $(DATA)

# Up to ten million transactions: takes long, writes benchmarks/SCALING.md.
scaling: $(VENV)/.built
	$(BIN)/python benchmarks/scaling.py

# The thesis' and the papers' experiments on our methods: takes hours, writes docs/experiments/.
experiments: $(VENV)/.built
	$(BIN)/python experiments/run.py --fresh --data $(DATA)

lint: $(VENV)/.built
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/clang-format --dry-run --Werror $(NATIVE) $(wildcard benchmarks/*.cpp tests/native/*/*.cpp)
	$(CXX) -std=c++20 -fsyntax-only -Inative benchmarks/our_loop.cpp

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

# An environment of its own, so that $(VENV) keeps the ordinary kernels; its other packages are those of $(VENV).
# RelWithDebInfo is not stripped, so that reports name functions.
$(SANITIZED)/.built: $(VENV)/.built
	@echo 'Building the kernels for $(SANITIZERS): a minute, once.'
	@$(BIN)/python -m venv --without-pip $(SANITIZED)
	@$(BIN)/python -c '$(SITE)' > "$$($(SANITIZED)/bin/python -c '$(SITE)')/packages.pth"
	@PATH="$(abspath $(BIN)):$$PATH" CXX="$(CXX)" $(PIP) --python $(SANITIZED)/bin/python install \
	  --no-deps --ignore-installed --no-build-isolation --config-settings=build-dir=$(SANITIZED)/cmake \
	  --config-settings=cmake.build-type=RelWithDebInfo --config-settings=cmake.define.VEILSET_SANITIZE=ON --editable .
	@touch $@

SITE := import sysconfig; print(sysconfig.get_path("purelib"))
SANITIZERS = $(foreach name,libasan.so libubsan.so,$(or $(wildcard $(shell $(CXX) -print-file-name=$(name))),\
  $(error make sanitize needs $(name), and $(CXX) has none. Install it, or name another compiler: make CXX=g++ sanitize)))

# The sanitizers must be loaded before Python. Python's allocator would hide overruns of small buffers from them, and pytest,
# if it captured all output, the report of a worker that they stop.
SANITIZED_PYTEST = LD_PRELOAD="$(SANITIZERS)" ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 PYTHONMALLOC=malloc \
  HYPOTHESIS_PROFILE=quick $(SANITIZED)/bin/python -m pytest --capture=sys

clean:
	rm -rf $(VENV) build dist veilset-demo
