# Two commands matter: `make run` shows the program at work, `make test` checks all of it.
# Everything is installed into .venv from requirements.lock, whose hashes are checked.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# Each process has a control plane of its own. Files stay whole, for what their tests share, and in the
# order of their names, in which the longest come early.
SIDE_BY_SIDE ?= --dist=loadfile --no-loadscope-reorder
# Tests of e2e mostly wait, so there are more processes than processors.
ON_CLUSTER := $(SIDE_BY_SIDE) --numprocesses=4
WITHOUT_CLUSTER := $(SIDE_BY_SIDE) --numprocesses=2
# Tests of the tests, what `make e2e` breaks that a case or a scenario breaks too, and the faults of what
# stands beside the Events (durable record, sidecar, releases): every night.
EVERY_NIGHT := e2e/scenarios/controlplane e2e/scenarios/suite $(patsubst %,e2e/suite/test_%.py, \
  check_jobs cluster_status endpoint_pickers gating harness labels models slow_download) \
  $(patsubst %,e2e/scenarios/test_%.py,idle_requests shared_plane) \
  $(patsubst %,e2e/scenarios/health_events/test_%.py,clocks faults) \
  e2e/scenarios/job_status/test_trouble.py e2e/scenarios/metrics/test_deleted.py \
  e2e/faults/test_http_clients.py e2e/release/test_krew.py e2e/chart/test_crd_releases.py
# The Python of the image: another one than the oldest that is supported, with which all else runs.
IMAGE_PYTHON ?= python$(shell sed -n 's/^ARG BASE=python:\([0-9.]*\)-.*/\1/p' Dockerfile)
# Hundreds of processes are started from these sources; without this each of them compiles them anew.
unexport PYTHONDONTWRITEBYTECODE
# Go's compiler, API servers, helm and promtool need a fifth less processor time, for some more memory.
export GOGC ?= 400
# A clone begins with what the last one found out about the same sources.
export MYPY_CACHE_DIR ?= $(HOME)/.cache/productionstack-status-reporter/mypy
# Several API servers share few processors: with one thread each they spend a fifth less on waking others.
ON_ONE_THREAD := GOMAXPROCS=1
KUBECONFIG_GIVEN := $(if $(filter command line,$(origin KUBECONFIG)),$(KUBECONFIG),)

VERSION := $(shell sed -n 's/^version = "\(.*\)"/\1/p' pyproject.toml)
CHART := helm/productionstack-status-reporter
CHARTS := $(CHART) helm/productionstack-status-hub helm/productionstack-status-crds
# What a fork sets once in the chart, or REGISTRY=… names.
REGISTRY ?= $(shell sed -n '/^image:/,/^[a-z]/s/^  registry: "\(.*\)"$$/\1/p' $(CHART)/values.yaml)
IMAGE ?= $(if $(REGISTRY),$(REGISTRY)/)productionstack-status-reporter:$(VERSION)
CONTAINER_TOOL ?= $(shell for tool in docker podman buildah; do \
  $$tool info >/dev/null 2>&1 && echo $$tool && break; done)
IMAGE_FLAGS ?=
REVISION ?= $(shell git rev-parse HEAD 2>/dev/null || echo unknown)
# Two builds of one commit on one base are one image. Docker takes the time as an argument, the others as a flag.
SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null || echo 0)
SAME_TIME = $(if $(filter docker,$(notdir $(CONTAINER_TOOL))),--build-arg SOURCE_DATE_EPOCH=,--timestamp )$(SOURCE_DATE_EPOCH)
needs-container-tool = @test -n "$(CONTAINER_TOOL)" || \
  { echo "No docker, podman or buildah that works; name one with CONTAINER_TOOL=…"; exit 1; }

.DEFAULT_GOAL := help
.PHONY: help setup run test quick test-fast test-e2e nightly nightly-tests quick-image-python mutation \
  test-faults e2e e2e-controllers record record-engines e2e-hub e2e-node e2e-node-quick e2e-node-suite e2e-kind test-image \
  check unit controlplane browser lua shells screenshot \
  bench bench-hub bench-quick bench-storm bench-status bench-store \
  image image-push scan base-digest chart wheel krew registry release-notes release-check lock audit soak clean \
  quick-apiload quick-storm quick-scraping quick-status quick-job-status quick-store quick-cel

help: ## show this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## /{printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(STAMP): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Python 3.11 or newer is needed; name one with: make PYTHON=python3.12 …")'
	@echo "Installing the locked dependencies into $(VENV): once, a minute or two, silently unless it fails."
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check --require-hashes --requirement requirements.lock
	@echo "Installing this program from its sources."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $(STAMP)

setup: $(STAMP) ## create .venv with the locked dependencies

run: $(STAMP) ## show the reporter on an example stack; KUBECONFIG=… on that cluster, which it only reads without WRITE=1
ifeq ($(KUBECONFIG_GIVEN),)
	@echo "Starting an API server in memory with the example stack, and the reporter; Ctrl-C ends both."
	@$(BIN)/python -m devcluster
else
	@$(BIN)/productionstack-status-reporter run --kubeconfig=$(KUBECONFIG_GIVEN) $(if $(WRITE),,--dry-run)
endif

check: $(STAMP) ## style, types and layers
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

controlplane: $(STAMP) ## build or find the real control plane (15 minutes the first time, with Go)
	$(BIN)/python -m e2e.controlplane

browser: $(STAMP) ## find the browser of the status page's tests, or install it (root, Debian)
	@$(BIN)/python -m tests.support.browser

lua: $(STAMP) ## find the Lua of the tests of the health check for Argo CD, or install it (root, Debian)
	@$(BIN)/python -m tests.support.lua

shells: $(STAMP) ## find zsh and fish for the tests of the completion, or install them (root, Debian)
	@$(BIN)/python -m tests.support.shells

screenshot: $(STAMP) ## renew docs/status-page.png: the page during an outage, in the browser
	@$(BIN)/python -m tests.integration.page.screenshot docs/status-page.png

test: $(STAMP) ## all checks and tests, on the real control plane too where it can be had
	@$(MAKE) --no-print-directory --jobs=3 check test-fast test-e2e

# Runs while the control plane is built.
test-fast: $(STAMP)
	-@$(BIN)/python -m tests.support.browser --quiet
	-@$(BIN)/python -m tests.support.lua --quiet
	-@$(BIN)/python -m tests.support.shells --quiet
	$(BIN)/pytest tests $(WITHOUT_CLUSTER)

test-e2e: $(STAMP)
	-@$(BIN)/python -m e2e.controlplane --core --quiet
	$(ON_ONE_THREAD) $(BIN)/pytest e2e $(EVERY_NIGHT:%=--ignore=%) $(ON_CLUSTER)

quick: $(STAMP) ## after each edit: cases, unit tests and laws, in less than 90 seconds
	$(BIN)/pytest $(QUICK) --hypothesis-profile=quick $(WITHOUT_CLUSTER)

QUICK := tests/cases tests/unit tests/property tests/fuzz

nightly: nightly-tests soak quick-image-python mutation e2e-node ## everything there is, for hours

nightly-tests: check
	@$(BIN)/python -m e2e.controlplane --quiet
	-@$(BIN)/python -m e2e.hub.parts.victoria_metrics --quiet
	-@$(BIN)/python -m e2e.controllers --quiet
	CONTROLPLANE_REQUIRED=1 $(BIN)/pytest -m "" --ignore=e2e/node $(SIDE_BY_SIDE) --numprocesses=3

quick-image-python: ## the quick tests on the Python of the image; IMAGE_PYTHON=… names the program
	@$(IMAGE_PYTHON) -c '' || { echo "$(IMAGE_PYTHON) is needed; name one with IMAGE_PYTHON=…"; exit 1; }
	$(MAKE) --no-print-directory quick VENV=.venv-image-python PYTHON=$(IMAGE_PYTHON)

SEED ?= $(shell date +%F)

mutation: $(STAMP) ## change a hundred expressions, chosen by SEED=…, and name those that no fast test notices
	$(BIN)/python -m tests.mutation --seed=$(SEED)

test-faults: check ## every fault there is, also those that take minutes, on the real control plane
	@$(BIN)/python -m e2e.controlplane --quiet
	CONTROLPLANE_REQUIRED=1 $(BIN)/pytest e2e/faults -m "" $(ON_CLUSTER)

e2e: $(STAMP) ## what users rely on, on a control plane made here; KUBECONFIG=… on that cluster
ifeq ($(KUBECONFIG_GIVEN),)
	@$(BIN)/python -m e2e.controlplane --quiet
	CONTROLPLANE_REQUIRED=1 $(BIN)/pytest e2e/suite $(ON_CLUSTER) \
	  --heartbeat-seconds=60 --quiet-seconds=180
