# Entry point for all tasks: `make` lists them.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
# What is compiled is run from server/target, wherever else this machine compiles to.
unexport CARGO_TARGET_DIR CARGO_BUILD_TARGET_DIR

PORT ?= 8080
# How many random schedules, kill rounds, failovers and hostile requests `make soak` runs, and cases `make fuzz`.
SCHEDULES ?= 10000
ROUNDS ?= 1000
FAILOVERS ?= 28
REQUESTS ?= 1000000
CASES ?= 10000
CARGO := cargo --locked
MANIFEST := --manifest-path server/Cargo.toml
PORTAL := dist/portal
KITS := $(PORTAL)/kit/index.html
# What every full installation has.
CHECKERS := node_modules/eslint
QUIETLY := --no-audit --no-fund --loglevel=error
# Without those that git lists but that are gone.
SOURCES := $(wildcard $(shell git ls-files -co --exclude-standard 'mfe-*' tools/kits tools/portal contract testkit/typescript package-lock.json tsconfig.json 2>/dev/null))

.PHONY: help
help: ## List all tasks
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

## Running

.PHONY: demo
demo: tools ## Build and serve the portal with demo data on http://127.0.0.1:8080 (PORT= for another port)
	@$(MAKE) -j2 demo-server $(PORTAL)/slices.json ASIDE="nice -n 19"
	@{ nice -n 19 $(MAKE) $(KITS) >/dev/null || echo "mkopo: /kit/ is not complete, see above; 'make kits' tries again." >&2; } & \
	MKOPO_DEMO=true MKOPO_PORTAL_DIR=$(PORTAL) MKOPO_LISTEN=127.0.0.1:$(PORT) exec server/target/demo/mkopo serve

# Compiled sooner than a release, a little slower to answer, and without the exporter of traces.
.PHONY: demo-server
demo-server: tools
	@$(CARGO) build --profile demo --no-default-features $(MANIFEST)

$(PORTAL)/slices.json: $(SOURCES) | node_modules/.package-lock.json
	@$(ASIDE) npm run --silent build

# The kits follow the portal, which needs none of them.
.PHONY: kits
kits: $(KITS)

$(KITS): $(PORTAL)/slices.json
	@npm run --silent kits

# A portal is built with half of the packages: those that are no `devDependencies`.
node_modules/.package-lock.json: package-lock.json
	@npm ci $(if $(wildcard $(CHECKERS)),,--omit=dev) $(QUIETLY)
	@touch $@

.PHONY: packages
packages: $(if $(wildcard $(CHECKERS)),node_modules/.package-lock.json)
	@[ -d $(CHECKERS) ] || npm ci $(QUIETLY)

.PHONY: install
install: tools ## Install the `mkopo` command for this user
	@$(CARGO) install --path server
	@folder=$${CARGO_INSTALL_ROOT:-$${CARGO_HOME:-$$HOME/.cargo}}/bin; \
	case ":$$PATH:" in *":$$folder:"*) echo "mkopo is installed in $$folder." ;; \
	*) echo "mkopo is installed in $$folder, which is not on the path: add it to PATH." ;; esac

.PHONY: dev
dev: tools packages $(if $(SLICE),$(PORTAL)/slices.json) ## Run the portal as you edit it: the server and all slices, or one (SLICE=loans)
	@$(CARGO) build $(MANIFEST)
	@PORT=$(PORT) node tools/dev/dev.mjs "$(SLICE)"

.PHONY: slice
slice: tools packages ## Create a new slice that builds, tests and loads (NAME=repayments)
	@node tools/dev/new-slice.mjs "$(NAME)"
	@npm install $(QUIETLY)

.PHONY: image
image: packages ## Build the image `mkopo` with the whole product, and list what is in it in dist/sbom/
	@docker build --target mkopo --tag mkopo \
		--label org.opencontainers.image.version=$$(node -p "require('./package.json').version") \
		--label org.opencontainers.image.revision=$$(git rev-parse HEAD) .
	@tools/dependencies/sbom

.PHONY: testkit
testkit: kits python ## Build the test kit for TypeScript and Python, which the portal serves at /kit/
	@testkit/python/build
	@node tools/kits/kit-folder.mjs

## Checking

