# One list of tasks. Each sets up .venv first where that is needed (.ci/setup).

PYTHON := .venv/bin/python
# How many processes test at once. Tests often wait for a process of their own: three keep two cores busy.
JOBS ?= 3

# Without bytecode each process that tests prepares all test modules again, which takes it ten seconds more.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup demo demo-plan demo-agent clients conformance test test-all lint types format bench docs docs-check seals validate coverage clean

help: ## print this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1\t\2/p' Makefile | expand -t 18

setup: ## make .venv and install into it
	@.ci/setup

demo: setup ## walk problem-analysis on a real question, by the printed commands alone; the run is kept in build/demo
	$(PYTHON) demo/run.py

demo-plan: setup ## walk planner and its executor on a small project, to green tests; pages into build/demo-plan
	$(PYTHON) demo/plan.py --pages build/demo-plan

demo-agent: setup ## let an agent follow a skill on its own: it tries five ways out, is killed once, goes on, ends
	$(PYTHON) demo/autonomous.py

clients: setup ## bring the agent clients that the tests drive, into .clients (npm, 1.3 GB)
	@.ci/clients

conformance: setup ## bring the conformance suites that the MCP server is held to, into .clients/mcp (npm, 0.3 GB)
	@.ci/conformance

test: setup ## run the tests that are quick, in some minutes
	$(PYTHON) -m pytest -n $(JOBS) -m "not slow"

test-all: setup ## run all tests, as CI does; LOCKSTEP_EXHAUSTIVE=1 runs each sweep, search and matrix whole
	$(PYTHON) -m pytest -n $(JOBS)

lint: setup ## check style and format
	$(PYTHON) -m ruff check
	$(PYTHON) -m ruff format --check

types: setup ## check types
	$(PYTHON) -m mypy

format: setup ## fix style and format
	$(PYTHON) -m ruff check --fix
	$(PYTHON) -m ruff format

bench: setup ## measure what README and docs/benchmarks.md quote
	$(PYTHON) -m benchmarks

docs: setup ## write the generated pages of docs/
	$(PYTHON) docs/generate.py

docs-check: setup ## check that the generated pages are up to date
	$(PYTHON) docs/generate.py --check

seals: setup ## validate the skills and write the seals that they ship
	.venv/bin/lockstep validate skills --seal

validate: setup ## validate every skill of this tree
	.venv/bin/lockstep validate .

coverage: setup ## run all tests and show what they leave out
	$(PYTHON) -m pytest -n $(JOBS) --cov --cov-report=term

clean: ## remove .venv and what tools left behind
	rm -rf .venv .clients .mypy_cache .pytest_cache .ruff_cache .hypothesis dist build htmlcov .coverage .coverage.*
