//! What goes in, what the log holds, what survives, and who decides about limits.

use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};
use toolwright_sandbox::{
    GuestLimits, LogLevel, LogLine, ProgramForm, ProgramInput, SandboxErrorCode,
};

use crate::support::{ALONE, POOL, assert_alive, pool, resident, run, run_with, script, tight};

#[test]
fn input_has_caps_of_its_own() {
    let _full = ALONE.read();
    let identity = script(&POOL, "module.exports = (x) => x.length");
    let at = |bytes: usize| ProgramInput::args(json!("x".repeat(bytes)));
    let run =
        |input: &ProgramInput| POOL.run_blocking(&identity, input, &GuestLimits::default(), None);
    assert_eq!(run(&at((1 << 20) - 2)).expect("it fits").value, json!((1 << 20) - 2));
    let error = run(&at((1 << 20) - 1)).expect_err("too large");
    assert_eq!(error.code, SandboxErrorCode::InputTooLarge);
    assert_eq!(error.message, "the input is larger than the 1048576 bytes that are allowed");
    let both = ProgramInput { data: Some(json!("x".repeat(600_000))), ..at(600_000) };
    assert_eq!(run(&both).expect_err("together").code, SandboxErrorCode::InputTooLarge);
}

fn nested(levels: usize) -> Json {
    (0..levels).fold(json!(1), |inner, _| json!([inner]))
}

#[test]
fn input_that_is_deep() {
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
fn a_mebibyte_of_small_objects_is_no_one_s_memory_but_the_input_s() {
    let _full = ALONE.read();
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
    let _full = ALONE.read();
    let items = json!(vec![json!({ "a": 1 }); 100_000]);
    let source = "module.exports = (x) => { let n = 0; for (let i = 0; i < 60000; i++) { const a = { b: [1, 2, 3, 4, 5, 6, 7, 8] }; a.a = a; n++; } return n; }";
    let output = run_with(
        source,
        items,
        &GuestLimits { cpu: Duration::from_secs(5), ..GuestLimits::default() },
    );
    assert_eq!(output.expect("cycles are no one's memory").value, json!(60_000));
}

#[test]
fn strings_go_through_unchanged() {
    let text = json!("a\u{0}b\u{7f}ä😀\u{2028}\u{fffd}\"\\\n");
    let input = json!({ "": text, "\u{0}": [text], "__proto__": { "constructor": text } });
    let output = run_with("module.exports = (x) => x", input.clone(), &GuestLimits::default());
    assert_eq!(output.expect("a result").value, input);
}

#[test]
fn the_log() {
    let output = run(
        "console.log('a', 1, null, undefined, true, 1.5, NaN); console.info({ a: [1] }); console.warn(new TypeError('t'));
         console.error(() => 1, 10n, Symbol('s')); console.debug(); console.log(new Map(), { f() {}, n: NaN, m: new Map(), u: [undefined] }); console.log({ get x() { throw 1; } }, 'after');
         module.exports = () => { console.log('in'); return 1; }",
    );
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
fn a_flooded_log_is_cut_and_says_so() {
    let _full = ALONE.read();
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
        // The worker is killed: what it had said is there all the same.
        (
            "console.log('before'); const a = []; a.length = 2 ** 32 - 1; a.reverse()",
            SandboxErrorCode::Timeout,
        ),
        ("console.log('before'); const a = []; for (;;) a.push(1)", SandboxErrorCode::MemoryLimit),
    ] {
        let error = run_with(source, json!({}), &tight()).expect_err(source);
        assert_eq!(error.code, code, "{source}");
        assert_eq!(error.log.len(), 1, "{source}");
        assert_eq!(error.log[0].text, "before");
    }
}

/// The engine does not survive a lack of memory unharmed.
#[test]
fn a_worker_that_refused_memory_never_serves_again() {
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
    assert_alive(&pool);
    assert_ne!(pool.idle(), before);
}

#[test]
fn who_hit_a_limit_says_no_more() {
    let source = "console.log('before'); const a = []; try { for (;;) a.push(1); } catch { console.log('after'); console.log(); }";
    let error = run(source).expect_err("too much");
    assert_eq!(error.code, SandboxErrorCode::MemoryLimit);
    assert_eq!(error.log.iter().map(|line| line.text.as_str()).collect::<Vec<_>>(), ["before"]);
}

/// The most memory that a process ever had resident, if it lives.
fn peak(pid: u32) -> Option<usize> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let peak =
        status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB"));
    peak?.trim().parse::<usize>().ok().map(|kibibytes| kibibytes << 10)
}

