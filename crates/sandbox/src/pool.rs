//! A pool of workers: as many calls as there are workers run at a time, the others wait in order. A
//! worker that overran, died or was abandoned is replaced by the next call that needs one.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use tokio::sync::Semaphore;

use crate::call::{Answer, Conversation, Turn, is_shallow};
use crate::error::{Code, Error};
use crate::host::HostFunctions;
use crate::jail::JailReport;
use crate::limits::{LEAST_ADDRESS_SPACE, MAX_DEPTH};
use crate::output::{Input, Output};
use crate::process::{Midwife, Worker, WorkerCommand};
use crate::program::{Compiled, camel_case, declared_names, in_characters};
use crate::wire::{self, Body, Frame, Kind};
use crate::{Form, Json, Limits, Program};

/// How long a worker may take from its start to its greeting.
const GREETING: Duration = Duration::from_secs(10);
/// A greeting is not longer than this.
const GREETING_BYTES: usize = 16 << 10;
/// Guests that take long and leave their turns to others. Each has a worker of its own, so this
/// bounds memory.
const ASIDE: usize = 16;
/// Descriptors that a runtime takes.
const SPARE: usize = 8;
const MEMORY: usize = 256 << 20;
const STACK: std::ops::RangeInclusive<usize> = 64 << 10..=4 << 20;

/// How a pool is set up.
#[derive(Clone, Debug)]
pub struct PoolOptions {
    /// The program that becomes a worker. Never guessed: a test harness that starts itself would
    /// run its tests again.
    pub worker: WorkerCommand,
    /// How many guests may run at a time; at least one. A guest that waits for a host function does
    /// not count, nor do a few that have been running for long.
    pub workers: usize,
    /// Whether a worker whose jail lacks a layer is refused.
    pub require_jail: bool,
    /// Hears once how the workers are jailed, when the first of them has said so.
    pub on_jail: Option<OnJail>,
}

/// Who hears how workers are jailed.
#[derive(Clone)]
pub struct OnJail(pub Arc<dyn Fn(&JailReport) + Send + Sync>);

impl std::fmt::Debug for OnJail {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("OnJail")
    }
}

impl PoolOptions {
    /// As many workers as there are processors; a jail that lacks a layer is reported, not refused.
    pub fn new(worker: WorkerCommand) -> PoolOptions {
        let workers = std::thread::available_parallelism().map_or(1, usize::from);
        PoolOptions { worker, workers, require_jail: false, on_jail: None }
    }
}

/// Jailed workers that run programs. Cheap to clone; the workers die with the last clone.
#[derive(Clone)]
pub struct Pool(Arc<Inner>);

struct Inner {
    options: PoolOptions,
    midwife: OnceLock<Midwife>,
    turns: Arc<Semaphore>,
    aside: Arc<Semaphore>,
    idle: Mutex<Vec<Worker>>,
    busy: Mutex<Vec<u32>>,
    jail: OnceLock<JailReport>,
    started: AtomicU64,
    /// Calls that are running or wait for their turn.
    asked: AtomicUsize,
    /// Drives calls of those who have no runtime.
    blocking: OnceLock<tokio::runtime::Runtime>,
}

impl std::fmt::Debug for Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pool")
            .field("options", &self.0.options)
            .field("started", &self.started())
            .finish()
    }
}

impl Pool {
    /// A pool without workers: each is started when a call first needs it.
    pub fn new(options: PoolOptions) -> Pool {
        let turns = Arc::new(Semaphore::new(options.workers.clamp(1, 1024)));
        Pool(Arc::new(Inner {
            options,
            midwife: OnceLock::new(),
            turns,
            aside: Arc::new(Semaphore::new(ASIDE)),
            idle: Mutex::default(),
            busy: Mutex::default(),
            jail: OnceLock::new(),
            started: AtomicU64::new(0),
            asked: AtomicUsize::new(0),
            blocking: OnceLock::new(),
        }))
    }

    /// How many workers were ever started.
    pub fn started(&self) -> u64 {
        self.0.started.load(Ordering::Relaxed)
    }

    /// The process numbers of the workers that are idle now.
    pub fn idle(&self) -> Vec<u32> {
        lock(&self.0.idle).iter().map(Worker::pid).collect()
    }

    /// The process numbers of the workers that are at work now.
    pub fn busy(&self) -> Vec<u32> {
        lock(&self.0.busy).clone()
    }

    /// How the workers are jailed. Starts one if there was none yet.
    pub async fn jail(&self) -> Result<JailReport, Error> {
        if let Some(report) = self.0.jail.get() {
            return Ok(report.clone());
        }
        let worker = self.0.start().await?;
        self.0.put_back(worker);
        self.0
            .jail
            .get()
            .cloned()
            .ok_or_else(|| Error::start("the worker did not say how it is jailed"))
    }

