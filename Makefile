# What people and CI run. Each target does its own set-up, in .venv below this folder.

PYTHON  ?= python3
VENV    := .venv
BIN     := $(VENV)/bin
MATURIN := VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/maturin develop --release --locked
RUST    := Cargo.toml Cargo.lock $(shell find rust -name '*.rs' -o -name Cargo.toml)

comma   := ,

.DEFAULT_GOAL := help

.PHONY: demo
demo: $(VENV)/train $(VENV)/built ## From text to a trained model: the quickstart on Python's own sources
	$(BIN)/lmfast quickstart

.PHONY: test
test: rust-test lint types layers pytest ## Everything that must pass before a change lands

.PHONY: test-fast
test-fast: $(VENV)/dev $(VENV)/built ## The tests that take seconds
	$(BIN)/python -m pytest -m 'not slow'

.PHONY: pytest
pytest: $(VENV)/dev $(VENV)/built ## The Python tests
	$(BIN)/python -m pytest

.PHONY: rust-test
rust-test: ## The tests of the Rust core
	cargo test --locked -p lmfast-core

.PHONY: lint
lint: $(VENV)/dev ## Formatting and lints of both languages
	cargo fmt --check
	cargo clippy --locked --workspace --all-targets -- -D warnings
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

.PHONY: types
types: $(VENV)/dev $(VENV)/built ## Strict types, and the stub against the extension
	$(BIN)/mypy
	$(BIN)/stubtest lmfast._lmfast --mypy-config-file pyproject.toml

.PHONY: layers
layers: $(VENV)/dev $(VENV)/built ## Who may import whom
	$(BIN)/lint-imports

.PHONY: format
format: $(VENV)/dev ## Format every file
	cargo fmt
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

.PHONY: build
build: $(VENV)/train $(VENV)/built ## The extension, optimised, importable from .venv

.PHONY: bench
bench: $(VENV)/bench $(VENV)/built ## Encoders side by side: make bench CORPORA='en=books.txt zh=chinese.txt'
	$(BIN)/python benches/encoding.py $(CORPORA)

.PHONY: bench-short
bench-short: $(VENV)/bench $(VENV)/built ## Short texts, beside the peers
	$(BIN)/python -m pytest benches

.PHONY: bench-rust
bench-rust: ## The parts of the encoder, by Criterion
	cargo bench --locked -p lmfast-core

.PHONY: bench-count
bench-count: ## Instructions per byte of the encoder, by valgrind: takes the record again
	$(PYTHON) benches/instructions.py --json benches/record/instructions.json

.PHONY: clean
clean: ## Remove what was built and installed here
	rm -rf $(VENV) target

.PHONY: help
help: ## This list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-11s %s\n", $$1, $$2}'

# A virtual environment with the packages of an extra, made again when pyproject.toml changes. It
# stands before $(VENV)/built wherever both are asked for: it builds, too.
$(VENV)/train $(VENV)/dev $(VENV)/bench: $(VENV)/%: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check 'maturin>=1.9,<2'
	$(MATURIN) --extras train$(if $(filter-out train,$*),$(comma)$*)
	touch $@ $(VENV)/train $(VENV)/built

# The extension alone; the rest of the package is imported from python/ as it is.
$(VENV)/built: $(RUST)
	$(MATURIN) --skip-install
	touch $@

.NOTPARALLEL:
