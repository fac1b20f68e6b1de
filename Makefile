# A thin front for meson.  `make` builds build/holdfast; see README.md.
BUILD ?= build
PREFIX ?= /usr/local
MESON_FLAGS ?=
PROGRAM = $(BUILD)/holdfast

.PHONY: all deps demo test check-fast bench lint asan fuzz soak live browser \
        watch-live corpora compare-elle compare-corpora install clean docs format

all: $(BUILD)/build.ninja
	@ninja -C $(BUILD) --quiet

deps:
	@scripts/deps

$(BUILD)/build.ninja: | deps
	@meson setup $(BUILD) --buildtype=release -Db_ndebug=false \
	    --prefix=$(PREFIX) $(MESON_FLAGS) >$(BUILD).setup.log 2>&1 || \
	    { cat $(BUILD).setup.log; exit 2; }
	@rm -f $(BUILD).setup.log

demo: deps all
	@scripts/demo.sh $(PROGRAM)

test: deps all
	@scripts/run-tests $(BUILD)

check-fast: deps all
	@scripts/run-tests $(BUILD) unit

bench: deps all
	@bench/run $(BUILD)

lint: deps all
	@scripts/lint $(BUILD)

asan: deps
	@$(MAKE) --no-print-directory BUILD=build-asan all \
	    MESON_FLAGS="-Db_sanitize=address,undefined -Doptimization=1"
	@scripts/run-tests build-asan

fuzz: deps
	@scripts/fuzz $(or $(SECONDS),60)

soak: deps all
	@scripts/soak $(BUILD)

# Every database that is installed: hours.  SECONDS, MINUTES, DB, LEVEL,
# WORKLOAD make it shorter, PARTS="anomalies bugs faults matrix clean" choose.
live: deps all
	@SECONDS="$(SECONDS)" MINUTES="$(MINUTES)" CLIENTS="$(CLIENTS)" \
	    CHECK="$(CHECK)" DB="$(DB)" VARIANT="$(VARIANT)" LEVEL="$(LEVEL)" \
	    WORKLOAD="$(WORKLOAD)" RESUME="$(RESUME)" scripts/live $(BUILD) $(PARTS)

# The same databases, watched while they run: SECONDS each, JOBS at once, DB
# chooses.
watch-live: deps all
	@scripts/watch-live --seconds $(or $(SECONDS),300) --jobs $(or $(JOBS),1) \
	    $(BUILD)/holdfast $(DB)

corpora: deps all
	@$(BUILD)/tests/corpora $(or $(DIR),../shared/corpora)

compare-elle: deps all
	@$(BUILD)/tests/elle_verdicts tests/data/elle-verdicts.tsv \
	    $(or $(DIR),../shared/corpora) \
	    $(or $(DIR),../shared/corpora)/INDEX.tsv

compare-corpora: deps all
	@$(BUILD)/tests/corpus_verdicts $(or $(DIR),../shared/corpora) \
	    tests/data/corpora-remarks.tsv $(or $(ENGINE),auto) \
	    $(or $(SECONDS),30)

browser: deps all
	@tests/browser/test_report.py $(PROGRAM)

docs: all
	@scripts/generate-docs $(PROGRAM)

format:
	@clang-format -i $$(git ls-files '*.c' '*.h')

# PREFIX may differ from the one the build was set up with.
install: all
	@meson configure $(BUILD) -Dprefix=$(PREFIX)
	@ninja -C $(BUILD) --quiet
	@meson install -C $(BUILD) --no-rebuild --quiet
	@echo "installed into $(DESTDIR)$(PREFIX)"

clean:
	@rm -rf build build-asan build-fuzz
