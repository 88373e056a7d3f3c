# Two commands need no other: `make site` and `make test` install all that they use into .venv.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --no-compile --quiet --disable-pip-version-check -c constraints.txt
export NO_MKDOCS_2_WARNING := 1
# Nothing is compiled while it is installed, but when it is first imported: of torch, most never is.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help site own-settings build serve published capture test test-all lighthouse bench lint check clean

help:
	@echo "make site     capture what this machine can run, build the site into site/"
	@echo "make serve    show the site at http://127.0.0.1:8000 and reload on every edit (needs no torch)"
	@echo "make test     install what the tests need and run them, as CI does"
	@echo "make test-all the tests, and every deterministic snippet under both engines (some minutes)"
	@echo "make lighthouse  let Lighthouse judge three pages (needs npm; installs it into .venv-lighthouse)"
	@echo "make capture  only capture, into docs/captures/local/"
	@echo "make check    only the static rules over snippets, records and pages"
	@echo "make published  add the site's addresses to published.txt, whose lines lead somewhere for ever"
	@echo "make bench    time the runner against plain loops and other tools (installs those into .venv-bench)"

# Stamps, so that a second call installs nothing.
.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Python 3.11 or newer is needed; name one with: make PYTHON=/path/to/python3"; exit 1; }
	@echo "creating .venv"
	@$(PYTHON) -m venv .venv

.venv/.site: .venv/bin/python pyproject.toml constraints.txt
	@echo "installing the site's dependencies"
	@$(PIP) --editable '.[site]'
	@touch $@

.venv/.snippets: .venv/.site
	@echo "installing torch for the snippets (once)"
	@$(PIP) --editable '.[site,snippets]'
	@touch $@

.venv/.test: .venv/.snippets tests/harness/install_chromium.sh
	@echo "installing the test tools"
	@$(PIP) --editable '.[site,snippets,test]'
	@$(PIP) --no-deps axe-playwright-python # for the axe-core inside; what it needs is a second browser
	@sh tests/harness/install_chromium.sh
	@touch $@

# What a capture has to tell (changed, failed, refused, a claim that fails here) is listed and stops nothing.
capture: .venv/.snippets
	@$(BIN)/python -m capture run; code=$$?; [ $$code -lt 128 ] || exit $$code

# MkDocs imports and calls what mkdocs.yml names before any plugin can look at it.
own-settings: .venv/.site
	@$(BIN)/capture check --settings-only > /dev/null

build: own-settings
	@$(BIN)/mkdocs build --strict

site: capture build
	@echo
	@echo "The site is in site/; look at it with: make serve"

# What stands in published.txt is never taken out: a page or section that moves gets its new place in mkdocs.yml.
published: own-settings
	@CAPTURE_PUBLISH=1 CAPTURE_ADDRESSES=add $(BIN)/mkdocs build --strict

serve: own-settings
	@$(BIN)/mkdocs serve

check: .venv/.site
	@$(BIN)/python -m capture check

lint: .venv/.test
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check capture tests
	@$(BIN)/mypy

# A module to a core; long ones begin (tests/conftest.py).
PYTEST := $(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder

test: .venv/.test lint check
	@$(PYTEST)

test-all: .venv/.test lint check
	@$(PYTEST) -m "slow or not slow"

# Pinned where npm still installs it; newer releases want a newer Node than distributions have.
.venv-lighthouse/.lighthouse: Makefile
	@echo "installing Lighthouse into .venv-lighthouse (once)"
	@npm install --prefix .venv-lighthouse --no-save --no-package-lock --no-audit --no-fund --silent lighthouse@12.2.3
	@touch $@

lighthouse: .venv/.test .venv-lighthouse/.lighthouse
	@$(BIN)/python -m pytest -m slow -s tests/handbook/test_lighthouse.py

# Other tools to be measured against live in an environment of their own, so that .venv stays as pinned.
.venv-bench/.peers: pyproject.toml constraints.txt tests/benchmarks/peers.txt
	@echo "installing the tools to compare with into .venv-bench (once)"
	@$(PYTHON) -m venv .venv-bench
	@.venv-bench/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt \
	  --editable '.[snippets,site]' -r tests/benchmarks/peers.txt
	@touch $@

bench: .venv-bench/.peers
	@cd tests && ../.venv-bench/bin/python -m benchmarks $(BENCH)

# What a review rejected stays: it may be the only copy.
clean:
	rm -rf .venv .venv-bench .venv-lighthouse site
	@[ ! -d .cache ] || find .cache -mindepth 1 -maxdepth 1 ! -name rejected -exec rm -rf {} +
