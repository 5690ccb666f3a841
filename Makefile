PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
INSTALLED := $(VENV)/.installed
INSTALLED_DEV := $(VENV)/.installed-dev

.PHONY: help rde test coverage lint format bench docs linkcheck release clean

help:
	@echo "make rde     generate the Rectangle Depth Estimation dataset into rde.h5"
	@echo "make test    run every check: lint, then the tests"
	@echo "make lint    ruff check, ruff format --check, mypy, lint-imports"
	@echo "make format  let ruff set the layout and the imports right"
	@echo "make docs    build the documentation into build/docs, with warnings as errors"
	@echo "make linkcheck  also follow its links to other servers"
	@echo "make release build wheel and source archive into dist, and check them"
	@echo "make bench   time the generator"
	@echo "make coverage  what the last make test did not reach, by file"
	@echo "make clean   remove caches and build artefacts; keeps datasets and $(VENV)"
	@echo "PYTHON=...   the Python (3.11 or newer) that $(VENV) is made with; now $(PYTHON)"

ifneq ($(wildcard rde.h5),)
rde:
	@echo "rde.h5 exists and is left as it is; move it away to generate it again."
else
rde: $(INSTALLED)
	$(BIN)/synthprobe-gen rde --out rde.h5
endif

test: lint
	@# Two processes with a thread each: PyTorch would take two for each of them.
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadfile --cov --cov-report=
	@echo "Lines and branches covered: $$($(BIN)/python -m coverage report --format=total)% (make coverage: by file)"

coverage: $(INSTALLED_DEV)
	@test -f .coverage || { echo "There is nothing to report yet: run make test first." >&2; exit 1; }
	$(BIN)/python -m coverage report --show-missing --skip-covered --sort=cover

lint: $(INSTALLED_DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(INSTALLED_DEV)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(INSTALLED)
	$(BIN)/python tools/bench_generate.py

docs: $(INSTALLED_DEV)
	$(BIN)/python -m sphinx -q -W --keep-going -b html -d build/doctrees docs build/docs
	@echo "build/docs/index.html"

linkcheck: $(INSTALLED_DEV)
	$(BIN)/python -m sphinx -q --keep-going -b linkcheck -d build/doctrees docs build/linkcheck
	@echo "All links to other servers lead somewhere."

# Another Python than that of the checks: OTHER_PYTHON=python3.13
OTHER_PYTHON ?= $(PYTHON)
release: $(INSTALLED_DEV)
	$(PIP) -e '.[release]'
	rm -rf dist
	$(BIN)/python -m build --outdir dist .
	$(BIN)/python tools/check_release.py dist --python $(OTHER_PYTHON) --extra models

clean:
	rm -rf build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache .import_linter_cache \
	    .hypothesis .coverage
	rm -f $(INSTALLED) $(INSTALLED_DEV)
	find synthprobe_data synthprobe_models tests tools -name __pycache__ -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	    echo "synthprobe needs Python 3.11 or newer, which '$(PYTHON)' is not;" \
	        "name another one: make PYTHON=/path/to/python3.11 $(MAKECMDGOALS)" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

# The stamps make a second call instant; a dev install is also a plain one.
$(INSTALLED): pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) -e .
	@touch $@

$(INSTALLED_DEV): pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) -e '.[dev]'
	@touch $(INSTALLED) $@
