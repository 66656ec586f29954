# `make demo` and `make test` set up all they need on a fresh Debian 12 (or Ubuntu) with Python 3.11 or later.
PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
STAMP := $(VENV)/.installed
TRAINS := $(VENV)/.trains

.PHONY: help setup system demo test test-slow fidelity study lint fmt clean

help:  ## say what there is
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

setup: system $(STAMP)  ## virtual environment, package, Chromium, adb

system:
	@sh .ci/system

$(STAMP): pyproject.toml .ci/system
	@echo "setting up $(VENV)"
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or later is needed: make PYTHON=python3.12 ..."; exit 1; }
	@test -x $(PY) || $(PYTHON) -m venv $(VENV) || { echo "venv is missing: apt-get install python3-venv"; exit 1; }
	@$(PY) -m pip install --quiet --disable-pip-version-check -e '.[test,dev]'
	@touch $(STAMP)

# What trains is an extra. Only a torch for processors will do here: the one that PyPI gives brings gigabytes for graphics cards. Where there is none, the
# tests of training skip and the run says so.
TORCH ?= torch==2.13.0+cpu
$(TRAINS): $(STAMP)
	@$(PY) -m pip install --quiet --disable-pip-version-check --retries 1 --extra-index-url https://download.pytorch.org/whl/cpu '$(TORCH)' \
		&& $(PY) -m pip install --quiet --disable-pip-version-check -e '.[train]' && touch $(TRAINS) \
		|| echo "no $(TORCH) can be had: tests of training will skip. Another: make TORCH=torch ..."

demo: setup  ## record a small app over adb, build its mock, serve it, drive it in a browser
	@$(PY) examples/demo.py

test: setup $(TRAINS)  ## the tests that take minutes together
	@$(PY) -m pytest -q -n auto --dist loadfile -m "not slow" $(ARGS)

test-slow: setup $(TRAINS)  ## what takes longer; results are in tests/README.md
	@$(PY) -m pytest -q -m slow $(ARGS)

fidelity: setup  ## record apps and measure how true their mocks are: hours at first, resumable
	@$(PY) -m examples.fidelity.lab run $(ARGS)

study: setup $(TRAINS)  ## train on real apps, mocks, or both, and report what came of it; resumable
	@$(PY) -m phoneworld train study --size small -o runs/study $(ARGS)

lint: setup  ## ruff, and mypy in strict mode
	@$(PY) -m ruff check phoneworld recorder tests examples
	@$(PY) -m mypy phoneworld recorder

fmt: setup
	@$(PY) -m ruff check --fix phoneworld recorder tests examples

clean:  ## remove what setup and demo made
	rm -rf $(VENV) demo-out .pytest_cache .ruff_cache .mypy_cache