else
	$(BIN)/pytest e2e/suite --kubeconfig=$(KUBECONFIG_GIVEN) $(if $(YES),--yes)
endif

e2e-hub: $(STAMP) ## a fleet of two clusters, real metrics engines and the hub, with every fault
	@$(BIN)/python -m e2e.controlplane --quiet
	-@$(BIN)/python -m e2e.hub.parts.victoria_metrics --quiet
	CONTROLPLANE_REQUIRED=1 $(BIN)/pytest e2e/hub -m "" $(SIDE_BY_SIDE) --numprocesses=2

e2e-controllers: $(STAMP) ## istiod, KAITO, KEDA, the endpoint picker and Karpenter's core as they are released, healthy and with faults
	@$(BIN)/python -m e2e.controlplane --quiet
	@$(BIN)/python -m e2e.controllers --quiet
	CONTROLPLANE_REQUIRED=1 CONTROLLERS_REQUIRED=1 $(BIN)/pytest e2e/controllers -m "" --numprocesses=0 $(RECORD)

record: ## the same, writing the recorded stories of tests/cases anew; prints how they differ
	@$(MAKE) --no-print-directory e2e-controllers RECORD="--record --capture=no"

record-engines: $(STAMP) ## write the metrics pages of vLLM's releases anew, by their own classes; prints how they differ
	@$(BIN)/python -m e2e.engines

e2e-node: $(STAMP) ## the image and the chart on a real node of this machine, with faults of real pods (root, Debian)
	@$(BIN)/python -m e2e.node prepare --quiet
	NODE_REQUIRED=1 CONTROLPLANE_REQUIRED=1 $(BIN)/pytest e2e/node -m "" $(SIDE_BY_SIDE) --numprocesses=4

e2e-node-quick: $(STAMP) ## the same before each merge: an installation, and three faults until they have ended
	@$(BIN)/python -m e2e.node prepare --quiet
	NODE_REQUIRED=1 CONTROLPLANE_REQUIRED=1 $(BIN)/pytest e2e/node -m before_merge --numprocesses=0

e2e-node-suite: $(STAMP) ## the same node, and what users rely on
	@$(BIN)/python -m e2e.node prepare --quiet
	$(BIN)/python -m e2e.node suite

e2e-kind: $(STAMP) ## the same on a new kind cluster, with the image and the chart
	e2e/kind/run.sh

unit: $(STAMP) ## the tests that need no control plane
	$(BIN)/pytest tests $(WITHOUT_CLUSTER)

LIVE ?= --trials 16 --seconds 20 --failovers 2 --minutes 2
WINDOW ?= 60
MEASURED := .bench
# The allocator of the image, if this Python has it (3.13 and later).
HAS_ALLOCATOR := import sysconfig, sys; sys.exit(not sysconfig.get_config_var("WITH_MIMALLOC"))
ALLOCATOR = $(shell $(BIN)/python -c '$(HAS_ALLOCATOR)' && echo PYTHONMALLOC=mimalloc MIMALLOC_PURGE_DELAY=0)
measure = $(ALLOCATOR) $(BIN)/python -m e2e.bench.$(1) $(2) --json $(MEASURED)/$(or $(3),$(1)).json

bench: $(STAMP) ## measure every goal of speed and size; writes the table of e2e/bench/README.md (one hour)
	@$(BIN)/python -m e2e.controlplane --quiet
	rm -rf $(MEASURED)
	$(call measure,passes)
	$(call measure,large,$(LIVE))
	$(call measure,apiload,--inferencesets 1000 --seconds $(WINDOW))
	$(call measure,storm,--inferencesets 10000 --outages provisioner,storm-of-ten-thousand)
	$(call measure,scraping,--window 60 --rounds 2)
	$(call measure,metrics_page)
	$(call measure,job_status)
	$(call measure,cel)
	$(MAKE) --jobs=3 --output-sync=target bench-storm bench-status bench-store
	$(ALLOCATOR) $(BIN)/python -m e2e.bench.rows --readme e2e/bench/README.md $(addprefix $(MEASURED)/,$(addsuffix .json, \
	  passes large apiload storm storm-of-ten-thousand scraping metrics_page status job_status store cel))

# These mostly wait, so they run beside each other.
bench-storm: $(STAMP)
	$(call measure,storm,--inferencesets 1000)

