# Do mascaramento ao BERT: um curso executável.  `make help` lists the commands.
# Every target first does whatever set-up is missing; a stamp is written only after its step has succeeded.

SHELL := /bin/sh
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV   := .venv
RUN    := $(VENV)/bin/python
PORT   ?= 8000
# One more than two cores: a worker that waits for a browser or a server needs none.
JOBS   ?= 3
# JupyterLab refuses root unless told; inside a container there is nobody else.
AS_ROOT := $(if $(filter 0,$(shell id -u)),--allow-root)

# What is installed is compiled where it is first imported, and kept: a process that may not keep it would
# compile torch and transformers anew, for 20 seconds.
unexport PYTHONDONTWRITEBYTECODE
# String hashing is the one source of randomness that a seed inside a notebook cannot reach.
export PYTHONHASHSEED := 0
# One thread where numbers are compared: sums are made in the same order, and test workers do not fight for cores.
# Nor can a small model gain from more: on a busy machine several threads wait for one another.
test check notebooks tamper lab: export OMP_NUM_THREADS := 1

ENVIRONMENT := $(VENV)/.installed
FOR_TESTS   := $(VENV)/.installed-tests
VENDOR      := book/_static/vendor/.fetched
PAGE_MODEL  := book/_static/course_model.js
BOOK        := _build/.built
BOOK_SOURCES = $(shell find book -type f -not -path '*/vendor/*' -not -path $(PAGE_MODEL) -not -path '*/.*' -not -name '*.pyc') _config.yml _toc.yml

PYTEST = $(RUN) -m pytest -n $(JOBS) --dist loadscope --no-loadscope-reorder -q --durations=15
NBVAL  = --nbval --nbval-current-env
CODE   = lib trust tests benchmarks tools book/_ext conftest.py

.PHONY: help setup book lint check quick test lab serve notebooks tamper stress portability pins student model bench \
	clean clean-venv

help: ## list the commands
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

setup: $(ENVIRONMENT) $(VENDOR) $(PAGE_MODEL) ## what reading and running need: environment, pinned packages, scripts

book: $(BOOK) ## build the book into _build/html
	@echo "The book is ready: open _build/html/index.html in a browser, or run make serve"

lint: $(VENDOR) $(FOR_TESTS) ## layout, lint, types and layers
	@$(VENV)/bin/ruff check $(CODE)
	@$(VENV)/bin/ruff format --check --quiet $(CODE)
	@$(VENV)/bin/basedpyright --project .
	@$(VENV)/bin/lint-imports --no-cache > /dev/null || $(VENV)/bin/lint-imports --no-cache

check: ## the daily loop: lint, types, and the quick tests with fewer examples, without notebooks and browser
	@$(MAKE) --no-print-directory --jobs=2 lint quick

quick: JOBS := 2
quick: $(VENDOR) $(PAGE_MODEL) $(FOR_TESTS)
	@$(PYTEST) tests -m "not browser and not book and not slow" --hypothesis-profile=quick

test: ## prove the book: lint, types, every test, every notebook executed once and compared
	@$(MAKE) --no-print-directory --jobs=2 $(BOOK) lint $(FOR_TESTS)
	@$(RUN) -m tools.find_browser
	@$(PYTEST) tests book $(NBVAL)

lab: $(ENVIRONMENT) ## open the notebooks in JupyterLab
	@$(VENV)/bin/jupyter lab --ServerApp.root_dir=book $(AS_ROOT)

serve: $(BOOK) ## serve the built book on this machine only
	@$(RUN) -m tools.serve --port $(PORT)

notebooks: $(ENVIRONMENT) ## execute every notebook in place (byte-identical where nothing changed)
	@$(RUN) -m tools.execute_notebooks

tamper: $(ENVIRONMENT) $(FOR_TESTS) ## change every number, one by one, and require that a check catches it
	@$(PYTEST) tests/trust book $(NBVAL) --tamper all

stress: $(BOOK) $(FOR_TESTS) ## the browser and JupyterLab tests, twenty times, with every core kept busy
	@$(RUN) -m tools.stress

portability: $(BOOK) $(FOR_TESTS) ## notebooks and tests as on processors with SSE4, AVX2 and AVX-512, 1 to 4 threads
	@$(RUN) -m benchmarks.portability

pins: $(ENVIRONMENT) ## resolve the pins for every Python and system, without installing
	@$(RUN) -m tools.resolve_pins

student: $(ENVIRONMENT) ## write chapter notebooks without solutions, for students, into _build/student
	@$(RUN) -m tools.student

# Two threads, always: the order of the sums decides the last bits of the weights.
model: export OMP_NUM_THREADS := 2
model: $(ENVIRONMENT) ## train the two small models of lib again (about seven minutes)
	@$(RUN) -m lib treinar --passos 12000 --float16 --pasta _build/runs/masked
	@$(RUN) -m lib treinar --objetivo mlm+nsp --passos 6000 --lote 96 --float16 --pasta _build/runs/pairs
	@for name in masked pairs; do cp _build/runs/$$name/modelo/* lib/models/$$name/; done

MEASURED = benchmarks benchmarks.floor benchmarks.porttinari benchmarks.scaling benchmarks.frames
bench: $(VENDOR) $(FOR_TESTS) ## measure all that the book quotes, on a quiet machine (over an hour)
	@for part in $(MEASURED); do $(RUN) -m $$part || exit 1; done

clean: ## remove the built book
	rm -rf _build

clean-venv: ## remove the virtual environment and the third-party JavaScript
	rm -rf $(VENV) book/_static/vendor tests/_vendor tools/_vendor

INSTALLED = requirements.txt requirements-data.txt constraints-gpu.txt pyproject.toml
$(ENVIRONMENT): $(INSTALLED) tools/setup_venv.py tools/pip_failure.py
	@test -n "$(PYTHON)" || { echo "error: Python was not found: install python3.11 and run make again." >&2; exit 1; }
	@$(PYTHON) -m tools.setup_venv
	@touch $@

$(FOR_TESTS): requirements-test.txt tools/vendor.toml $(ENVIRONMENT)
	@$(PYTHON) -m tools.setup_venv --tests
	@$(RUN) -m tools.fetch_vendor --tests
	@touch $@

$(VENDOR): tools/vendor.toml tools/fetch_vendor.py $(wildcard tools/bundles/*) $(ENVIRONMENT)
	@$(RUN) -m tools.fetch_vendor
	@touch $@

$(PAGE_MODEL): $(ENVIRONMENT) $(wildcard lib/models/*.py lib/models/masked/*) lib/corpus/portuguese.py lib/corpus/lexicon.py
	@$(RUN) -m lib.models $@

$(BOOK): $(BOOK_SOURCES) $(VENDOR) $(PAGE_MODEL) tools/build_book.py
	@$(RUN) -m tools.build_book
	@touch $@
