//! The limits of a call: input, result, log, memory, time, stack and compilation.

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use serde_json::{Value as Json, json};
use toolwright_sandbox::{
    GuestLimits, HostError, HostFunctions, LogLevel, LogLine, ProgramForm, ProgramInput,
    SandboxErrorCode,
};

use crate::support::{
    EVENT_TIMEOUT, POOL, PROCESS_METRICS, assert_works, pool, resident, run, run_with, script,
    short_time, signal, unlimited_time,
};

#[test]
fn the_input_has_a_limit_of_bytes() {
    let _metrics = PROCESS_METRICS.read();
    let identity = script(&POOL, "module.exports = (x) => x.length");
    let at = |bytes: usize| ProgramInput::args(json!("x".repeat(bytes)));
    let run =
        |input: &ProgramInput| POOL.run_blocking(&identity, input, &GuestLimits::default(), None);
    assert_eq!(run(&at((1 << 20) - 2)).expect("it fits").value, json!((1 << 20) - 2));
    let error = run(&at((1 << 20) - 1)).expect_err("too large");
    assert_eq!(error.code, SandboxErrorCode::InputTooLarge);
    assert_eq!(error.message, "the input is larger than the 1048576 bytes that are allowed");
    let both = ProgramInput { data: Some(json!("x".repeat(600_000)).into()), ..at(600_000) };
    assert_eq!(run(&both).expect_err("together").code, SandboxErrorCode::InputTooLarge);
}

fn nested(levels: usize) -> Json {
    (0..levels).fold(json!(1), |inner, _| json!([inner]))
}

#[test]
fn the_input_has_a_limit_of_levels() {
    let identity = script(&POOL, "module.exports = (x) => x");
    let run = |levels| {
        POOL.run_blocking(
            &identity,
            &ProgramInput::args(nested(levels)),
            &GuestLimits::default(),
            None,
        )
    };
    assert_eq!(run(127).expect("it fits").value, nested(127));
    let error = run(128).expect_err("too deep");
    assert_eq!(
        (error.code, error.message.as_str()),
        (SandboxErrorCode::InputTooLarge, "the input is nested deeper than 127 levels")
    );
}

#[test]
fn the_input_does_not_count_against_the_memory_of_the_guest() {
    let _metrics = PROCESS_METRICS.read();
    let items = json!(vec![json!({}); 340_000]);
    let output = run_with(
        "module.exports = (x) => x.length",
        items,
        &GuestLimits { input: 2 << 20, ..GuestLimits::default() },
    );
    let output = output.expect("8 MiB beyond the input are enough");
    assert_eq!(output.value, json!(340_000));
    assert!(output.memory < 1 << 20, "{} bytes", output.memory);
}

#[test]
fn garbage_beside_a_large_input_is_collected() {
    let _metrics = PROCESS_METRICS.read();
    let items = json!(vec![json!({ "a": 1 }); 100_000]);
    let source = "module.exports = (x) => { let n = 0; for (let i = 0; i < 60000; i++) { const a \
     = { b: [1, 2, 3, 4, 5, 6, 7, 8] }; a.a = a; n++; } return n; }";
    let output = run_with(
        source,
        items,
        &GuestLimits { cpu: Duration::from_secs(5), ..GuestLimits::default() },
    );
    assert_eq!(output.expect("cycles are collected in time").value, json!(60_000));
}

#[test]
fn strings_enter_and_leave_unchanged() {
    let text = json!("a\u{0}b\u{7f}ä😀\u{2028}\u{fffd}\"\\\n");
    let input = json!({ "": text, "\u{0}": [text], "__proto__": { "constructor": text } });
    let output = run_with("module.exports = (x) => x", input.clone(), &GuestLimits::default());
    assert_eq!(output.expect("a result").value, input);
}

