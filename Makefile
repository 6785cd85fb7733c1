# The commands of the project. `make demo` and `make test` need only a Rust toolchain.

CARGO ?= cargo
export INSTA_UPDATE = no

.PHONY: demo test e2e bench soak fuzz

# Build what the demo needs, then show the program at work on examples/. The first build takes a few
# minutes; cargo prints what it compiles.
demo:
	@echo "Building toolwright and its web tools. The first build takes a few minutes."
	@$(CARGO) build --profile demo --locked -p toolwright -p toolwright-web --bins
	@./examples/demo "$${CARGO_TARGET_DIR:-target}/demo"

# Every check that needs only Rust. Tests wait for servers and processes as much as they compute, so
# one more runs than there are cores.
test:
	$(CARGO) fmt --all --check
	$(CARGO) fmt --manifest-path fuzz/Cargo.toml --check
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --locked --quiet \
	  --document-private-items
	@if $(CARGO) nextest --version >/dev/null 2>&1; then \
	  $(CARGO) nextest run --workspace --locked \
	    --test-threads $$(($$(getconf _NPROCESSORS_ONLN) + 1)) && \
	  $(CARGO) test --workspace --locked --doc --quiet; \
	else \
	  $(CARGO) test --workspace --locked --quiet; \
	fi

# What needs npm, pip or apt; installs it. A skip here is a failure.
e2e:
	./e2e/run

# Figures, each against a peer in the same run. Never gates.
bench:
	./bench/run

# 200,000 calls through the gateway while servers are killed, definitions change and clients give
# up; 10,000 calls under policy and audit; `kill -9` at 1,000 moments. Some minutes; never gates.
soak:
	$(CARGO) build --release --locked --quiet --bins -p toolwright-bench -p toolwright
	"$${CARGO_TARGET_DIR:-target}/release/toolwright-bench" soak
	TOOLWRIGHT_TEST_CALLS=10000 TOOLWRIGHT_TEST_KILLS=1000 $(CARGO) nextest run --locked \
		-p toolwright -E 'test(every_call_of_many_has_one_result_and_one_record) \
		| test(programs_scripts_and_orchestrations_leave_one_record_each) \
		| test(after_a_kill_every_result_that_left_has_one_record)'

# Ten minutes of coverage-guided fuzzing over all targets. Never gates.
fuzz:
	./fuzz/run
