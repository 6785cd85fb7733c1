//! A pool of workers. As many guests run at a time as the pool has workers; other calls wait in the
//! order of their arrival.
//!
//! ```text
//!   run, compile ─▶ slot (semaphore) ─▶ idle worker, or a new one ─▶ WorkerCall ─▶ result
//!                                            ▲                          │
//!                                            └── healthy: returned ◀────┤
//!                                                  anything else: killed ┘
//! ```
//!
//! Workers are started when a call needs one, and live until they fail or the pool is dropped. A
//! worker that overran its time, ended, broke the protocol or whose call was dropped is killed; the
//! next call that needs a worker starts another one.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use tokio::sync::Semaphore;

use crate::error::{SandboxError, SandboxErrorCode};
use crate::host_functions::HostFunctions;
use crate::jail::{JailPolicy, JailReport};
use crate::limits::LEAST_ADDRESS_SPACE;
use crate::program::{CompiledProgram, camel_case, columns_in_characters, declared_names};
use crate::program_io::{ProgramInput, ProgramOutput};
use crate::protocol::{self, FrameKind, FrameReader, FrameWriter};
use crate::request::{SourceRole, encode_compile, encode_run};
use crate::worker_call::{RunPermit, WorkerAnswer, WorkerCall, receive_hello};
use crate::worker_process::{WorkerCommand, WorkerProcess, WorkerSpawner};
use crate::{GuestLimits, LogLine, Program, ProgramForm};

/// How long a worker may take from its start to its greeting.
const HELLO_TIME: Duration = Duration::from_secs(10);
/// Bytes of a greeting at most.
const MAX_HELLO: usize = 16 << 10;
/// Slots for calls that run for long. Each of them has a worker of its own, so this bounds memory.
const LONG_CALL_SLOTS: usize = 16;
/// More workers than this are of no use on any machine.
const MAX_WORKERS: usize = 1024;
/// Descriptors that a tokio runtime needs.
const RUNTIME_DESCRIPTORS: usize = 8;

/// How a pool is set up.
#[derive(Clone, Debug)]
pub struct PoolOptions {
    /// The program that becomes a worker. There is no default, such as the current executable: a
    /// test harness that started itself would run its tests again.
    pub worker: WorkerCommand,
    /// How many guests may run at a time; at least one. Guests that wait for a host function do not
    /// count, nor do up to 16 that have been running for long.
    pub workers: usize,
    /// Workers with a worse jail are refused.
    pub jail_policy: JailPolicy,
    /// What an operator can do about a refused jail, for the end of the error's message.
    pub jail_help: &'static str,
    /// Called once, with the report of the first worker that starts, even if it is refused.
    pub on_jail_report: Option<JailReportCallback>,
}

/// A function that receives the report of a worker's jail.
#[derive(Clone)]
pub struct JailReportCallback(pub Arc<dyn Fn(&JailReport) + Send + Sync>);

impl std::fmt::Debug for JailReportCallback {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("JailReportCallback")
    }
}

impl PoolOptions {
    /// As many workers as there are processors. A jail that lacks a layer is accepted.
    pub fn new(worker: WorkerCommand) -> PoolOptions {
        let workers = std::thread::available_parallelism().map_or(1, usize::from);
        let jail_policy = JailPolicy::AcceptAny;
        PoolOptions { worker, workers, jail_policy, jail_help: "", on_jail_report: None }
    }
}

/// Jailed workers that run programs. Cheap to clone; the workers end with the last clone.
#[derive(Clone)]
pub struct WorkerPool(Arc<PoolInner>);

/// The state that all clones of a pool share.
struct PoolInner {
    options: PoolOptions,
    /// Started with the first worker.
    spawner: OnceLock<WorkerSpawner>,
    /// One permit per guest that may run.
    slots: Arc<Semaphore>,
    /// Permits for guests that run for long: see `RunPermit`.
    long_call_slots: Arc<Semaphore>,
    /// Workers without a call; the last one became idle last.
    idle: Mutex<Vec<WorkerProcess>>,
    /// Process ids of workers that are serving a call.
    busy: Mutex<Vec<u32>>,
    /// The report of the first worker.
    jail_report: OnceLock<JailReport>,
    /// Workers that were ever started.
    started: AtomicU64,
    /// Calls that run or wait for a slot.
    active_calls: AtomicUsize,
    /// The runtime of the functions whose name ends in `_blocking`.
    blocking_runtime: OnceLock<tokio::runtime::Runtime>,
}

