# The commands of this project. `make` alone lists them.
PYTHON := .venv/bin/python
PYTEST := .venv/bin/pytest
JOBS ?= 2

.PHONY: help demo test test-cluster lint check bench bench-canary setup lock protos docs clean

help: ## list these commands
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

demo: ## set up, then watch a real canary move real traffic from v1 to v2 (about two minutes)
	@requirements/setup.sh install
	@.venv/bin/tidegate demo $(ARGS)

test: ## set up, then run every test (ten to fifteen minutes on two cores)
	@requirements/setup.sh dev
	$(PYTEST) -n $(JOBS) --dist loadgroup tests -m "not cluster" $(ARGS)

test-cluster: ## set up, build API server and istiod with Go (a quarter of an hour, once), then run the tests on them (half an hour)
	@requirements/setup.sh cluster
	@.venv/bin/tidegate dev cluster build
	$(PYTEST) -n 0 tests/cluster tests/conformance -m cluster $(ARGS)

lint: ## formatting, lint, types, import contracts
	@requirements/setup.sh dev
	.venv/bin/ruff format --check .
	.venv/bin/ruff check .
	.venv/bin/mypy
	.venv/bin/lint-imports

check: lint ## the same and the quick tests: before each commit
	$(PYTEST) -n $(JOBS) tests -m "not envoy and not apertium and not redis and not prometheus and not story and not races and not cluster" $(ARGS)

bench: ## measure: prints quantiles and ratios of one run, writes docs/benchmarks.md
	@requirements/setup.sh dev
	$(PYTHON) -m tests.bench $(ARGS)

bench-canary: ## race the evidence engine and its peers (SEEDS=1-20 SCENARIO=.. SHAPE=.. RPS=.. POLICY=.. JSON=file FULL=1 CONTROLLER=1)
	@requirements/setup.sh dev
	@$(PYTHON) -m tests.bench.canary$(if $(filter 1,$(CONTROLLER)),.served)

setup: ## everything that the other commands need
	@requirements/setup.sh dev

lock: setup ## write requirements/*.lock anew
	requirements/lock.sh

protos: setup ## write the generated code of protos/ anew
	protos/generate.sh

docs: setup ## write the generated pages of docs/ anew
	$(PYTHON) -m tests.support.generated_docs
	$(PYTHON) -m tests.support.generated_manifests

clean: ## remove what set-up and tests made
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist *.egg-info