    /// [`Pool::jail`] for those who have no async runtime. Panics inside of one.
    pub fn jail_blocking(&self) -> Result<JailReport, Error> {
        self.0.block_on(self.jail())
    }

    /// Compiles a program, in a worker: a parser that is tricked into misbehaving costs that worker
    /// alone. If a script exports several functions, the one named like `id` in camelCase is
    /// called.
    pub async fn compile(
        &self,
        source: &str,
        form: Form,
        id: Option<&str>,
    ) -> Result<Program, Error> {
        self.compile_as(source, form, id, File::Program).await
    }

    /// Compiles a script that runs before programs. Its lines are never reported as the program's.
    pub async fn compile_prelude(&self, source: &str) -> Result<Program, Error> {
        self.compile_as(source, Form::Script, None, File::Prelude).await
    }

    async fn compile_as(
        &self,
        source: &str,
        form: Form,
        id: Option<&str>,
        file: File,
    ) -> Result<Program, Error> {
        let limits = Limits { cpu: Duration::from_secs(2), memory: 64 << 20, ..Limits::default() };
        if source.len() > limits.input {
            let message = format!(
                "the source has {} bytes, more than the {} allowed",
                source.len(),
                limits.input
            );
            return Err(Error::new(Code::InputTooLarge, message));
        }
        let mut request = Frame::new(Kind::Compile);
        request
            .u64(limits.cpu.as_nanos() as u64)
            .u64(limits.memory as u64)
            .u64(limits.stack as u64);
        request.u8(u8::from(form == Form::Module)).u8(file as u8).terminated(source.as_bytes());
        let asked = self.0.ask(request, &limits, None, &[], Answer::program).await;
        let (bytecode, _) = asked.map_err(|mut error| {
            in_characters(source, &mut error.trace);
            if matches!(error.code, Code::Timeout | Code::MemoryLimit | Code::StackOverflow) {
                error.message = format!("it is too much to compile: {}", error.message);
            }
            error
        })?;
        Ok(Program(Arc::new(Compiled {
            form,
            entry: camel_case(id.unwrap_or_default()),
            bytecode,
            source: (!source.is_ascii()).then(|| source.into()),
            names: if form == Form::Script { declared_names(source) } else { Vec::new() },
        })))
    }

    /// Runs a program, in any tokio runtime that has I/O and time enabled. Dropping the future
    /// kills the worker that runs it.
    pub async fn run(
        &self,
        program: &Program,
        input: &Input,
        limits: &Limits,
        host: Option<&dyn HostFunctions>,
    ) -> Result<Output, Error> {
        let names = host.map(HostFunctions::names).unwrap_or_default();
        let request = request(program, input, limits, &names)?;
        let read = |answer: Answer| {
            let value = answer.result(limits)?;
            Ok(Output { value, log: Vec::new(), cpu: answer.cpu, memory: answer.memory })
        };
        match self.0.ask(request, limits, host, &names, read).await {
            Ok((output, log)) => Ok(Output { log, ..output }),
            Err(mut error) => {
                if let Some(source) = &program.0.source {
                    in_characters(source, &mut error.trace);
                }
                Err(error)
            }
        }
    }

    /// [`Pool::compile`] for those who have no async runtime. Panics inside of one, as everything
    /// that blocks does.
    pub fn compile_blocking(
        &self,
        source: &str,
        form: Form,
        id: Option<&str>,
    ) -> Result<Program, Error> {
        self.0.block_on(self.compile(source, form, id))
    }

    /// [`Pool::run`] for those who have no async runtime. Panics inside of one.
    pub fn run_blocking(
        &self,
        program: &Program,
        input: &Input,
        limits: &Limits,
        host: Option<&dyn HostFunctions>,
    ) -> Result<Output, Error> {
        self.0.block_on(self.run(program, input, limits, host))
    }
}

/// Whether there are descriptors enough for a tokio runtime, which panics where it cannot open what
/// it waits with.
pub fn room_for_a_runtime() -> std::io::Result<()> {
    let spare: std::io::Result<Vec<_>> =
        (0..SPARE).map(|_| std::fs::File::open("/dev/null")).collect();
    spare.map(drop)
}

/// Whether worker and caller can run at the same time.
static SEVERAL_CORES: LazyLock<bool> =
    LazyLock::new(|| std::thread::available_parallelism().is_ok_and(|cores| cores.get() > 1));

/// What source text is called in stack traces.
#[derive(Clone, Copy)]
enum File {
    Program = 0,
    Prelude = 1,
}