impl std::fmt::Debug for WorkerPool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WorkerPool")
            .field("options", &self.0.options)
            .field("started", &self.started())
            .finish()
    }
}

impl WorkerPool {
    /// A pool without workers: each is started when a call first needs it.
    pub fn new(options: PoolOptions) -> WorkerPool {
        let slots = Arc::new(Semaphore::new(options.workers.clamp(1, MAX_WORKERS)));
        WorkerPool(Arc::new(PoolInner {
            options,
            spawner: OnceLock::new(),
            slots,
            long_call_slots: Arc::new(Semaphore::new(LONG_CALL_SLOTS)),
            idle: Mutex::default(),
            busy: Mutex::default(),
            jail_report: OnceLock::new(),
            started: AtomicU64::new(0),
            active_calls: AtomicUsize::new(0),
            blocking_runtime: OnceLock::new(),
        }))
    }

    /// How many workers were ever started. A number that grows shows that workers are lost.
    pub fn started(&self) -> u64 {
        self.0.started.load(Ordering::Relaxed)
    }

    /// The process ids of the workers that are idle now.
    pub fn idle(&self) -> Vec<u32> {
        lock(&self.0.idle).iter().map(WorkerProcess::pid).collect()
    }

    /// The process ids of the workers that are serving a call now.
    pub fn busy(&self) -> Vec<u32> {
        lock(&self.0.busy).clone()
    }

    /// The layers that hold the workers. Starts a worker if none has reported yet.
    pub async fn jail(&self) -> Result<JailReport, SandboxError> {
        if let Some(report) = self.0.jail_report.get() {
            return Ok(report.clone());
        }
        let worker = self.0.start_worker().await?;
        self.0.return_worker(worker);
        let report = self.0.jail_report.get().cloned();
        report.ok_or_else(|| SandboxError::start_failed("the worker did not report its jail"))
    }

    /// [`WorkerPool::jail`] for callers without an async runtime. Panics inside of one.
    pub fn jail_blocking(&self) -> Result<JailReport, SandboxError> {
        self.0.block_on(self.jail())
    }

    /// Compiles a program, in a worker: source text that exploits a bug of the parser gains no more
    /// than a running program would. If a script exports several functions, the one whose name is
    /// `id` in camelCase is the entry point.
    pub async fn compile(
        &self,
        source: &str,
        form: ProgramForm,
        id: Option<&str>,
    ) -> Result<Program, SandboxError> {
        self.compile_as(source, form, id, SourceRole::Program).await
    }

    /// Compiles a script for [`ProgramInput::prelude`]. Errors never report its lines, so that they
    /// are not taken for lines of the program.
    pub async fn compile_prelude(&self, source: &str) -> Result<Program, SandboxError> {
        self.compile_as(source, ProgramForm::Script, None, SourceRole::Prelude).await
    }

    async fn compile_as(
        &self,
        source: &str,
        form: ProgramForm,
        id: Option<&str>,
        role: SourceRole,
    ) -> Result<Program, SandboxError> {
        // The caller's limits are for running. These allow for a megabyte of ordinary source text
        // with room to spare.
        let limits =
            GuestLimits { cpu: Duration::from_secs(2), memory: 64 << 20, ..GuestLimits::default() };
        if source.len() > limits.input {
            let message = format!(
                "the source has {} bytes, more than the {} allowed",
                source.len(),
                limits.input
            );
            return Err(SandboxError::new(SandboxErrorCode::InputTooLarge, message));
        }
        let request = encode_compile(source, form, role, &limits);
        let answer =
            self.0.send_request(request, &limits, None, &[], WorkerAnswer::into_bytecode).await;
        let (bytecode, _) = answer.map_err(|mut error| {
            columns_in_characters(source, &mut error.trace);
            if matches!(
                error.code,
                SandboxErrorCode::Timeout
                    | SandboxErrorCode::MemoryLimit
                    | SandboxErrorCode::StackOverflow
            ) {
                error.message = format!("compiling exceeds a limit: {}", error.message);
            }
            error
        })?;
        // Everything that needs the source text is computed now, so that the text itself need not
        // be kept for ASCII programs.
        Ok(Program(Arc::new(CompiledProgram {
            form,
            entry: camel_case(id.unwrap_or_default()),
            bytecode,
            source: (!source.is_ascii()).then(|| source.into()),
            names: if form == ProgramForm::Script { declared_names(source) } else { Vec::new() },
        })))
    }