#[test]
fn the_log_shows_values_of_every_kind() {
    let output =
        run("console.log('a', 1, null, undefined, true, 1.5, NaN); console.info({ a: [1] }); \
         console.warn(new TypeError('t'));
         console.error(() => 1, 10n, Symbol('s')); console.debug(); console.log(new Map(), { f() \
          {}, n: NaN, m: new Map(), u: [undefined] }); console.log({ get x() { throw 1; } }, \
          'after');
         module.exports = () => { console.log('in'); return 1; }");
    let log = output.expect("a result").log;
    let line = |level, text: &str| LogLine { level, text: text.to_owned() };
    assert_eq!(
        log,
        [
            line(LogLevel::Log, "a 1 null undefined true 1.5 NaN"),
            line(LogLevel::Info, "{\"a\":[1]}"),
            line(LogLevel::Warn, "TypeError: t"),
            line(LogLevel::Error, "[function] [BigInt] [symbol]"),
            line(LogLevel::Debug, ""),
            line(
                LogLevel::Log,
                "[Map] {\"f\":[function],\"n\":[NaN],\"m\":[Map],\"u\":[[undefined]]}"
            ),
            line(LogLevel::Log, "[Object] after"),
            line(LogLevel::Log, "in"),
        ]
    );
}

#[test]
fn a_log_that_is_too_long_is_cut_visibly() {
    let _metrics = PROCESS_METRICS.read();
    for flood in [
        "for (let i = 0; i < 1e5; i++) console.log('line ' + i)",
        "console.log('x'.repeat(1e6)); console.log('more')",
        "console.log(...new Array(6e4).fill('x'.repeat(1e4)))",
        "console.log(new Array(1e5).fill(1))",
    ] {
        let output = run(&format!("module.exports = () => {{ {flood}; return 1; }}")).expect(flood);
        let bytes: usize = output.log.iter().map(|line| line.text.len()).sum();
        assert!(bytes < 70_000, "{flood}: {bytes} bytes");
        let cut = output.log.iter().filter(|line| line.text.ends_with("[log cut here]")).count();
        assert_eq!(cut, usize::from(!flood.contains("1e5).fill")), "{flood}");
    }
}

#[test]
fn errors_carry_the_log() {
    for (source, code) in [
        ("console.log('before'); throw new Error('x')", SandboxErrorCode::Threw),
        ("console.log('before'); for (;;);", SandboxErrorCode::Timeout),
        // The worker is killed; the line that it sent before is kept.
        (
            "console.log('before'); const a = []; a.length = 2 ** 32 - 1; a.reverse()",
            SandboxErrorCode::Timeout,
        ),
        ("console.log('before'); const a = []; for (;;) a.push(1)", SandboxErrorCode::MemoryLimit),
    ] {
        let error = run_with(source, json!({}), &short_time()).expect_err(source);
        assert_eq!(error.code, code, "{source}");
        assert_eq!(error.log.len(), 1, "{source}");
        assert_eq!(error.log[0].text, "before");
    }
}

/// The engine may be damaged afterwards.
#[test]
fn a_worker_that_refused_memory_serves_no_other_call() {
    let pool = pool(1);
    let greedy = script(
        &pool,
        "const a = []; try { for (;;) a.push([1]); } catch { } module.exports = () => 1",
    );
    let before = pool.idle();
    let error = pool
        .run_blocking(&greedy, &ProgramInput::default(), &GuestLimits::default(), None)
        .expect_err("too much");
    assert_eq!(error.code, SandboxErrorCode::MemoryLimit);
    assert!(pool.idle().is_empty(), "{:?}", pool.idle());
    assert_works(&pool);
    assert_ne!(pool.idle(), before);
}

#[test]
fn a_guest_that_was_refused_memory_logs_nothing_more() {
    let source = "console.log('before'); const a = []; try { for (;;) a.push(1); } catch { \
     console.log('after'); console.log(); }";
    let error = run(source).expect_err("too much");
    assert_eq!(error.code, SandboxErrorCode::MemoryLimit);
    assert_eq!(error.log.iter().map(|line| line.text.as_str()).collect::<Vec<_>>(), ["before"]);
}

/// The most bytes of memory that a process ever had resident; `None` if it has ended.
fn peak_resident(pid: u32) -> Option<usize> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let peak =
        status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB"));
    peak?.trim().parse::<usize>().ok().map(|kibibytes| kibibytes << 10)
}