impl Drop for Inner {
    fn drop(&mut self) {
        // Dropping a runtime waits for its threads, which is not allowed inside of another.
        if let Some(runtime) = self.blocking.take() {
            runtime.shutdown_background();
        }
    }
}

/// Nothing that holds one of these locks can panic.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Counts a call for as long as it is there.
struct Asked<'a>(&'a AtomicUsize);

impl<'a> Asked<'a> {
    fn new(count: &'a AtomicUsize) -> Asked<'a> {
        count.fetch_add(1, Ordering::Relaxed);
        Asked(count)
    }
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A worker that is at work. Dropped without being put back, it dies.
struct Busy<'a> {
    worker: Option<Worker>,
    inner: &'a Inner,
}

impl<'a> Busy<'a> {
    fn new(worker: Worker, inner: &'a Inner) -> Busy<'a> {
        lock(&inner.busy).push(worker.pid());
        Busy { worker: Some(worker), inner }
    }

    fn put_back(mut self) {
        if let Some(worker) = self.leave() {
            self.inner.put_back(worker);
        }
    }

    fn leave(&mut self) -> Option<Worker> {
        let worker = self.worker.take()?;
        lock(&self.inner.busy).retain(|pid| *pid != worker.pid());
        Some(worker)
    }
}

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        drop(self.leave());
    }
}

impl Inner {
    fn block_on<T>(&self, future: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
        let runtime = match self.blocking.get() {
            Some(runtime) => runtime,
            None => {
                let none = |error| Error::start(format!("no runtime for the call: {error}"));
                room_for_a_runtime().map_err(none)?;
                let made = tokio::runtime::Builder::new_current_thread()
                    .enable_all()
                    .build()
                    .map_err(none)?;
                self.blocking.get_or_init(|| made)
            }
        };
        runtime.block_on(future)
    }

    /// Has one request answered, in words that `read` understands. Gives the log too, which an
    /// error carries itself.
    async fn ask<T>(
        &self,
        mut request: Frame,
        limits: &Limits,
        host: Option<&dyn HostFunctions>,
        names: &[String],
        read: impl FnOnce(Answer) -> Result<T, Error>,
    ) -> Result<(T, Vec<crate::LogLine>), Error> {
        let _asked = Asked::new(&self.asked);
        let permit = Arc::clone(&self.turns).acquire_owned().await;
        let (turns, aside) = (Arc::clone(&self.turns), Arc::clone(&self.aside));
        let mut turn = Turn { turns, aside, permit: permit.ok(), is_aside: false };
        // From here to `put_back` the worker dies if this future is dropped or fails.
        let mut busy = Busy::new(self.take().await?, self);
        let alone = *SEVERAL_CORES && self.asked.load(Ordering::Relaxed) == 1;
        request.u8(if alone { wire::ALONE } else { 0 });
        let request =
            request.finish().map_err(|error| Error::new(Code::InputTooLarge, error.to_string()))?;
        let worker = busy.worker.as_mut().expect("it was just put there");
        let mut conversation = Conversation::new(worker, request, limits, alone)
            .map_err(|error| Error::new(Code::WorkerDied, error.to_string()))?;
        let answer = conversation.finish(host, names, &mut turn).await;
        let log = std::mem::take(&mut conversation.log);
        drop(conversation);
        // Only a worker whose answer made sense serves again, and none that may have refused
        // memory: it ends itself then.
        let answer = answer.and_then(|answer| {
            let told = if answer.kind == Kind::Failed {
                Err(answer.failure()?)
            } else {
                Ok(read(answer)?)
            };
            let is_out =
                |error: &Error| matches!(error.code, Code::MemoryLimit | Code::InputTooLarge);
            if !told.as_ref().is_err_and(is_out) {
                busy.put_back();
            }
            told
        });
        match answer {
            Ok(answer) => Ok((answer, log)),
            Err(mut error) => {
                error.log = log.into();
                Err(error)
            }
        }
    }

    async fn take(&self) -> Result<Worker, Error> {
        loop {
            let idle = lock(&self.idle).pop();
            match idle {
                Some(worker) if worker.is_fit() => return Ok(worker),
                Some(dead) => drop(dead),
                None => return self.start().await,
            }
        }
    }

    fn put_back(&self, worker: Worker) {
        let mut idle = lock(&self.idle);
        // More than these exist only while guests wait for the host or take long.
        if idle.len() < self.options.workers.max(1) {
            idle.push(worker);
        }
    }

