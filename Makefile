# Two commands on a fresh machine with Python 3.11 and make: `make demo` and `make test`.
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
PYTEST = $(BIN)/python -m pytest --numprocesses $(WORKERS) --dist worksteal
WORKERS ?= 2
ROOM ?=
ROOMS := $(sort $(notdir $(patsubst %/,%,$(wildcard tests/[a-z]*/))))
ifneq ($(filter-out $(ROOMS),$(ROOM)),)
$(error there are no tests of a room $(ROOM); rooms are: $(ROOMS))
endif

.PHONY: demo test check docs calibrate bench bench-full format lock clean
.DEFAULT_GOAL := test

$(STAMP): requirements.lock pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $(STAMP)

demo: $(STAMP)  ## Run the main job offline, on simulated models.
	$(BIN)/dokimasia demo --home .dokimasia/demo

test: $(STAMP)  ## Run all tests, or those of one room: make test ROOM=graphs.
	$(PYTEST) $(ROOM:%=tests/%)

check: $(STAMP)  ## Lint, type-check and test.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/basedpyright
	$(PYTEST)

docs: $(STAMP)  ## Build the documentation site, warnings as errors.
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet

calibrate: $(STAMP)  ## Hold every printed interval to its nominal coverage.
	$(BIN)/python -m benchmarks.calibration

bench: $(STAMP)  ## Measure speed against peers, under fifteen minutes.
	$(BIN)/python -m benchmarks

bench-full: $(STAMP)  ## The same with memory at 100,000 samples, the soak and 200 kills.
	$(BIN)/python -m benchmarks --full
	$(BIN)/python -m benchmarks.parsers --examples 1000000

format: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

lock:  ## Renew requirements.lock from pyproject.toml (needs uv).
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-annotate --no-header --no-config --extra dev pyproject.toml -o requirements.lock

clean:
	rm -rf $(VENV) site .dokimasia .pytest_cache .ruff_cache