#[test]
fn freed_memory_is_reused_for_every_size() {
    let sizes = "const sizes = []; for (let s = 16; s < 131072; s += Math.max(16, s >> 4 & ~15)) \
     sizes.push(s);";
    let fill = "const fill = (s) => { const k = []; const n = Math.floor(6e6 / (s * 1.125 + \
     160)); for (let i = 0; i < n; i++) k.push(new ArrayBuffer(s)); return k; };";
    for (then, fits) in [
        // From small blocks to large ones and back; each size is freed before the next.
        ("for (const s of [...sizes, ...sizes.reverse()]) fill(s); return 1", true),
        // Every tenth block stays in use, so that large blocks fit nowhere.
        (
            "const kept = []; for (const s of sizes) fill(s).forEach((b, i) => { if (i % 10 === \
             0) kept.push(b); }); return 1",
            false,
        ),
        // As many blocks as possible of every size class of the heap.
        (
            "for (let b = 131072; b > 64; b -= Math.max(16, b >> 4 & ~15)) { const k = []; try { \
             for (let i = 0; i < 6.8e6 / (b + 132); i++) k.push(new ArrayBuffer(b - 8)); } catch \
             { } } for (;;) sizes.push(...sizes)",
            false,
        ),
    ] {
        let pool = pool(1);
        let program =
            script(&pool, &format!("module.exports = () => {{ {sizes} {fill} {then}; }}"));
        // A worker that was refused memory ends, and its figures with it. So they are read all the
        // time; they are a maximum, so one look towards the end is enough.
        let (outcome, peak) = std::thread::scope(|scope| {
            let call = scope.spawn(|| {
                pool.run_blocking(&program, &ProgramInput::default(), &unlimited_time(), None)
            });
            let mut most = 0;
            while !call.is_finished() {
                most = pool.busy().into_iter().filter_map(peak_resident).fold(most, usize::max);
                std::thread::sleep(Duration::from_millis(1));
            }
            (call.join().expect("no panic"), most)
        });
        match outcome {
            Ok(output) => assert_eq!((output.value, fits), (json!(1), true)),
            Err(error) => {
                assert_eq!((error.code, fits), (SandboxErrorCode::MemoryLimit, false), "{error}")
            }
        }
        assert!(peak > 4 << 20, "the peak was not seen: {peak}");
        assert!(peak < 40 << 20, "a guest of 8 MiB made its worker take {peak} bytes: {then}");
    }
}

#[test]
fn parsing_a_result_takes_little_memory() {
    let _metrics = PROCESS_METRICS.write();
    let limits = GuestLimits { memory: 64 << 20, ..GuestLimits::default() };
    for source in [
        "new Array(39300).fill([0])",
        "new Array(32700).fill({ '': 0 })",
        "new Array(190000).fill('a')",
        "Object.fromEntries(new Array(95000).fill(1).map((one, i) => [i.toString(36), one]))",
        "(() => { let a = {}; for (let i = 1; i < 120; i++) a = { '': a }; return new \
         Array(320).fill(a); })()",
    ] {
        let before = resident();
        let output = run_with(&format!("module.exports = () => {source}"), json!({}), &limits)
            .expect(source);
        let growth = resident().saturating_sub(before);
        assert!(growth < 32 << 20, "{source}: the parent grew by {growth} bytes");
        drop(output);
    }
}

#[test]
fn the_caller_sets_the_limits() {
    let work =
        "module.exports = () => { let n = 0; for (let i = 0; i < 3e6; i++) n += i; return n; }";
    let at = |milliseconds| GuestLimits {
        cpu: Duration::from_millis(milliseconds),
        ..GuestLimits::default()
    };
    assert_eq!(
        run_with(work, json!({}), &at(1)).expect_err("too short").code,
        SandboxErrorCode::Timeout
    );
    assert!(run_with(work, json!({}), &at(10_000)).is_ok());
    let memory = |memory| GuestLimits { memory, ..GuestLimits::default() };
    let store = "module.exports = () => new Array(2e6).fill(1).length";
    assert_eq!(
        run_with(store, json!({}), &memory(8 << 20)).expect_err("too little").code,
        SandboxErrorCode::MemoryLimit
    );
    let output = run_with(store, json!({}), &memory(64 << 20)).expect("enough");
    assert!((16 << 20..64 << 20).contains(&output.memory), "{}", output.memory);
    let deep = "module.exports = () => { let n = 0; const f = () => { n++; f(); }; try { f(); } \
     catch { } return n; }";
    let stack = |stack| {
        run_with(deep, json!({}), &GuestLimits { stack, ..GuestLimits::default() })
            .expect("a depth")
            .value
            .as_u64()
    };
    assert!(stack(4 << 20) > stack(256 << 10));
    // Limits above what a worker supports are lowered.
    assert!(
        run_with(
            deep,
            json!({}),
            &GuestLimits { stack: usize::MAX, memory: usize::MAX, ..at(5000) }
        )
        .is_ok()
    );
}

/// Offers `wait()`, which never answers, and notifies the test when it is called.
struct Waiting(Arc<tokio::sync::Notify>);

impl HostFunctions for Waiting {
    fn names(&self) -> Vec<String> {
        vec!["wait".to_owned()]
    }

    fn call<'a>(&'a self, _: &'a str, _: Vec<Json>) -> BoxFuture<'a, Result<Json, HostError>> {
        self.0.notify_one();
        Box::pin(std::future::pending())
    }
}

