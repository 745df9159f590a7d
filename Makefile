# make book   build the book into _build/html          make serve  show it on this machine only
# make test   every check, the rendered book included  make bench  the benchmark
# make lock   resolve requirements.in anew             make clean  remove what was built
# Each command makes the environment .venv first, from the pins in requirements.lock.

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := book
MAKEFLAGS += --no-print-directory

PYTHON ?= $(shell command -v python3.11 || command -v python3 || command -v python)
BIN := .venv/bin
PIP := $(BIN)/python -m pip --quiet --quiet --disable-pip-version-check --no-input
PORT ?= 8000
WORKERS ?= $(shell nproc 2>/dev/null || echo 2)

.PHONY: book test serve bench lock clean setup venv browser

book: setup
	@$(BIN)/lowdim book

# Tests are shared out over the cores; a chapter is one test, and the tests in the browser are one
# group, so that each page is opened once. The chapters are compared first: the book then shows
# these runs, and executes none again. What is left reads the book.
NOTEBOOKS := tests/chapters/test_notebooks.py
PYTEST := $(BIN)/python -m pytest --import-mode=importlib -n $(WORKERS) --dist loadgroup
test: setup browser
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/ruff check --quiet .
	@$(BIN)/python tools/format_chapters.py --check
	@$(PYTEST) $(NOTEBOOKS)
	@$(BIN)/lowdim book
	@$(PYTEST) --ignore=$(NOTEBOOKS)

serve: book
	@echo "http://127.0.0.1:$(PORT)/  (stop with Ctrl-C)"
	@$(BIN)/python -m http.server --bind 127.0.0.1 --directory _build/html $(PORT)

bench: setup
	@$(BIN)/python -m bench

# Installs what requirements.in asks for into .venv and writes down all that came with it.
lock: venv
	@$(PIP) install --upgrade --upgrade-strategy only-if-needed setuptools wheel -r requirements.in
	@$(BIN)/python tools/lock.py
	@echo "requirements.lock has $$(grep -vc '^#' requirements.lock) packages"

clean:
	@rm -rf _build book/_generated .pytest_cache .ruff_cache .hypothesis lib/*.egg-info
	@find . -path ./.venv -prune -o -name __pycache__ -type d -print0 | xargs -0 rm -rf

venv:
	@if [ ! -x $(BIN)/python ]; then \
	  found=$$("$(PYTHON)" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null || echo none); \
	  if [ "$$found" != 3.11 ]; then \
	    echo "lowdim needs Python 3.11, but '$(PYTHON)' is version $$found: install Python 3.11, or name it with make PYTHON=/path/to/python3.11." >&2; \
	    exit 1; \
	  fi; \
	  "$(PYTHON)" -m venv .venv; \
	fi

# Done again only when the pins or pyproject.toml changed since the last time that it succeeded.
setup: venv
	@stamp=$$(cat requirements.lock pyproject.toml | cksum); \
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
	@for name in chromium chromium-browser google-chrome google-chrome-stable; do \
	  if command -v $$name >/dev/null; then exit 0; fi; \
	done; \
	if [ "$$(id -u)" = 0 ]; then as=; elif sudo -n true 2>/dev/null; then as="sudo -n"; else as=no; fi; \
	if command -v apt-get >/dev/null && [ "$$as" != no ]; then \
	  echo "Installing Chromium for the browser tests"; \
	  export DEBIAN_FRONTEND=noninteractive; \
	  { $$as apt-get -qq update && $$as apt-get -qq install -y --no-install-recommends chromium fonts-liberation; } >/dev/null \
	    || echo "Chromium could not be installed; the browser tests will say so." >&2; \
	else \
	  echo "There is no Chromium, and no way to install it from here; the browser tests will say so." >&2; \
	fi