    /// Runs a program. Works in any tokio runtime that has I/O and time enabled. Dropping the
    /// future kills the worker.
    pub async fn run(
        &self,
        program: &Program,
        input: &ProgramInput,
        limits: &GuestLimits,
        host: Option<&dyn HostFunctions>,
    ) -> Result<ProgramOutput, SandboxError> {
        let names = host.map(HostFunctions::names).unwrap_or_default();
        // Before a slot is taken: input that is too large does not wait for one.
        let request = encode_run(program, input, limits, &names)?;
        let read = |answer: WorkerAnswer| {
            let value = answer.result(limits)?;
            Ok(ProgramOutput { value, log: Vec::new(), cpu: answer.cpu, memory: answer.memory })
        };
        match self.0.send_request(request, limits, host, &names, read).await {
            Ok((output, log)) => Ok(ProgramOutput { log, ..output }),
            Err(mut error) => {
                if let Some(source) = &program.0.source {
                    columns_in_characters(source, &mut error.trace);
                }
                Err(error)
            }
        }
    }

    /// [`WorkerPool::compile`] for callers without an async runtime. Panics inside of one, as
    /// every function that blocks does.
    pub fn compile_blocking(
        &self,
        source: &str,
        form: ProgramForm,
        id: Option<&str>,
    ) -> Result<Program, SandboxError> {
        self.0.block_on(self.compile(source, form, id))
    }

    /// [`WorkerPool::run`] for callers without an async runtime. Panics inside of one.
    pub fn run_blocking(
        &self,
        program: &Program,
        input: &ProgramInput,
        limits: &GuestLimits,
        host: Option<&dyn HostFunctions>,
    ) -> Result<ProgramOutput, SandboxError> {
        self.0.block_on(self.run(program, input, limits, host))
    }
}

/// Fails if this process may not open as many descriptors as a tokio runtime needs. Without this
/// check tokio panics where it cannot open them.
pub fn check_descriptors_for_runtime() -> std::io::Result<()> {
    let opened: std::io::Result<Vec<_>> =
        (0..RUNTIME_DESCRIPTORS).map(|_| std::fs::File::open("/dev/null")).collect();
    opened.map(drop)
}

/// Whether worker and caller can run at the same time. If not, spinning keeps the worker from
/// running.
static HAS_SEVERAL_CORES: LazyLock<bool> =
    LazyLock::new(|| std::thread::available_parallelism().is_ok_and(|cores| cores.get() > 1));