bench-status: $(STAMP)
	$(call measure,status,--seconds $(WINDOW) --calm 40)

bench-store: $(STAMP)
	$(call measure,store,--inferencesets 3000)

bench-hub: $(STAMP) ## measure the hub with 10,000 clusters and as many objects; only printed (35 minutes)
	@$(BIN)/python -m e2e.controlplane --quiet
	$(ALLOCATOR) $(BIN)/python -m e2e.hub.bench --json $(MEASURED)/hub.json

bench-quick: $(STAMP) ## the same at small sizes, in ten minutes; only printed
	@$(BIN)/python -m e2e.controlplane --quiet
	rm -rf $(MEASURED)
	$(call measure,passes,--inferencesets 100 1000 --rounds 3)
	$(call measure,metrics_page,--inferencesets 1000)
	$(call measure,large,--inferencesets 100 --trials 5 --seconds 5 --minutes 0 --failovers 1)
	$(MAKE) --jobs=4 --output-sync=target quick-apiload quick-storm quick-scraping quick-status quick-job-status quick-store quick-cel
	$(BIN)/python -m e2e.bench.rows $(MEASURED)/*.json

quick-apiload:
	$(call measure,apiload,--inferencesets 100 --seconds 35)

quick-storm:
	$(call measure,storm,--inferencesets 100 --outages provisioner)

quick-scraping:
	$(call measure,scraping,--inferencesets 10 --pods 200 --many 200 --hanging 200 --rounds 1 --window 30)

quick-status:
	$(call measure,status,--inferencesets 100 --objects 60 --seconds 31 --calm 5)

quick-job-status:
	$(call measure,job_status,--starts 3)

quick-store:
	$(call measure,store,--inferencesets 100)

quick-cel:
	$(call measure,cel,--objects 1000 --rounds 3)

image: ## build the image, as IMAGE=… or for REGISTRY=…, with docker, podman or buildah
	$(call needs-container-tool)
	$(CONTAINER_TOOL) build $(IMAGE_FLAGS) $(SAME_TIME) --build-arg VERSION=$(VERSION) \
	  --build-arg REVISION=$(REVISION) --tag $(IMAGE) .

GRYPE ?= grype
# A vulnerability that has no fix yet cannot be mended here, so it fails nothing.
SCAN_FLAGS ?= --only-fixed --fail-on=high

scan: ## known vulnerabilities of the built image, those of Debian and Python too (needs grype, and docker or podman)
	$(call needs-container-tool)
	$(GRYPE) $(SCAN_FLAGS) $(notdir $(CONTAINER_TOOL)):$(IMAGE)

base-digest: # name another digest of the base in the Dockerfile: DIGEST=sha256:…
	@printf %s "$$DIGEST" | grep -qxE 'sha256:[0-9a-f]{64}' || { echo "DIGEST=sha256:… is needed" >&2; exit 1; }
	sed -i "s|^\(ARG BASE=[^@]*\)@.*|\1@$$DIGEST|" Dockerfile

image-push: ## push it to where REGISTRY=… or IMAGE=… says
	$(call needs-container-tool)
	$(CONTAINER_TOOL) push $(IMAGE)

DIST ?= dist
HELM ?= helm

registry: # print the registry that the chart names
	@echo $(REGISTRY)

# What Artifact Hub shows of a chart, besides the annotations in its Chart.yaml.
annotated = s!^annotations:$$!&\n  artifacthub.io/$(1)!
images = images: |\n    - name: productionstack-status-reporter\n      image: $(REGISTRY)/productionstack-status-reporter:$(VERSION)
links = links: |\n    - name: Report a vulnerability\n      url: $(HOMEPAGE)/security/advisories/new

chart: ## package the charts into dist/, with REGISTRY=… of their image and HOMEPAGE=… of their runbooks
	@test -n "$(REGISTRY)" || { echo "Name the registry of the image with REGISTRY=…"; exit 1; }
	rm -rf $(DIST)
	mkdir -p $(DIST)/work
	cp -R $(CHARTS) $(DIST)/work/
	sed -i '/^image:/,/^[a-z]/s|^  registry: ".*"$$|  registry: "$(REGISTRY)"|' $(DIST)/work/*/values.yaml
	$(if $(HOMEPAGE),sed -i -e '/^home: /d' -e '$$a home: $(HOMEPAGE)' -e '$(call annotated,$(links))' $(DIST)/work/*/Chart.yaml)
	for values in $$(grep -l '^image:' $(DIST)/work/*/values.yaml); do \
	  sed -i '$(call annotated,$(images))' "$${values%values.yaml}Chart.yaml" || exit 1; \
	done
	for chart in $(DIST)/work/*; do $(HELM) package $$chart --destination $(DIST) || exit 1; done
	rm -rf $(DIST)/work

wheel: $(STAMP) ## build the wheel into dist/
	$(BIN)/python -m hatchling build --target wheel --directory $(DIST)

krew: wheel ## write the kubectl plugin for krew into dist/, with HOMEPAGE=… of its releases
	@test -n "$(HOMEPAGE)" || { echo "Name the page of the repository with HOMEPAGE=…"; exit 1; }
	$(BIN)/python -m e2e.release.krew $(DIST) --homepage=$(HOMEPAGE)

notes = awk -v head="\#\# [$(VERSION)]" \
  'index($$0, head) == 1 {found = 1; next} found && /^\#\# / {exit} found {print} found && NF {some = 1} END {exit !some}' \
  CHANGELOG.md
without-notes = { echo "CHANGELOG.md has nothing about [$(VERSION)]" >&2; exit 1; }

release-notes: # print the section of the changelog on this version
	@$(notes) || $(without-notes)

release-check: ## check that TAG=vX.Y.Z is the version of program, chart and changelog
	@test "$(TAG)" = "v$(VERSION)" || \
	  { echo "The tag is $(or $(TAG),empty), and the version in pyproject.toml $(VERSION)" >&2; exit 1; }
	@grep -qxF 'PROGRAM_VERSION = "$(VERSION)"' reporter/__init__.py || \
	  { echo "reporter/__init__.py has another PROGRAM_VERSION than $(VERSION)" >&2; exit 1; }
	@grep -qxF 'appVersion: "$(VERSION)"' $(CHART)/Chart.yaml && \
	  grep -qx 'version: .*+reporter\.$(subst .,\.,$(VERSION))' $(CHART)/Chart.yaml || \
	  { echo "$(CHART)/Chart.yaml has another version or appVersion than $(VERSION)" >&2; exit 1; }
	@for chart in $(filter-out $(CHART),$(CHARTS)); do \
	  test "$$(grep -cxF -e 'version: "$(VERSION)"' -e 'appVersion: "$(VERSION)"' $$chart/Chart.yaml)" = 2 || \
	  { echo "$$chart/Chart.yaml has another version or appVersion than $(VERSION)" >&2; exit 1; }; \
	done
	@$(notes) >/dev/null || $(without-notes)

test-image: $(STAMP) ## build the image from nothing and run it on the real control plane (root, Debian)
	@$(BIN)/python -m e2e.controlplane --quiet
	IMAGE_REQUIRED=1 CONTROLPLANE_REQUIRED=1 $(BIN)/pytest e2e/image -m "" -s

# Each file begins with its command, which Renovate runs, so words are such as its manager pip-compile takes.
UV := uv pip compile --generate-hashes --universal --python-version=3.11

lock: ## renew the lock files (needs uv)
	$(UV) --extra=cel --group=dev pyproject.toml --output-file=requirements.lock
	$(UV) --extra=cel --constraint=requirements.lock pyproject.toml --output-file=requirements.run.lock
	$(UV) --constraint=requirements.lock --group=build --output-file=requirements.build.lock

# Such as --vulnerability-service=osv, which asks osv.dev instead of pypi.org.
AUDIT_FLAGS ?=
not-audited = { echo "$(1) is NOT AUDITED, or has vulnerabilities: see above. Nothing is known of what was not found." >&2; exit 1; }

audit: ## known holes in what the image contains, and in what builds and tests it (needs pip-audit)
	@$(PYTHON) -m e2e.release.base_support
	@for lock in requirements.run.lock requirements.lock requirements.build.lock; do \
	  pip-audit --strict --require-hashes --disable-pip $(AUDIT_FLAGS) --requirement $$lock || $(call not-audited,$$lock); \
	done

soak: $(STAMP) ## twenty minutes of random trouble, each Event held against the truth
	$(BIN)/python -m e2e.soak --minutes 20

clean: ## remove what was installed and cached here
	rm -rf .venv .venv-image-python .mypy_cache .ruff_cache .pytest_cache .hypothesis
