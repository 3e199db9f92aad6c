# Warren's tasks. `make` alone lists them. CONTRIBUTING.md says more.
#
# There is no root module: with one, `go test ./...` is green and tests nothing. The pattern `work` (Go 1.25
# and newer) is every package of go.work's modules.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help build test race bench fmt format vet lint boundaries modules check e2e up down

COUNT ?= 3
BENCHTIME ?= 1x
FETCHERS ?= 1

help: ## List the tasks
	@awk -F ':.*## ' '/^[a-z0-9]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## Build every program into bin/
	go build -trimpath -o bin/ work

test: ## Run every test with the race detector, on a RabbitMQ and a PostgreSQL it finds or provides
	scripts/with-services go test -race -shuffle=on -count=1 -timeout 15m work

race: ## Run the tests COUNT times over in other orders, to look for races (COUNT=3)
	scripts/with-services go test -race -shuffle=on -count=$(COUNT) -timeout 60m work

bench: ## Run every benchmark BENCHTIME long (BENCHTIME=1x: they still run)
	scripts/with-services go test -run '^$$' -bench . -benchmem -benchtime=$(BENCHTIME) -timeout 30m work

fmt: ## Format the Go code
	gofmt -w cmd libs services test

format: ## Fail on Go code that is not formatted
	@unformatted=$$(gofmt -l cmd libs services test); \
	if [ -n "$$unformatted" ]; then echo "not formatted (make fmt):"; echo "$$unformatted"; exit 1; fi

vet: ## Run go vet
	go vet -tags e2e work

lint: ## Run golangci-lint, compiling it first if it is not there
	scripts/lint

boundaries: ## Fail on an import that the layout forbids
	scripts/boundaries

modules: ## Build each module without its siblings; compare go lines and tidiness
	scripts/modules

check: format boundaries vet lint modules test ## Everything CI checks but e2e

e2e: ## Crawl a test web from end to end, on docker compose
	scripts/e2e

up: ## Start everything on Docker (FETCHERS=1)
	docker compose up --build --detach --wait --scale fetcher=$(FETCHERS)

down: ## Stop it; the data stays (docker compose down --volumes deletes it)
	docker compose down