#[test]
fn dropping_a_call_that_waits_for_the_host_ends_its_worker() {
    let pool = pool(1);
    let program = script(&pool, "module.exports = () => wait()");
    let called = Arc::new(tokio::sync::Notify::new());
    let host = Waiting(Arc::clone(&called));
    tokio::runtime::Runtime::new().expect("a runtime").block_on(async {
        let (input, limits) = (ProgramInput::default(), GuestLimits::default());
        let waited = tokio::select! {
            result = pool.run(&program, &input, &limits, Some(&host)) => panic!("{result:?}"),
            waited = tokio::time::timeout(EVENT_TIMEOUT, called.notified()) => waited,
        };
        waited.expect("the guest calls the host");
    });
    assert_works(&pool);
    assert_eq!(pool.started(), 2, "the worker of the dropped call has ended");
}

/// A worker that is stopped from outside uses no processor time at all.
#[test]
fn a_guest_without_processor_time_is_ended_by_the_wall_clock() {
    let pool = pool(1);
    let endless = script(&pool, "for (;;);");
    assert_works(&pool);
    signal("-STOP", pool.idle()[0]);
    let limits = GuestLimits { wall: Duration::from_millis(50), ..short_time() };
    tokio::runtime::Runtime::new().expect("a runtime").block_on(async {
        let input = ProgramInput::default();
        let call = pool.run(&endless, &input, &limits, None);
        let result = tokio::time::timeout(EVENT_TIMEOUT, call).await.expect("the call ends");
        let error = result.expect_err("it is stopped");
        assert_eq!(error.code, SandboxErrorCode::Timeout);
        assert_eq!(error.message, "the program did not end within 50ms of wall-clock time");
    });
    assert_works(&pool);
}

#[test]
fn compiling_has_limits() {
    for source in [
        format!("/{}/", "(a{1000}){1000}".repeat(20)),
        format!("/{}/", "[^a]{65535}".repeat(5000)),
        "(".repeat(200_000),
        "[".repeat(200_000),
        "a=>".repeat(100_000),
        format!("{}1", "-".repeat(300_000).replace("--", "- -")),
        format!("x={}", "1+".repeat(200_000)),
        "`${".repeat(50_000),
        format!("/{}/u", "\\p{L}".repeat(100_000)),
    ] {
        // Some of these are valid programs. None may take longer than the limits allow, which is
        // seconds, and much less than compiling them without limits.
        let started = std::time::Instant::now();
        let _ = POOL.compile_blocking(&source, ProgramForm::Script, None);
        assert!(started.elapsed() < EVENT_TIMEOUT, "{source:.40}");
        assert_works(&POOL);
    }
    let error = POOL
        .compile_blocking(&"x".repeat(2 << 20), ProgramForm::Script, None)
        .expect_err("too long");
    assert_eq!(error.code, SandboxErrorCode::InputTooLarge);
    // Bytecode contains the source text of every function, nested ones included.
    let nested =
        format!("{}/*{}*/1{}", "(() => ".repeat(100), "x".repeat(150_000), ")".repeat(100));
    let error = POOL.compile_blocking(&nested, ProgramForm::Script, None).expect_err("too long");
    assert_eq!(error.code, SandboxErrorCode::InputTooLarge);
    assert!(
        error.message.ends_with("bytes when compiled, more than the 8388608 allowed"),
        "{error}"
    );
    let error =
        POOL.compile_blocking("a \0 b", ProgramForm::Script, None).expect_err("no JavaScript");
    assert_eq!(error.code, SandboxErrorCode::Syntax);
}

#[test]
fn a_program_sees_globals_and_the_prelude() {
    let prelude = "class Special extends Error { constructor(code) { super('special'); this.name \
     = 'Special'; this.code = code; } }
                   function helper(x) { return x * factor; }";
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let input = ProgramInput {
        args: json!({ "n": 2 }).into(),
        globals: vec![("factor".to_owned(), json!(21).into())],
        ..ProgramInput::default()
    };
    let run = |source: &str, form| {
        let compiled = POOL.compile_with_prelude(prelude, source, form, None);
        let program = runtime.block_on(compiled).expect("it compiles");
        POOL.run_blocking(&program, &input, &GuestLimits::default(), None)
    };
    assert_eq!(
        run("module.exports = ({ n }) => helper(n)", ProgramForm::Script).expect("a result").value,
        json!(42)
    );
    assert_eq!(
        run("export default ({ n }) => helper(n)", ProgramForm::Module).expect("a result").value,
        json!(42)
    );
    // A function of the prelude is not the entry point.
    assert_eq!(
        run("function mine() { return helper(1); }", ProgramForm::Script).expect("a result").value,
        json!(21)
    );
    let error = run("\n  throw new Special('CODE')", ProgramForm::Script).expect_err("it throws");
    assert_eq!(error.name.as_deref(), Some("Special"));
    let position = error.position().expect("a position");
    assert_eq!(error.fields.expect("fields")["code"], json!("CODE"));
    assert_eq!((position.line, position.column), (2, 13), "in the program, not in the prelude");
}
