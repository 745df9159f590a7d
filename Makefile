# make book   build the book into _build/html          make serve  show it on this machine only
# make test   every check, the rendered book included  make bench  the benchmark
# make lint   what reads the sources only, in seconds  make format repair what can be
# make lock   resolve requirements.in anew             make clean  remove what was built
# make pdf    print the book, and each chapter, into _build/pdf
# make mutants N=90 SEED=0    small changes of the library: which ones do the tests not notice?
# make newest chapters with newer packages than the pins': which verdicts move?
# make soak   chapters under unlikely parameters and seeds, sweeps and builds that are killed: hours
# Each command makes the environment .venv first, from the pins in requirements.lock.

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := book
MAKEFLAGS += --no-print-directory

PYTHONS := 3.11 3.12 3.13
PYTHON ?= $(shell for name in $(PYTHONS:%=python%) python3 python; do \
  if $$name -c "" 2>/dev/null; then command -v $$name; exit; fi; done; echo python3)
BIN := .venv/bin
PIP := $(BIN)/python -m pip --quiet --quiet --disable-pip-version-check --no-input
PORT ?= 8000
WORKERS ?= $(shell nproc 2>/dev/null || echo 2)

.PHONY: book pdf test lint format serve bench mutants newest soak lock clean setup venv browser jail nbgrader

book: setup
	@$(BIN)/lowdim book

# Printed from the built pages by the browser that the tests use.
pdf: book browser
	@$(BIN)/lowdim pdf

# Tests are shared out over the cores; a chapter is one test, and so are, in a way, the
# tests of a page (tests/conftest.py). The chapters are compared first: the book then shows
# these runs, and executes none again. What is left reads the book.
NOTEBOOKS := tests/chapters/test_notebooks.py
PYTEST := $(BIN)/python -m pytest --import-mode=importlib -n $(WORKERS) --durations 25 --durations-min 5
test: lint browser jail nbgrader
	@$(PYTEST) $(NOTEBOOKS)
	@$(BIN)/lowdim book
	@$(PYTEST) --ignore=$(NOTEBOOKS)

# Layout and rules of the library and of the chapters, the order of the rooms, types. The hooks of
# .pre-commit-config.yaml are these five.
lint: setup
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/ruff check --quiet .
	@$(BIN)/python tools/chapters.py
	@told=$$($(BIN)/lint-imports --no-cache --no-logo 2>&1) || { echo "$$told" >&2; exit 1; }
	@$(BIN)/mypy --no-error-summary

format: setup
	@$(BIN)/ruff check --quiet --fix .
	@$(BIN)/ruff format --quiet .
	@$(BIN)/python tools/chapters.py --fix

serve: book
	@$(BIN)/lowdim serve --port $(PORT)

bench: setup jail nbgrader
	@$(BIN)/python -m bench

N ?= 90
SEED ?= 0
mutants: setup
	@$(BIN)/python tools/mutants.py -n $(N) --seed $(SEED) --workers $(WORKERS)

# In an environment of its own, _build/newest. CHAPTERS narrows it: make newest CHAPTERS=lemma_4_1
newest: setup
	@$(BIN)/python tools/newest.py --workers $(WORKERS) $(CHAPTERS)

# SOAK narrows it: make soak SOAK="lemma_4_1 --kinds smallest,lists". KILLS are those of a sweep.
KILLS ?= 100
soak: setup
	@LOWDIM_KILLS=$(KILLS) LOWDIM_BUILDS=20 $(BIN)/python -m pytest -q --import-mode=importlib -k killed tests/publish
	@$(BIN)/python tools/soak.py --workers $(WORKERS) $(SOAK)

# Installs what requirements.in asks for into .venv and writes down all that came with it.
lock: venv
	@$(PIP) install --upgrade --upgrade-strategy only-if-needed setuptools wheel -r requirements.in
	@$(BIN)/python tools/lock.py
	@echo "requirements.lock has $$(grep -vc '^#' requirements.lock) packages"

