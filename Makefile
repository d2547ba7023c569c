# Two commands matter: `make demo` and `make test`. Both set up all they need in .venv, with only python3, pip, make and
# a C++ compiler present; cmake and ninja come from pip, and uv is used when it is on PATH. ABSTAIN_DATA, the folder of
# data sets, reaches the tests from the environment or as in: make test ABSTAIN_DATA=...
PYTHON ?= python3
VENV   ?= .venv
DEMO   ?= demo

PY     := $(VENV)/bin/python
UV     := $(shell command -v uv 2>/dev/null)
PIP    := $(if $(UV),$(UV) pip install --quiet --python $(PY),$(PY) -m pip install --quiet --disable-pip-version-check)
# Tests run side by side, one process per core and at most eight; a process that is done takes over from the others.
PYTEST := -m pytest --numprocesses auto --maxprocesses 8 --dist worksteal
NATIVE := build/native-test
STAMPS := $(VENV)/.abstain
# The tools pip brought come first, then those of the machine.
export PATH := $(abspath $(VENV)/bin):$(PATH)

SOURCES := $(shell find src native -type f -not -name '*.pyc' 2>/dev/null) CMakeLists.txt pyproject.toml README.md LICENSE

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL: # two pips at once would spoil the environment; compilers run in parallel all the same
.PHONY: help env build demo test lint types native-test pytest verify reproduce docs wheel bench clean

help: ## this list
	@echo "abstain: support vector machines that know when not to decide"; echo
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

# Requirements are read from pyproject.toml, so that they stand in one place and the package need not be built to get them:
# $(call requirements,EXTRAS) prints those of the package, of its build and of the extras, one per line.
define requirements
$(PY) -c 'import tomllib; p = tomllib.load(open("pyproject.toml", "rb")); \
	wanted = p["build-system"]["requires"] + p["project"]["dependencies"] + ["cmake>=3.18", "ninja"]; \
	extras = p["project"]["optional-dependencies"]; \
	print(*wanted, *(r for name in "$(1)".split() for r in extras[name]), sep="\n")'
endef

# An environment that is there and works is kept; one that is broken or too old is made anew.
$(STAMPS)/env:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "abstain needs Python 3.11 or newer; name one with PYTHON=..., as in: make demo PYTHON=python3.12" >&2; exit 1; }
	@$(PY) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { echo "Making the environment $(VENV)"; \
		$(if $(UV),$(UV) venv --quiet --seed --clear --python "$$(command -v $(PYTHON))" $(VENV),$(PYTHON) -m venv --clear $(VENV)); }
	@$(PY) -c 'import os, sys, sysconfig; sys.exit(not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")))' || { echo "Python's headers are missing; install them (Debian and Ubuntu: apt install python3-dev)." >&2; exit 1; }
	@command -v $${CXX:-c++} >/dev/null || command -v g++ >/dev/null || { echo "A C++ compiler is missing; install one (Debian and Ubuntu: apt install g++)." >&2; exit 1; }
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/run: $(STAMPS)/env pyproject.toml
	@echo "Installing what abstain needs"
	@$(call requirements,cli plot) > $(STAMPS)/run.txt
	@$(PIP) -r $(STAMPS)/run.txt
	@touch $@

$(STAMPS)/check: $(STAMPS)/run
	@echo "Installing what the tests need"
	@$(call requirements,cli docs plot test lint) > $(STAMPS)/check.txt
	@$(PIP) -r $(STAMPS)/check.txt
	@touch $@

# Not editable: tests and demo run on the package as a user gets it, never on src. The build folder is kept, so only
# what changed is compiled again.
$(STAMPS)/package: $(STAMPS)/run $(SOURCES)
	@echo "Building and installing abstain"
	@$(PIP) --no-build-isolation --no-deps $(if $(UV),--reinstall-package abstain,--force-reinstall) .
	@touch $@

env: $(STAMPS)/check ## set up .venv with everything the tests need

build: $(STAMPS)/package ## compile the core and install the package into .venv

demo: $(STAMPS)/package ## set up, then the main job on embedded data, with a picture and a report
	@$(PY) -m abstain.cli.main demo --output $(DEMO)

test: lint types native-test pytest ## set up, then all checks: lint, types, the core under sanitizers, pytest
	@echo "All checks passed."

lint: $(STAMPS)/check ## ruff on everything
	$(PY) -m ruff check

types: $(STAMPS)/check $(STAMPS)/package ## mypy on the installed package
	$(PY) -m mypy

native-test: $(STAMPS)/run ## tests of the C++ core under the address and undefined-behaviour sanitizers
	@mkdir -p build
	@cmake -S . -B $(NATIVE) -G Ninja -DABSTAIN_TESTS=ON -DCMAKE_BUILD_TYPE=Debug > $(NATIVE).log 2>&1 || { cat $(NATIVE).log; exit 1; }
	@cmake --build $(NATIVE)
	ctest --test-dir $(NATIVE) --output-on-failure

pytest: $(STAMPS)/check $(STAMPS)/package ## the Python tests, on the installed package, on all cores
	$(PY) $(PYTEST)

verify: $(STAMPS)/check $(STAMPS)/package ## compare optima with a general QP solver, certify exact ones, hold the path against exact fits and ONNX graphs against Python
	$(PY) verification/optimality.py
	$(PY) verification/path.py
	$(PY) verification/graphs.py
	$(if $(ABSTAIN_DATA),$(PY) verification/embedded.py,@echo "No ABSTAIN_DATA: the embedded machine is not compared with its known values.")

reproduce: $(STAMPS)/check $(STAMPS)/package ## run all experiments on the papers' data (under an hour; what an earlier run has finished is kept)
	@for run in experiments/*/run.py; do $(PY) $$run || exit 1; done

wheel: $(STAMPS)/check ## the source distribution and the wheel made from it, tested in an environment of its own
	@$(PIP) build
	rm -rf build/wheel && $(PY) -m build --outdir build/wheel
	$(if $(UV),$(UV) venv --quiet --seed --python $(PY) build/wheel/env,$(PY) -m venv build/wheel/env)
	build/wheel/env/bin/python -m pip install --quiet -r $(STAMPS)/check.txt build/wheel/*.whl
	build/wheel/env/bin/python $(PYTEST)

docs: $(STAMPS)/check $(STAMPS)/package ## draw the gallery and all pictures anew, build the site into build/site, run its examples
	$(PY) docs/build_site.py

bench: $(STAMPS)/package ## measure speed and memory against other libraries (long; wants a quiet machine)
	@$(call requirements,bench) > $(STAMPS)/bench.txt && $(PIP) -r $(STAMPS)/bench.txt
	$(PY) benchmarks/run.py

clean: ## remove everything made here
	rm -rf build dist $(DEMO) $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests benchmarks -name __pycache__ -prune -exec rm -rf {} +