.PHONY: test
test: ## Run all tests
	@tools/checks tests

.PHONY: lint
lint: ## Check formats, lints, types, docs, licences, unused code, and what is generated
	@tools/checks lint

.PHONY: journeys
journeys: tools ## Run the journeys in Chromium against the real server
	@$(CARGO) build $(MANIFEST)
	@$(MAKE) journeys-only

# With the server as it was compiled last: tests compile it with other features than `cargo build`.
.PHONY: journeys-only
journeys-only: chromium kits
	@npx playwright test --config e2e/playwright.config.ts || { \
		echo "mkopo: what failed runs once more for a trace, whatever comes out:"; \
		npx playwright test --config e2e/playwright.config.ts --last-failed --max-failures 5 --trace retain-on-failure || true; \
		echo "mkopo: journeys failed, see above; 'npx playwright test --config e2e/playwright.config.ts NAME' runs one alone." >&2; \
		exit 1; }

.PHONY: pictures
pictures: chromium kits ## Take pictures of the screens into dist/pictures: at five widths, light, dark, in forced colours and printed
	@$(CARGO) build $(MANIFEST)
	@npx playwright test --config e2e/pictures.config.ts

.PHONY: compose-test
compose-test: ## Build the whole stack in containers, test it, break it, remove it
	@tools/compose-test

.PHONY: fuzz
fuzz: tools python chromium kits ## Send the server and its parsers much more generated input, and the screens many texts that broke others (CASES=)
	@PROPTEST_CASES=$(CASES) $(CARGO) test $(MANIFEST) --test api -- parsing::
	@$(CARGO) build $(MANIFEST)
	@contract/check --examples 500
	@MKOPO_TEST_TEXTS=all npx playwright test --config e2e/playwright.config.ts any-text

.PHONY: soak
soak: tools ## Run the long payout tests: random schedules, kills, full disks, copies, several servers, a cluster that fails over; hostile requests; journeys whose exported traces are searched (SCHEDULES=, ROUNDS=, FAILOVERS=, REQUESTS=)
	@MKOPO_TEST_SCHEDULES=$(SCHEDULES) $(CARGO) test --release $(MANIFEST) --test payouts -- --ignored --nocapture --skip on_postgresql --skip servers:: --skip failover::
	@MKOPO_TEST_REQUESTS=$(REQUESTS) $(CARGO) test --release $(MANIFEST) --test api -- --ignored --nocapture --skip on_postgresql
	@MKOPO_TEST_SCHEDULES=$(SCHEDULES) MKOPO_TEST_ROUNDS=$(ROUNDS) \
		tools/machine/postgres with $(CARGO) test --release $(MANIFEST) --test payouts -- --ignored --nocapture --test-threads 1 \
		--skip failover::
	@MKOPO_TEST_FAILOVERS=$(FAILOVERS) \
		$(CARGO) test --release $(MANIFEST) --test payouts -- --ignored --nocapture --test-threads 1 failover::
	@MKOPO_E2E_EXPORT=true $(MAKE) journeys

.PHONY: mutants
mutants: tools packages ## Change the code that pays out, limits, separates or masks, and list what no test notices (PART=masks for some of it)
	@$(if $(filter-out web,$(PART)),,tools/mutants/web)
	@$(if $(filter web,$(PART)),,tools/mutants/server $(PART))

.PHONY: bench
bench: tools chromium $(PORTAL)/slices.json ## Measure everything, and write docs/performance.md (BENCH="lists engines" for some of it)
	@node tools/benchmarks/run.mjs $(BENCH)

.PHONY: python
python:
	@tools/machine/python

.PHONY: chromium
chromium: packages
	@tools/machine/chromium

.PHONY: tools
tools:
	@tools/machine/compilers

## Changing

.PHONY: fix
fix: tools packages ## Format the code and apply the linters' fixes
	@cargo fmt $(MANIFEST) --all
	@npm run --silent fix

.PHONY: generate
generate: tools packages ## Check the contract, and generate the types of both kits where they are older
	@npm run --silent prepare
	@testkit/python/tools

.PHONY: clean
clean: ## Remove all build output (not the data)
	@rm -rf dist mfe-*/dist test-results
	@cargo clean $(MANIFEST)
