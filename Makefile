# The main targets are `make demo`, `make test` and `make test-more`. Each sets up .venv and needs only python3, pip,
# make and a C++ compiler; cmake and ninja are installed by pip, and uv is used if it is on PATH. Set ABSTAIN_DATA, the
# folder of data sets, in the environment or as in: make test ABSTAIN_DATA=...
PYTHON ?= python3
VENV   ?= .venv
DEMO   ?= demo
# Pinned versions for the tests; `make test LOCK=` takes the newest that pyproject.toml allows.
LOCK   ?= requirements/test.lock
# Of `make fuzz`, for all three targets together.
SECONDS ?= 600

PY     := $(VENV)/bin/python
UV     := $(shell command -v uv 2>/dev/null)
# Python compiles what it imports; pip would compile all, which takes longer than the rest of an installation.
PIP    := $(if $(UV),$(UV) pip install --quiet --python $(PY),$(PY) -m pip install --quiet --disable-pip-version-check --no-compile)
# Tests run side by side, one process more than there are cores, since some wait, and at most eight; a process that is done
# takes over from the others.
CORES  := $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
PYTEST := -m pytest --numprocesses $(shell expr $(CORES) + 1) --maxprocesses 8 --dist worksteal
# What is slow and rarely changes runs in `make test-more`: the site, small runs of the experiments, their data, suites of
# other libraries; and the tests marked `long`: simulations of what is promised of new rows, clusters, the memory of long
# runs, large problems against a general solver, pages in a browser, interrupts, and most of many cases that are alike.
MORE   := tests/docs/test_site.py tests/experiments tests/estimators/test_sklearn_suite.py tests/test_ecosystem.py \
	tests/test_ecosystem_others.py tests/test_ecosystem_models.py tests/test_benchmarks.py tests/test_examples.py tests/datasets/test_folder.py \
	tests/datasets/test_loaders.py tests/datasets/test_physionet.py tests/datasets/test_public_sources.py
NATIVE := build/native-test
comma  := ,
STAMPS := $(VENV)/.abstain
# Compiled modules are kept: without them each test process and each command compiles for ten seconds what it imports.
unexport PYTHONDONTWRITEBYTECODE
# Tools installed by pip come first on PATH.
export PATH := $(abspath $(VENV)/bin):$(PATH)

SOURCES := $(shell find src native -type f -not -name '*.pyc' 2>/dev/null) CMakeLists.txt pyproject.toml README.md LICENSE

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL: # two pips at once would break the environment; compilers still run in parallel
.PHONY: help env build demo test test-more lint types native-test native-test-threads pytest oldest fuzz lock verify reproduce docs wheel release-check bench clean

help: ## show this list
	@echo "abstain: support vector machines that know when not to decide"; echo
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-19s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

# Requirements are read from pyproject.toml, so that they are listed once and can be installed without building the
# package: $(call requirements,NAMES) prints those of `build`, of the `package` and of its extras, one per line.
define requirements
$(PY) -c 'import tomllib; p = tomllib.load(open("pyproject.toml", "rb")); \
	wanted = p["project"]["optional-dependencies"] | {"package": p["project"]["dependencies"], \
		"build": [*p["build-system"]["requires"], "cmake>=3.18", "ninja"]}; \
	print(*(r for name in "$(1)".split() for r in wanted[name]), sep="\n")'
endef

# An existing environment is kept; a broken or outdated one is replaced.
$(STAMPS)/env:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "abstain needs Python 3.11 or newer; choose one with PYTHON=..., as in: make demo PYTHON=python3.12" >&2; exit 1; }
	@$(PY) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { echo "Creating the environment $(VENV)"; \
		$(if $(UV),$(UV) venv --quiet --seed --clear --python "$$(command -v $(PYTHON))" $(VENV),$(PYTHON) -m venv --clear $(VENV)); }
	@$(PY) -c 'import os, sys, sysconfig; sys.exit(not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")))' || { echo "Python's headers are missing; install them (Debian and Ubuntu: apt install python3-dev)." >&2; exit 1; }
	@command -v $${CXX:-c++} >/dev/null || command -v g++ >/dev/null || { echo "A C++ compiler is missing; install one (Debian and Ubuntu: apt install g++)." >&2; exit 1; }
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/tools: $(STAMPS)/env pyproject.toml
	@echo "Installing the tools of the build"
	@$(call requirements,build) > $(STAMPS)/tools.txt
	@$(PIP) -r $(STAMPS)/tools.txt
	@touch $@