clean:
	@rm -rf _build book/_generated .pytest_cache .ruff_cache .mypy_cache .hypothesis lib/*.egg-info
	@find . -path ./.venv -prune -o -name __pycache__ -type d -print0 | xargs -0 rm -rf

venv:
	@if [ ! -x $(BIN)/python ]; then \
	  found=$$("$(PYTHON)" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null || echo none); \
	  case " $(PYTHONS) " in \
	    *" $$found "*) "$(PYTHON)" -m venv .venv; exit ;; \
	  esac; \
	  if [ "$$found" = none ]; then is="does not run"; else is="is version $$found"; fi; \
	  echo "lowdim needs Python 3.11, 3.12 or 3.13, but '$(PYTHON)' $$is: install one of these, or name it with make PYTHON=/path/to/python3.12." >&2; \
	  exit 1; \
	fi

# Done again only when the pins, pyproject.toml or the version changed since it last succeeded.
setup: venv
	@stamp=$$(cat requirements.lock pyproject.toml lib/lowdim/__init__.py | cksum); \
	if [ "$$(cat .venv/lowdim-stamp 2>/dev/null || true)" != "$$stamp" ]; then \
	  echo "Installing the pinned packages into .venv (some minutes the first time)"; \
	  rm -f .venv/lowdim-stamp; \
	  $(PIP) install -r requirements.lock; \
	  $(PIP) install --no-deps --no-build-isolation -e .; \
	  echo "$$stamp" > .venv/lowdim-stamp; \
	fi

# A browser for the tests of the rendered book, from the system's package manager where that is
# possible. Without one those tests are skipped and say so; with CI=true they fail.
browser:
	@for name in chromium-headless-shell chromium chromium-browser google-chrome google-chrome-stable; do \
	  if command -v $$name >/dev/null; then exit 0; fi; \
	done; \
	if [ "$$(id -u)" = 0 ]; then as=; elif sudo -n true 2>/dev/null; then as="sudo -n"; else as=no; fi; \
	if command -v apt-get >/dev/null && [ "$$as" != no ]; then \
	  echo "Installing Chromium for the browser tests"; \
	  export DEBIAN_FRONTEND=noninteractive; \
	  install="$$as apt-get -qq install -y --no-install-recommends fonts-liberation"; \
	  { $$as apt-get -qq update && { $$install chromium-headless-shell || $$install chromium; }; } >/dev/null \
	    || echo "Chromium could not be installed; the browser tests will say so." >&2; \
	else \
	  echo "There is no Chromium, and no way to install it from here; the browser tests will say so." >&2; \
	fi

# bubblewrap, in which students' code is graded, from the same place. Without it the tests of grading
# are skipped and say so; with CI=true they fail.
jail:
	@if command -v bwrap >/dev/null; then exit 0; fi; \
	if [ "$$(id -u)" = 0 ]; then as=; elif sudo -n true 2>/dev/null; then as="sudo -n"; else as=no; fi; \
	if command -v apt-get >/dev/null && [ "$$as" != no ]; then \
	  echo "Installing bubblewrap for the tests of grading"; \
	  export DEBIAN_FRONTEND=noninteractive; \
	  { $$as apt-get -qq update && $$as apt-get -qq install -y --no-install-recommends bubblewrap; } >/dev/null \
	    || echo "bubblewrap could not be installed; the tests of grading will say so." >&2; \
	else \
	  echo "There is no bubblewrap, and no way to install it from here; the tests of grading will say so." >&2; \
	fi

# nbgrader, which takes the assignments too and is what grading is measured against, in an environment
# of its own: readers need none of its hundred packages. Without it that test is skipped and says so;
# with CI=true it fails. Done again only when its pins changed, or the Python under .venv.
nbgrader: setup
	@place=.venv/nbgrader; \
	stamp=$$({ cat tools/nbgrader.lock; $(BIN)/python -V; } | cksum); \
	if [ "$$(cat $$place/lowdim-stamp 2>/dev/null || true)" != "$$stamp" ]; then \
	  echo "Installing nbgrader into $$place (a minute the first time)"; \
	  rm -rf $$place; \
	  { $(BIN)/python -m venv --without-pip $$place \
	    && $(PIP) --python $$place/bin/python install -r tools/nbgrader.lock \
	    && echo "$$stamp" > $$place/lowdim-stamp; } \
	    || { rm -rf $$place; echo "nbgrader could not be installed; its test will say so." >&2; }; \
	fi