impl Drop for PoolInner {
    fn drop(&mut self) {
        // Dropping a runtime waits for its threads, which panics inside of another runtime.
        if let Some(runtime) = self.blocking_runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Locks a mutex. A poisoned one is as good as new: no code that holds these locks can panic.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Counts a call as active until it is dropped. The count only decides about spinning, so it need
/// not be ordered with anything else.
struct ActiveCallGuard<'a>(&'a AtomicUsize);

impl<'a> ActiveCallGuard<'a> {
    fn new(count: &'a AtomicUsize) -> ActiveCallGuard<'a> {
        count.fetch_add(1, Ordering::Relaxed);
        ActiveCallGuard(count)
    }
}

impl Drop for ActiveCallGuard<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A worker that is serving a call. If it is dropped without being returned, because the call
/// failed or its future was dropped, the process is killed.
struct BusyWorker<'a> {
    worker: Option<WorkerProcess>,
    pool: &'a PoolInner,
}

impl<'a> BusyWorker<'a> {
    fn new(worker: WorkerProcess, pool: &'a PoolInner) -> BusyWorker<'a> {
        lock(&pool.busy).push(worker.pid());
        BusyWorker { worker: Some(worker), pool }
    }

    /// Makes the worker available to other calls.
    fn return_to_pool(mut self) {
        if let Some(worker) = self.take() {
            self.pool.return_worker(worker);
        }
    }

    /// Takes the worker out, and its id off the list of busy ones.
    fn take(&mut self) -> Option<WorkerProcess> {
        let worker = self.worker.take()?;
        lock(&self.pool.busy).retain(|pid| *pid != worker.pid());
        Some(worker)
    }
}

impl Drop for BusyWorker<'_> {
    fn drop(&mut self) {
        drop(self.take());
    }
}

impl PoolInner {
    /// Drives a future on the pool's own runtime, which is made at the first use.
    fn block_on<T>(
        &self,
        future: impl Future<Output = Result<T, SandboxError>>,
    ) -> Result<T, SandboxError> {
        let runtime = match self.blocking_runtime.get() {
            Some(runtime) => runtime,
            None => {
                let failed = |error| {
                    SandboxError::start_failed(format!("cannot make an async runtime: {error}"))
                };
                check_descriptors_for_runtime().map_err(failed)?;
                // One thread is enough: the work is done by other processes. Several callers may
                // block on it at the same time.
                let made = tokio::runtime::Builder::new_current_thread()
                    .enable_all()
                    .build()
                    .map_err(failed)?;
                self.blocking_runtime.get_or_init(|| made)
            }
        };
        runtime.block_on(future)
    }

    /// Sends one request to a worker and waits for the answer, which `read` converts. Returns the
    /// log, too; an error carries it.
    async fn send_request<T>(
        &self,
        mut request: FrameWriter,
        limits: &GuestLimits,
        host: Option<&dyn HostFunctions>,
        names: &[String],
        read: impl FnOnce(WorkerAnswer) -> Result<T, SandboxError>,
    ) -> Result<(T, Vec<LogLine>), SandboxError> {
        let _active = ActiveCallGuard::new(&self.active_calls);
        // The semaphore is fair, so calls run in the order of their arrival. It is never closed, so
        // a permit is always `Ok`.
        let permit = Arc::clone(&self.slots).acquire_owned().await;
        let mut run_permit = RunPermit {
            slots: Arc::clone(&self.slots),
            long_call_slots: Arc::clone(&self.long_call_slots),
            permit: permit.ok(),
            is_long_call: false,
        };
        // From here on the worker is killed if this future fails or is dropped.
        let mut busy = BusyWorker::new(self.take_worker().await?, self);
        let is_only_call = *HAS_SEVERAL_CORES && self.active_calls.load(Ordering::Relaxed) == 1;
        request.u8(if is_only_call { protocol::ONLY_REQUEST } else { 0 });
        // A request that exceeds the length field can only be one with gigabytes of input.
        let request = request.finish().map_err(|error| {
            SandboxError::new(SandboxErrorCode::InputTooLarge, error.to_string())
        })?;
        let worker = busy.worker.as_mut().expect("`BusyWorker::new` was given one");
        let mut call = WorkerCall::new(worker, request, limits, is_only_call)
            .map_err(|error| SandboxError::new(SandboxErrorCode::WorkerDied, error.to_string()))?;
        let answer = call.finish(host, names, &mut run_permit).await;
        let log = std::mem::take(&mut call.log);
        drop(call);
        // `?` inside of this closure keeps the worker from being returned: only one whose answer
        // was well-formed may serve again.
        let result = answer.and_then(|answer| {
            let result = if answer.kind == FrameKind::Failed {
                Err(answer.failure()?)
            } else {
                Ok(read(answer)?)
            };
            // After these failures the worker may be about to end itself: see `GuestHeap`.
            let may_be_ending = |error: &SandboxError| {
                matches!(
                    error.code,
                    SandboxErrorCode::MemoryLimit | SandboxErrorCode::InputTooLarge
                )
            };
            if !result.as_ref().is_err_and(may_be_ending) {
                busy.return_to_pool();
            }
            result
        });
        match result {
            Ok(value) => Ok((value, log)),
            Err(mut error) => {
                error.log = log.into();
                Err(error)
            }
        }
    }