# The package is compiled meanwhile: `pip wheel` writes into the build folder, never into the environment. Its failure is
# shown when the package is built.
$(STAMPS)/run: $(STAMPS)/tools
	@echo "Installing the dependencies of abstain, and compiling it"
	@$(call requirements,build package cli plot) > $(STAMPS)/run.txt
	@$(PY) -m pip wheel --no-build-isolation --no-deps --wheel-dir $(STAMPS)/ahead . > $(STAMPS)/ahead.log 2>&1 & \
	$(PIP) -r $(STAMPS)/run.txt; installed=$$?; wait; exit $$installed
	@touch $@

# The lock is a list of files by their hashes, for one kind of machine; the requirements themselves are then checked
# against its versions. A file with another hash is an error. Another kind of machine takes the versions alone, and one whose
# package index lacks one of them takes the free ranges. pip takes hashes from a list only, not from constraints.
KIND = $(PY) -c 'import sys, sysconfig; print(f"{sys.implementation.cache_tag}-{sysconfig.get_platform()}")'
define install_check
: > $(STAMPS)/lock.log; sed -n 's/^\([a-z0-9][^ ]*==[^ ]*\).*/\1/p' $(LOCK) < /dev/null > $(STAMPS)/versions.txt; \
versions="-r $(STAMPS)/check.txt -c $(STAMPS)/versions.txt"; \
if test -z "$(LOCK)"; then \
	echo "Note: no LOCK is given: the newest versions allowed are taken."; $(PIP) -r $(STAMPS)/check.txt; \
elif grep -q "for $$($(KIND))\.$$" $(LOCK) && $(PIP) --require-hashes -r $(LOCK) 2> $(STAMPS)/lock.log && $(PIP) $$versions 2>> $(STAMPS)/lock.log; then :; \
elif grep -qi "do not match the hashes\|hash mismatch" $(STAMPS)/lock.log; then \
	cat $(STAMPS)/lock.log >&2; \
	echo "A package does not have the hash in $(LOCK); find out why, or take the newest versions without hashes with LOCK= ." >&2; exit 1; \
elif $(PIP) $$versions 2>> $(STAMPS)/lock.log; then \
	echo "Note: the hashes of $(LOCK) cannot be used here: its versions are taken without them."; \
else \
	echo "Note: the versions of $(LOCK) cannot be installed here ($(STAMPS)/lock.log): the newest versions allowed are taken."; \
	$(PIP) -r $(STAMPS)/check.txt; \
fi
endef

# Not after `tools` and `run`, whose packages would be taken as they are: pip does not compare the hash of what is installed.
$(STAMPS)/check: $(STAMPS)/env pyproject.toml $(LOCK)
	@echo "Installing the dependencies of abstain and of its tests"
	@$(call requirements,build package cli docs plot test lint) > $(STAMPS)/check.txt
	@$(call install_check)
	@touch $(STAMPS)/tools $(STAMPS)/run $@

# Not editable: tests and demo run on the installed package, never on src. The build folder is kept, so that only changed
# files are recompiled.
$(STAMPS)/package: $(STAMPS)/run $(SOURCES)
	@echo "Building and installing abstain"
	@$(PIP) --no-build-isolation --no-deps $(if $(UV),--reinstall-package abstain,--force-reinstall) .
	@touch $@

env: $(STAMPS)/check ## set up .venv with everything needed for the tests

build: $(STAMPS)/package ## compile the core and install the package into .venv

demo: $(STAMPS)/package ## set up, then show the savings of a reject option on bundled data, with a picture and a report
	@$(PY) -m abstain.cli.main demo --output $(DEMO)

test: lint types native-test pytest ## set up, then check everything that changes often: lint, types, the core under sanitizers, pytest
	@echo "All checks passed."

test-more: $(STAMPS)/check $(STAMPS)/package ## the slow rest: the site, the experiments, suites of other libraries, long simulations
	$(PY) $(PYTEST) $(MORE)
	$(PY) $(PYTEST) -m long $(addprefix --ignore=,$(MORE))

lint: $(STAMPS)/check ## run ruff on everything
	$(PY) -m ruff check

types: $(STAMPS)/check $(STAMPS)/package ## run mypy on the installed package
	$(PY) -m mypy

# $(call build_native,FOLDER,SANITIZERS) builds the tests of the core under these sanitizers.
define build_native
@mkdir -p build
@cmake -S . -B $(1) -G Ninja -DABSTAIN_TESTS=ON -DABSTAIN_SANITIZERS=$(2) -DCMAKE_BUILD_TYPE=Debug > $(1).log 2>&1 || { cat $(1).log; exit 1; }
@cmake --build $(1)
endef

