# agent_node. `make help` says what there is.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help

export GOFLAGS ?=
# rclgo has no tag and no entry in the checksum database; go.sum pins it.
export GONOSUMDB := github.com/tiiuae/*$(if $(GONOSUMDB),$(comma)$(GONOSUMDB))
comma := ,
# A build, a test or a demo must never reach a robot on the network.
export ROS_AUTOMATIC_DISCOVERY_RANGE ?= LOCALHOST

IN_ROS := . build/env.sh &&
GOLANGCI := .ros/tools/golangci-lint-v2.15.0
FUZZTIME ?= 20s
TASK ?= take the red cube to the kitchen
BENCH ?= .

.PHONY: help setup build lint fix test bench coverage fuzz proof demo clean distclean

help: ## say what there is
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' Makefile
	@echo '  Variables: TASK="..." DOMAIN=n (demo)  FUZZTIME=20s (fuzz)  BENCH=regexp (bench)  PYTHON= ROS_DISTRO=jazzy|kilted (setup)'

setup: ## ROS 2 and interface packages, where lacking, and build/env.sh
	@tools/setup

build: setup ## build/agent_node and build/sim_robot
	@[ -x build/agent_node ] || echo "build: compiling agent_node and sim_robot (the first time takes minutes)"
	@$(IN_ROS) go build -tags ros2 -o build/agent_node ./cmd/agent_node
	@$(IN_ROS) go build -tags ros2 -o build/sim_robot ./sim/sim_robot

lint: setup $(GOLANGCI) ## formatting, go.mod, Go, shell and Python sources
	@tools/lint $(GOLANGCI)

fix: setup $(GOLANGCI) ## what lint can mend by itself
	@tools/lint $(GOLANGCI) --fix

test: build ## everything that CI runs, with totals
	@$(IN_ROS) python3 tools/run_tests.py

bench: build ## the benchmarks
	@$(IN_ROS) go test -tags ros2 -run '^$$' -bench '$(BENCH)' -benchmem ./...
	@$(IN_ROS) tools/bench-messages
	@tools/bench-loop
	@tools/bench-geometry
	@$(IN_ROS) python3 tools/bench-node

coverage: ## statements covered by each package's own tests: harness, guard, geometry
	@tools/coverage

fuzz: setup ## every fuzz target for FUZZTIME
	@$(IN_ROS) tools/fuzz $(FUZZTIME)

proof: build ## the long comparisons, soaks and fuzzers at full size
	@tools/proof

demo: build ## built-in robot and node as two processes, TASK sent as a goal
	@$(IN_ROS) python3 tools/demo $(if $(DOMAIN),--domain '$(DOMAIN)') -- '$(subst ','\'',$(value TASK))'

clean: ## what was built, but for ROS 2
	@rm -rf build

distclean: clean ## that, too
	@rm -rf .ros

# The module's own go.sum pins what it is built from; installed once, kept through `make clean`.
$(GOLANGCI):
	@echo "lint: building golangci-lint (once; takes some minutes)"
	@GOFLAGS= GOBIN='$(CURDIR)/.ros/tools/new' CGO_ENABLED=0 go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(lastword $(subst -, ,$@))
	@mv .ros/tools/new/golangci-lint $@
