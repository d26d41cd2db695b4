# The only door: `make` lists what can be done here.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

PORT ?= 8080
CARGO := cargo --locked
MANIFEST := --manifest-path server/Cargo.toml
PORTAL := dist/portal
SOURCES := $(shell git ls-files -co --exclude-standard 'mfe-*' package-lock.json tsconfig.json 2>/dev/null)

.PHONY: help
help: ## List what make can do
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

## Running

.PHONY: demo
demo: tools ## Build what is needed and serve the portal with demo data on http://127.0.0.1:8080 (PORT= another)
	@$(MAKE) -j2 release $(PORTAL)/slices.json
	@MKOPO_DEMO=true MKOPO_PORTAL_DIR=$(PORTAL) MKOPO_LISTEN=127.0.0.1:$(PORT) exec server/target/release/mkopo serve

.PHONY: release
release: tools
	@$(CARGO) build --release $(MANIFEST)

$(PORTAL)/slices.json: node_modules/.package-lock.json $(SOURCES)
	@npm run --silent build

node_modules/.package-lock.json: package-lock.json
	@npm ci --no-audit --no-fund --loglevel=error
	@touch $@

.PHONY: dev
dev: tools $(PORTAL)/slices.json ## Run the portal with one slice as it is edited (SLICE=loans)
	@$(CARGO) build $(MANIFEST)
	@PORT=$(PORT) node mfe-kit/build/dev.mjs $(SLICE)

.PHONY: slice
slice: tools node_modules/.package-lock.json ## Make a new slice that builds, tests and loads (NAME=repayments)
	@node mfe-kit/build/new-slice.mjs $(NAME)
	@npm install --no-audit --no-fund --loglevel=error

## Checking

.PHONY: test
test: ## Run everything that CI runs
	@./e2e/checks

.PHONY: journeys
journeys: tools chromium $(PORTAL)/slices.json ## Run the journeys in Chromium against the real server
	@$(CARGO) build $(MANIFEST)
	@npx playwright test --config e2e/playwright.config.ts

.PHONY: compose-test
compose-test: ## Build the whole stack in containers, walk through it, break it, take it down
	@e2e/compose-test

.PHONY: fuzz
fuzz: tools python ## Send the service many more requests made from its contract
	@$(CARGO) build $(MANIFEST)
	@contract/check --examples 500

.PHONY: soak
soak: tools ## Run the long forms of the payout tests: random schedules, kills, a failing disk, many servers
	@$(CARGO) test --release $(MANIFEST) --test payouts -- --ignored --nocapture --skip servers::
	@e2e/postgres with $(CARGO) test --release $(MANIFEST) --test payouts -- --ignored --nocapture --test-threads 1

.PHONY: bench
bench: tools chromium $(PORTAL)/slices.json ## Measure lists, payouts, PostgreSQL and long tables, as ratios in one run
	@$(CARGO) bench $(MANIFEST) --bench lists --bench payouts
	@e2e/postgres with --flushed $(CARGO) bench $(MANIFEST) --bench engines
	@$(CARGO) build $(MANIFEST)
	@npx playwright test --config e2e/benchmarks/playwright.config.ts
	@node e2e/benchmarks/transaction-history.mjs

.PHONY: python
python:
	@e2e/python

.PHONY: chromium
chromium: node_modules/.package-lock.json
	@e2e/chromium

.PHONY: tools
tools:
	@e2e/tools

## Changing

.PHONY: fix
fix: tools node_modules/.package-lock.json ## Format, and mend what the linters can mend
	@cargo fmt $(MANIFEST)
	@npm run --silent fix

.PHONY: generate
generate: tools node_modules/.package-lock.json ## Write again what is generated from the contract
	@npm run --silent generate

.PHONY: clean
clean: ## Remove what was built (not the data)
	@rm -rf dist mfe-*/dist e2e/report test-results
	@cargo clean $(MANIFEST)