native-test: $(STAMPS)/tools ## test the C++ core under the address and undefined-behaviour sanitizers
	$(call build_native,$(NATIVE),address$(comma)undefined)
	ctest --test-dir $(NATIVE) --output-on-failure --parallel $(CORES)

native-test-threads: $(STAMPS)/tools ## tests of the core's threads under the thread sanitizer (about a minute; not part of make test)
	$(call build_native,$(NATIVE)-threads,thread)
	ctest --test-dir $(NATIVE)-threads --output-on-failure -R 'thread_pool|kernels|solve|linear'

pytest: $(STAMPS)/check $(STAMPS)/package ## run the Python tests on the installed package, on all cores
	$(PY) $(PYTEST) -m "not long" $(addprefix --ignore=,$(MORE))

oldest: $(STAMPS)/tools ## run the Python tests with the lower bounds of pyproject.toml, in an environment of their own
	@mkdir -p build && $(PY) requirements/oldest.py > build/oldest.txt
	$(PYTHON) -m venv --clear build/oldest
	build/oldest/bin/python -m pip install --quiet --disable-pip-version-check -r build/oldest.txt .
	build/oldest/bin/python $(PYTEST) -m "not long" $(addprefix --ignore=,$(MORE))

# The core of the fuzzers, under the sanitizers.
define build_fuzzed
@mkdir -p build
@cmake -S . -B build/fuzz -G Ninja -DSKBUILD=ON -DABSTAIN_FUZZ=ON -DCMAKE_BUILD_TYPE=RelWithDebInfo \
	-DPython_EXECUTABLE=$(abspath $(PY)) -Dnanobind_DIR="$$($(PY) -m nanobind --cmake_dir)" > build/fuzz.log 2>&1 || { cat build/fuzz.log; exit 1; }
@cmake --build build/fuzz --target _native
endef

fuzz: $(STAMPS)/check $(STAMPS)/package ## fuzz model files, tables and the core under sanitizers (ten minutes, or SECONDS=60; fuzz/README.md)
	@$(call requirements,package fuzz) > $(STAMPS)/fuzz.txt && $(PIP) -r $(STAMPS)/fuzz.txt
	$(call build_fuzzed)
	@for target in model_files tables native; do $(PY) fuzz/run.py $$target $$(($(SECONDS) / 3)) || exit 1; done

lock: $(STAMPS)/check ## write the versions that are installed in .venv to requirements/test.lock
	$(PY) requirements/write.py $(STAMPS)/check.txt

verify: $(STAMPS)/check $(STAMPS)/package ## compare optima with a general QP solver, certify exact solutions, compare the path with exact fits and ONNX graphs with Python, recompute the proofs of random fits
	$(PY) verification/optimality.py
	$(PY) verification/path.py
	$(PY) verification/graphs.py
	$(PY) verification/adversary.py
	$(if $(ABSTAIN_DATA),$(PY) verification/embedded.py,@echo "ABSTAIN_DATA is not set: skipping the embedded machine.")

reproduce: $(STAMPS)/check $(STAMPS)/package ## run all experiments on the papers' data (under an hour; finished parts of an earlier run are kept)
	@for run in experiments/*/run.py; do $(PY) $$run || exit 1; done

wheel: $(STAMPS)/check ## build the source distribution and the wheel from it, and test the wheel in a new environment
	@$(PIP) build
	rm -rf build/wheel && $(PY) -m build --outdir build/wheel
	$(if $(UV),$(UV) venv --quiet --seed --python $(PY) build/wheel/env,$(PY) -m venv build/wheel/env)
	build/wheel/env/bin/python -m pip install --quiet -r $(STAMPS)/check.txt build/wheel/*.whl
	build/wheel/env/bin/python $(PYTEST)

release-check: $(STAMPS)/check ## build and inspect what a release publishes, install it without a compiler, write the table of docs/releasing.md
	$(PY) .github/check_release.py

docs: $(STAMPS)/check $(STAMPS)/package ## redraw the gallery and all pictures, build the site into build/site, run its examples
	$(PY) docs/build_site.py

bench: $(STAMPS)/package ## measure speed and memory against other libraries (slow; needs a quiet machine)
	@$(call requirements,package bench) > $(STAMPS)/bench.txt && $(PIP) -r $(STAMPS)/bench.txt
	$(PY) benchmarks/run.py

clean: ## remove everything that was built
	rm -rf build dist $(DEMO) $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests benchmarks -name __pycache__ -prune -exec rm -rf {} +