    /// An idle worker, or a new one. The worker that became idle last is taken first: its memory
    /// is most likely still in the caches of the processor.
    async fn take_worker(&self) -> Result<WorkerProcess, SandboxError> {
        loop {
            let idle = lock(&self.idle).pop();
            match idle {
                Some(worker) if worker.is_ready() => return Ok(worker),
                // It ended while it was idle.
                Some(ended) => drop(ended),
                None => return self.start_worker().await,
            }
        }
    }

    /// Keeps a worker for the next call, or kills it if there are enough idle ones.
    fn return_worker(&self, worker: WorkerProcess) {
        let mut idle = lock(&self.idle);
        // There may be more workers than slots while guests wait for the host or run for long.
        if idle.len() < self.options.workers.max(1) {
            idle.push(worker);
        }
    }

    /// Starts a worker, waits for its greeting and checks its jail. A worker that fails a check is
    /// killed, because it is dropped here.
    async fn start_worker(&self) -> Result<WorkerProcess, SandboxError> {
        let command = &self.options.worker;
        let name = command.program.display();
        let cannot_start = |error: std::io::Error| {
            SandboxError::start_failed(format!("cannot start the worker `{name}`: {error}"))
        };
        let spawner = match self.spawner.get() {
            Some(spawner) => spawner,
            None => {
                // Two calls may come here at the same time; the thread of the second ends at once.
                let made = WorkerSpawner::new(command.clone()).map_err(cannot_start)?;
                self.spawner.get_or_init(|| made)
            }
        };
        // Without this check the worker would end without a word, because it cannot map its memory.
        if let Some(limit) = crate::jail::too_little_address_space() {
            return Err(SandboxError::start_failed(format!(
                "the layer `resource-limits` leaves no room for a worker: this process may use \
                 only {} MiB of addresses (`ulimit -v`), and a worker needs {} MiB",
                limit >> 20,
                LEAST_ADDRESS_SPACE >> 20
            )));
        }
        let mut worker = spawner.start().await.map_err(cannot_start)?;
        self.started.fetch_add(1, Ordering::Relaxed);
        let hello = tokio::time::timeout(HELLO_TIME, receive_hello(&mut worker, MAX_HELLO)).await;
        let hello = match hello {
            Ok(Ok(hello)) => hello,
            Ok(Err(_)) => {
                return Err(SandboxError::start_failed(format!(
                    "`{name}` ended or sent something else than a greeting: \
                     it is not a sandbox worker"
                )));
            }
            Err(_) => {
                return Err(SandboxError::start_failed(format!(
                    "`{name}` sent no greeting within {HELLO_TIME:?}: it is not a sandbox worker"
                )));
            }
        };
        let report = parse_hello(&hello, &name.to_string())?;
        let refusal = report.refusal(self.options.jail_policy);
        // `set` succeeds once, so the callback is called once.
        if let (Ok(()), Some(JailReportCallback(call)), Some(report)) = (
            self.jail_report.set(report),
            self.options.on_jail_report.as_ref(),
            self.jail_report.get(),
        ) {
            call(report);
        }
        if let Some(refusal) = refusal {
            return Err(SandboxError::start_failed(match self.options.jail_help {
                "" => refusal,
                help => format!("{refusal}; {help}"),
            }));
        }
        Ok(worker)
    }
}

/// Checks a greeting and returns the report of the jail in it.
fn parse_hello(body: &[u8], name: &str) -> Result<JailReport, SandboxError> {
    let malformed = || {
        let message = format!("`{name}` sent a malformed greeting: it is not a sandbox worker");
        SandboxError::start_failed(message)
    };
    let mut rest = FrameReader(body.strip_prefix(protocol::MAGIC).ok_or_else(malformed)?);
    let version = rest.u32().map_err(|_| malformed())?;
    if version != protocol::VERSION {
        return Err(SandboxError::start_failed(format!(
            "`{name}` is a worker of version {version}, not {}",
            protocol::VERSION
        )));
    }
    JailReport::from_json(rest.0).ok_or_else(malformed)
}