#[test]
fn memory_that_was_given_back_is_used_again_whatever_its_size() {
    let sizes = "const sizes = []; for (let s = 16; s < 131072; s += Math.max(16, s >> 4 & ~15)) sizes.push(s);";
    let fill = "const fill = (s) => { const k = []; const n = Math.floor(6e6 / (s * 1.125 + 160)); for (let i = 0; i < n; i++) k.push(new ArrayBuffer(s)); return k; };";
    let limits = GuestLimits {
        cpu: Duration::from_secs(60),
        wall: Duration::from_secs(120),
        ..GuestLimits::default()
    };
    for (then, fits) in [
        // From small to large and back: nothing is in use in between.
        ("for (const s of [...sizes, ...sizes.reverse()]) fill(s); return 1", true),
        // Every tenth block stays, so that nothing large fits in between.
        (
            "const kept = []; for (const s of sizes) fill(s).forEach((b, i) => { if (i % 10 === 0) kept.push(b); }); return 1",
            false,
        ),
        // As much as there can be of every size that the heap has a list for.
        (
            "for (let b = 131072; b > 64; b -= Math.max(16, b >> 4 & ~15)) { const k = []; try { for (let i = 0; i < 6.8e6 / (b + 132); i++) k.push(new ArrayBuffer(b - 8)); } catch { } } for (;;) sizes.push(...sizes)",
            false,
        ),
    ] {
        let pool = pool(1);
        let program =
            script(&pool, &format!("module.exports = () => {{ {sizes} {fill} {then}; }}"));
        // A worker that was refused memory is gone with its figures, so they are looked at all the
        // time.
        let (outcome, peak) = std::thread::scope(|scope| {
            let call = scope
                .spawn(|| pool.run_blocking(&program, &ProgramInput::default(), &limits, None));
            let mut most = 0;
            while !call.is_finished() {
                most = pool.busy().into_iter().filter_map(peak).fold(most, usize::max);
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
        assert!(peak > 4 << 20, "nobody looked: {peak}");
        assert!(peak < 40 << 20, "a guest of 8 MiB made its worker take {peak} bytes: {then}");
    }
}

#[test]
fn a_result_costs_its_reader_little() {
    let _alone = ALONE.write();
    let limits = GuestLimits { memory: 64 << 20, ..GuestLimits::default() };
    for source in [
        "new Array(39300).fill([0])",
        "new Array(32700).fill({ '': 0 })",
        "new Array(190000).fill('a')",
        "Object.fromEntries(new Array(95000).fill(1).map((one, i) => [i.toString(36), one]))",
        "(() => { let a = {}; for (let i = 1; i < 120; i++) a = { '': a }; return new Array(320).fill(a); })()",
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
fn the_caller_decides_about_limits() {
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
    let deep = "module.exports = () => { let n = 0; const f = () => { n++; f(); }; try { f(); } catch { } return n; }";
    let stack = |stack| {
        run_with(deep, json!({}), &GuestLimits { stack, ..GuestLimits::default() })
            .expect("a depth")
            .value
            .as_u64()
    };
    assert!(stack(4 << 20) > stack(256 << 10));
    // Beyond any sense they are what the worker can bear.
    assert!(
        run_with(
            deep,
            json!({}),
            &GuestLimits { stack: usize::MAX, memory: usize::MAX, ..at(5000) }
        )
        .is_ok()
    );
}

#[test]
fn the_clock_on_the_wall_ends_what_takes_no_time_of_the_processor() {
    struct Never;
    impl toolwright_sandbox::HostFunctions for Never {
        fn names(&self) -> Vec<String> {
            vec!["never".to_owned()]
        }
        fn call<'a>(
            &'a self,
            _: &'a str,
            _: Vec<Json>,
        ) -> futures::future::BoxFuture<'a, Result<Json, toolwright_sandbox::HostError>> {
            Box::pin(std::future::pending())
        }
    }
    let pool = pool(1);
    let program = script(&pool, "module.exports = () => never()");
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let limits = GuestLimits { wall: Duration::from_millis(50), ..tight() };
    runtime.block_on(async {
        let input = ProgramInput::default();
        // It waits for the host, so neither clock runs: the caller bounds it.
        let call = pool.run(&program, &input, &limits, Some(&Never));
        assert!(tokio::time::timeout(Duration::from_millis(300), call).await.is_err());
    });
    assert_alive(&pool);
    assert_eq!(pool.started(), 2, "the worker of the call that was dropped is gone");
    // Stopped from outside, a worker uses no processor time at all.
    let looped = script(&pool, "for (;;);");
    let pid = pool.idle()[0];
    let stop = std::process::Command::new("kill").args(["-STOP", &pid.to_string()]).status();
    assert!(stop.expect("kill is there").success());
    let began = Instant::now();
    let error = pool
        .run_blocking(&looped, &ProgramInput::default(), &limits, None)
        .expect_err("it is stopped");
    assert_eq!(error.code, SandboxErrorCode::Timeout);
    assert!(error.message.contains("on the clock"), "{}", error.message);
    assert!(began.elapsed() < Duration::from_secs(5));
    assert_alive(&pool);
}

#[test]
fn compiling_has_limits_too() {
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
        let started = Instant::now();
        // Some of these are programs; none may hurt.
        let _ = POOL.compile_blocking(&source, ProgramForm::Script, None);
        assert!(started.elapsed() < Duration::from_secs(10));
        assert_alive(&POOL);
    }
    let error = POOL
        .compile_blocking(&"x".repeat(2 << 20), ProgramForm::Script, None)
        .expect_err("too long");
    assert_eq!(error.code, SandboxErrorCode::InputTooLarge);
    // Every function carries its own text.
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
fn globals_and_a_prelude() {
    let prelude = "class Special extends Error { constructor(code) { super('special'); this.name = 'Special'; this.code = code; } }
                   function helper(x) { return x * factor; }";
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let prelude = runtime.block_on(POOL.compile_prelude(prelude)).expect("it compiles");
    let input = ProgramInput {
        args: json!({ "n": 2 }),
        globals: vec![("factor".to_owned(), json!(21))],
        prelude: Some(prelude),
        ..ProgramInput::default()
    };
    let run = |source: &str, form| {
        let program = POOL.compile_blocking(source, form, None).expect("it compiles");
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
    // What the prelude declares is nobody's entry point.
    assert_eq!(
        run("function mine() { return helper(1); }", ProgramForm::Script).expect("a result").value,
        json!(21)
    );
    let error = run("\n  throw new Special('CODE')", ProgramForm::Script).expect_err("it throws");
    assert_eq!(error.name.as_deref(), Some("Special"));
    let place = error.place().expect("a place");
    assert_eq!(error.fields.expect("fields")["code"], json!("CODE"));
    assert_eq!((place.line, place.column), (2, 13), "of the program, not of the prelude");
}