    async fn start(&self) -> Result<Worker, Error> {
        let command = &self.options.worker;
        let name = command.program.display();
        let cannot = |error: std::io::Error| {
            Error::start(format!("cannot start the worker `{name}`: {error}"))
        };
        let midwife = match self.midwife.get() {
            Some(midwife) => midwife,
            None => {
                let hired = Midwife::hire(command.clone()).map_err(cannot)?;
                self.midwife.get_or_init(|| hired)
            }
        };
        if let Some(limit) = crate::jail::too_little_address_space() {
            return Err(Error::start(format!(
                "the layer `resource-limits` leaves no room for a worker: this process may use only {} MiB of addresses \
                 (`ulimit -v`), and a worker needs {} MiB",
                limit >> 20,
                LEAST_ADDRESS_SPACE >> 20
            )));
        }
        let mut worker = midwife.deliver().await.map_err(cannot)?;
        self.started.fetch_add(1, Ordering::Relaxed);
        let greeting =
            tokio::time::timeout(GREETING, crate::call::greeting(&mut worker, GREETING_BYTES))
                .await;
        let body = match greeting {
            Ok(Ok(body)) => body,
            Ok(Err(_)) => {
                let message =
                    format!("`{name}` ended or spoke before greeting: it is no sandbox worker");
                return Err(Error::start(message));
            }
            Err(_) => {
                return Err(Error::start(format!(
                    "`{name}` did not greet within {GREETING:?}: it is no sandbox worker"
                )));
            }
        };
        let report = read_greeting(&body, &name.to_string())?;
        if self.options.require_jail
            && let Some((layer, reason)) = report.missing().next()
        {
            let message = format!("the jail lacks its layer `{}`: {reason}", layer.name());
            return Err(Error::start(message));
        }
        let hears = self.options.on_jail.as_ref();
        if let (Ok(()), Some(OnJail(tell)), Some(report)) =
            (self.jail.set(report), hears, self.jail.get())
        {
            tell(report);
        }
        Ok(worker)
    }
}

fn read_greeting(body: &[u8], name: &str) -> Result<JailReport, Error> {
    let strange = || Error::start(format!("`{name}` greets strangely: it is no sandbox worker"));
    let rest = body.strip_prefix(wire::MAGIC).ok_or_else(strange)?;
    let mut rest = Body(rest);
    let version = rest.u32().map_err(|_| strange())?;
    if version != wire::VERSION {
        let message = format!("`{name}` is a worker of version {version}, not {}", wire::VERSION);
        return Err(Error::start(message));
    }
    JailReport::from_json(rest.0).ok_or_else(strange)
}

/// A call as the worker reads it.
pub(crate) fn request(
    program: &Program,
    input: &Input,
    limits: &Limits,
    host: &[String],
) -> Result<Frame, Error> {
    let program = &*program.0;
    let mut frame = Frame::new(Kind::Run);
    frame.u64(limits.cpu.as_nanos() as u64);
    frame.u64(limits.memory.min(MEMORY) as u64);
    frame.u64(limits.stack.clamp(*STACK.start(), *STACK.end()) as u64);
    frame.u64(limits.output as u64).u64(limits.log as u64);
    frame.u8(u8::from(program.form == Form::Module)).bytes(program.entry.as_bytes());
    frame.bytes(&program.bytecode).list(&program.names);
    match &input.prelude {
        Some(prelude) => frame.bytes(&prelude.0.bytecode).list(&prelude.0.names),
        None => frame.bytes(&[]).list::<&str>(&[]),
    };
    frame.list(host);
    let mut left = limits.input;
    put_json(&mut frame, &input.args, &mut left, limits)?;
    let data = input.data.iter().map(|data| ("data", data));
    let globals: Vec<(&str, &Json)> =
        data.chain(input.globals.iter().map(|(name, json)| (name.as_str(), json))).collect();
    frame.u32(globals.len() as u32);
    for (name, json) in globals {
        frame.bytes(name.as_bytes());
        put_json(&mut frame, json, &mut left, limits)?;
    }
    Ok(frame)
}

fn put_json(
    frame: &mut Frame,
    json: &Json,
    left: &mut usize,
    limits: &Limits,
) -> Result<(), Error> {
    if !is_shallow(json, MAX_DEPTH) {
        let message = format!("the input is nested deeper than {MAX_DEPTH} levels");
        return Err(Error::new(Code::InputTooLarge, message));
    }
    let text = serde_json::to_vec(json)
        .map_err(|error| Error::new(Code::InputTooLarge, error.to_string()))?;
    *left = left.checked_sub(text.len()).ok_or_else(|| {
        let message =
            format!("the input is larger than the {} bytes that are allowed", limits.input);
        Error::new(Code::InputTooLarge, message)
    })?;
    frame.terminated(&text);
    Ok(())
}
