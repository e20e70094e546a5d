# Two commands on a fresh machine with Python 3.11 and make: `make demo` and `make test`.
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
RUNNING := $(VENV)/.running
DEVELOPING := $(VENV)/.developing
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile
PYTEST = $(BIN)/python -m pytest --numprocesses $(WORKERS) --dist worksteal
WORKERS ?= 3
# Byte code is kept, also where the environment says otherwise: without it every process of a test compiles what it imports.
export PYTHONDONTWRITEBYTECODE :=
LOCK = uv pip compile --universal --python-version 3.11 --generate-hashes --no-annotate --no-header --no-config
ROOM ?=
ROOMS := $(sort $(notdir $(patsubst %/,%,$(wildcard tests/[a-z]*/))))
ifneq ($(filter-out $(ROOMS),$(ROOM)),)
$(error there are no tests of a room $(ROOM); rooms are: $(ROOMS))
endif

.PHONY: demo test test-quick test-full check docs calibrate bench bench-full format lock pictures charts clean
.DEFAULT_GOAL := test

# What running needs, and what developing needs beside it: two locks, of which the second holds all of the first.
$(RUNNING): requirements.lock pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) --require-hashes -r requirements.lock
	$(INSTALL) --no-deps --no-build-isolation --editable .
	@touch $@

$(DEVELOPING): requirements-dev.lock pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) --require-hashes -r requirements-dev.lock
	$(INSTALL) --no-deps --no-build-isolation --editable .
	@touch $(RUNNING) $@

demo: $(RUNNING)  ## Run the main job offline, on simulated models.
	$(BIN)/dokimasia demo --home .dokimasia/demo

test: $(DEVELOPING)  ## Run the usual tests, or those of one room: make test ROOM=graphs.
	$(PYTEST) $(ROOM:%=tests/%)

test-quick: $(DEVELOPING)  ## Run the core of each room and one run end to end, in a minute.
	$(PYTEST) -m quick

test-full: $(DEVELOPING)  ## Run the tests that `make test` leaves out: more sizes, schemes, seeds and worlds.
	$(PYTEST) -m full $(ROOM:%=tests/%)

check: $(DEVELOPING)  ## Lint, type-check and test.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/basedpyright
	$(PYTEST)

docs: $(DEVELOPING)  ## Build the documentation site, warnings as errors.
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet

calibrate: $(DEVELOPING)  ## Hold every printed interval to its nominal coverage.
	$(BIN)/python -m benchmarks.calibration

bench: $(DEVELOPING)  ## Measure speed against peers, under fifteen minutes.
	$(BIN)/python -m benchmarks

bench-full: $(DEVELOPING)  ## The same with memory at 100,000 samples, the soak, 200 kills, and mutants of the statistics.
	$(BIN)/python -m benchmarks --full
	$(BIN)/python -m benchmarks.parsers --examples 1000000
	$(BIN)/python -m benchmarks.parsers.duels --examples 1000000
	$(BIN)/python -m benchmarks.mutation

format: $(DEVELOPING)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

lock:  ## Renew both locks from pyproject.toml (needs uv).
	$(LOCK) --extra dev pyproject.toml -o requirements-dev.lock
	$(LOCK) --extra build --constraint requirements-dev.lock pyproject.toml -o requirements.lock

pictures: $(DEVELOPING) .dokimasia/demo  ## Take the README's pictures from the demo's pages (needs Chromium).
	$(BIN)/python -m benchmarks.pictures .dokimasia/demo docs/images --front

.dokimasia/demo:
	$(BIN)/dokimasia demo --home .dokimasia/demo

CHARTS := $(VENV)/charts
charts:  ## Renew the library of the page's charts, with the traces that charts.entry.js names (needs npm).
	npm install --no-audit --no-fund --ignore-scripts --prefix $(CHARTS) plotly.js@4.1.1 esbuild@0.25.12
	cp dokimasia/report/charts.entry.js $(CHARTS)/
	cd $(CHARTS) && node_modules/.bin/esbuild charts.entry.js --bundle --minify --format=iife --global-name=Plotly \
		--banner:js='/* plotly.js v4.1.1, Copyright 2012-2026, Plotly, Inc. Licensed under the MIT license. In part. */' \
		--target=es2016 --charset=ascii --legal-comments=eof --define:global=window --define:define.amd=false \
		--outfile=plotly.js
	cp $(CHARTS)/plotly.js dokimasia/report/plotly.js

clean:
	rm -rf $(VENV) site .dokimasia .pytest_cache .ruff_cache
