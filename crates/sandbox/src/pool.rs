//! A pool of workers.
//!
//! ```text
//!   run ─▶ permit (scheduler) ─▶ idle worker of the share, or a new one ─▶ WorkerCall ─▶ result
//!                                            ▲                                │
//!                                            └── healthy: returned ◀──────────┤
//!                                                        anything else: killed ┘
//!   compile ─▶ permit ─▶ a worker that never ran a guest ─▶ WorkerCall ─▶ program
//!                                                               └▶ killed
//! ```
//!
//! Which call may run, and when, is decided by `scheduler`. A worker runs the programs of one share
//! only, so a guest that has taken its worker over sees no data of another share. Compiling has
//! workers of its own, so such a guest makes no bytecode either.
//!
//! Workers are started when a call needs one, and live until they fail, become superfluous or the
//! pool is dropped. A worker that overran its time, ended, broke the protocol or whose call was
//! dropped is killed; the next call that needs a worker starts another one.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use crate::error::{SandboxError, SandboxErrorCode};
use crate::host_functions::HostFunctions;
use crate::jail::{JailPolicy, JailReport};
use crate::limits::LEAST_ADDRESS_SPACE;
use crate::program::{CompiledProgram, camel_case, columns_in_characters};
use crate::program_io::{ProgramInput, ProgramOutput};
use crate::protocol::{self, FrameKind, FrameReader, FrameWriter};
use crate::request::{HostNames, MAX_MEMORY, encode_compile, encode_run, is_large};
use crate::scheduler::{AllGuestsBusy, Scheduler, ShareId};
use crate::worker_call::{WorkerAnswer, WorkerCall, receive_hello};
use crate::worker_process::{WorkerCommand, WorkerProcess, WorkerSpawner};
use crate::{GuestLimits, LogLine, Program, ProgramForm};

/// How long a worker may take from its start to its greeting.
const HELLO_TIME: Duration = Duration::from_secs(10);
/// Bytes of a greeting at most.
const MAX_HELLO: usize = 16 << 10;
/// Bytes of memory that a worker uses beside those that limits allow its guest.
const WORKER_MEMORY: usize = 4 << 20;
/// Bytes of memory that a byte of input becomes, in ordinary JSON.
const MEMORY_PER_INPUT_BYTE: usize = 8;
/// Bytes of memory that all guests may use together, by default.
const ALL_MEMORY: usize = 512 << 20;
/// Idle workers of all shares, at least. One that is kept saves its share a start of some
/// milliseconds, and costs a few megabytes.
const MIN_IDLE: usize = 8;
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
    /// How many guests of one share may run at a time; at least one. Guests that wait for a host
    /// function do not count, nor do a few that have been running for long. All shares together
    /// may have twice as many.
    pub workers: usize,
    /// Bytes of memory that all guests may use together, as far as their limits tell. Further
    /// guests wait. A single guest may always run.
    pub memory: usize,
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
        PoolOptions {
            worker,
            workers,
            memory: ALL_MEMORY,
            jail_policy: JailPolicy::AcceptAny,
            jail_help: "",
            on_jail_report: None,
        }
    }
}

/// Jailed workers that run programs. Cheap to clone; the workers end with the last clone.
#[derive(Clone)]
pub struct WorkerPool {
    inner: Arc<PoolInner>,
    /// The owner of the programs that this clone compiles.
    share: ShareId,
    /// Whether a guest waits for the calls of this clone.
    is_nested: bool,
}

/// A worker without a call.
struct IdleWorker {
    worker: WorkerProcess,
    /// The share whose guests it has run; `None` if it has run none yet.
    share: Option<ShareId>,
}

/// The state that all clones of a pool share.
struct PoolInner {
    options: PoolOptions,
    /// Started with the first worker.
    spawner: OnceLock<WorkerSpawner>,
    scheduler: Arc<Scheduler>,
    /// Workers without a call; the last one became idle last.
    idle: Mutex<Vec<IdleWorker>>,
    /// Process ids of workers that are serving a call.
    busy: Mutex<Vec<u32>>,
    /// The report of the first worker.
    jail_report: OnceLock<JailReport>,
    /// Workers that were ever started to run programs.
    started: AtomicU64,
    /// Calls that run or wait for a permit.
    active_calls: AtomicUsize,
    /// Makes the numbers of requests, with a secret of its own: a worker that was taken over must
    /// not guess the next one.
    number_hasher: RandomState,
    /// Requests that were ever made.
    requests: AtomicU64,
    /// The runtime of the functions whose name ends in `_blocking`.
    blocking_runtime: OnceLock<tokio::runtime::Runtime>,
}

impl std::fmt::Debug for WorkerPool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WorkerPool")
            .field("options", &self.inner.options)
            .field("started", &self.started())
            .finish()
    }
}

impl WorkerPool {
    /// A pool without workers: each is started when a call first needs it.
    pub fn new(options: PoolOptions) -> WorkerPool {
        let workers = options.workers.clamp(1, MAX_WORKERS);
        let inner = Arc::new(PoolInner {
            spawner: OnceLock::new(),
            scheduler: Scheduler::new(workers, options.memory),
            options: PoolOptions { workers, ..options },
            idle: Mutex::default(),
            busy: Mutex::default(),
            jail_report: OnceLock::new(),
            started: AtomicU64::new(0),
            active_calls: AtomicUsize::new(0),
            number_hasher: RandomState::new(),
            requests: AtomicU64::new(0),
            blocking_runtime: OnceLock::new(),
        });
        WorkerPool { inner, share: ShareId::new(), is_nested: false }
    }

    /// The same workers for another owner of programs. What this pool compiles belongs to that
    /// share: it waits in the queue of the share and runs in workers that run nothing else.
    #[must_use]
    pub fn with_share(&self, share: ShareId) -> WorkerPool {
        WorkerPool { share, ..self.clone() }
    }

    /// The same pool for calls that a host function makes on behalf of a guest. If no further
    /// guest may exist at the moment, they fail with [`SandboxErrorCode::Busy`] instead of waiting:
    /// the guests that wait for them would never end.
    #[must_use]
    pub fn nested(&self) -> WorkerPool {
        WorkerPool { is_nested: true, ..self.clone() }
    }

    /// How many workers were ever started to run programs. A number that grows shows that workers
    /// are lost. Those that compile are not counted: each ends when it has done so.
    pub fn started(&self) -> u64 {
        self.inner.started.load(Ordering::Relaxed)
    }

    /// The process ids of the workers that are idle now.
    pub fn idle(&self) -> Vec<u32> {
        lock(&self.inner.idle).iter().map(|idle| idle.worker.pid()).collect()
    }

    /// The process ids of the workers that are serving a call now.
    pub fn busy(&self) -> Vec<u32> {
        lock(&self.inner.busy).clone()
    }

    /// The layers that hold the workers. Starts a worker if none has reported yet.
    pub async fn jail(&self) -> Result<JailReport, SandboxError> {
        if let Some(report) = self.inner.jail_report.get() {
            return Ok(report.clone());
        }
        let worker = self.inner.start_worker().await?;
        self.inner.started.fetch_add(1, Ordering::Relaxed);
        self.inner.return_worker(worker, None);
        let report = self.inner.jail_report.get().cloned();
        report.ok_or_else(|| SandboxError::start_failed("the worker did not report its jail"))
    }

    /// [`WorkerPool::jail`] for callers without an async runtime. Panics inside of one.
    pub fn jail_blocking(&self) -> Result<JailReport, SandboxError> {
        self.inner.block_on(self.jail())
    }

    /// Compiles a program, in a worker of its own: source text that exploits a bug of the parser
    /// gains no more than a running program would. If a script exports several functions, the one
    /// whose name is `id` in camelCase is the entry point.
    pub async fn compile(
        &self,
        source: &str,
        form: ProgramForm,
        id: Option<&str>,
    ) -> Result<Program, SandboxError> {
        self.compile_with_prelude("", source, form, id).await
    }

    /// Compiles a program and a script that runs before it in the same global scope: the program
    /// sees what the script declares at its top level. Errors never report lines of the script, so
    /// that they are not taken for lines of the program.
    pub async fn compile_with_prelude(
        &self,
        prelude: &str,
        source: &str,
        form: ProgramForm,
        id: Option<&str>,
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
        let number = self.inner.next_number();
        let request = PoolRequest {
            share: self.share,
            is_nested: self.is_nested,
            needs_unused_worker: true,
            number,
            frame: encode_compile(number, prelude, source, form, &limits),
            limits: &limits,
            host: None,
            host_names: &[],
        };
        let answer = self.inner.send(request, async |answer| answer.compiled_code()).await;
        let (code, _) = answer.map_err(|mut error| {
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
        // Everything that needs the source text was computed in the worker, so that the text
        // itself need not be kept for ASCII programs.
        Ok(Program(Arc::new(CompiledProgram {
            share: self.share,
            form,
            entry: camel_case(id.unwrap_or_default()),
            code,
            source: (!source.is_ascii()).then(|| source.into()),
        })))
    }

    /// Runs a program, in a worker of the share that it was compiled for. Works in any tokio
    /// runtime that has I/O and time enabled. Dropping the future kills the worker.
    pub async fn run(
        &self,
        program: &Program,
        input: &ProgramInput,
        limits: &GuestLimits,
        host: Option<&dyn HostFunctions>,
    ) -> Result<ProgramOutput, SandboxError> {
        let host_names = host.map(HostNames::of).unwrap_or_default();
        let number = self.inner.next_number();
        // Before a permit is taken: input that is too large does not wait for one.
        let frame = if is_large(input) {
            let (program, input) = (program.clone(), input.clone());
            let (limits, host_names) = (limits.clone(), host_names.clone());
            let encode = move || encode_run(number, &program, &input, &limits, &host_names);
            let encoded = tokio::task::spawn_blocking(encode).await;
            encoded.map_err(|_| SandboxError::start_failed("the runtime is ending"))??
        } else {
            encode_run(number, program, input, limits, &host_names)?
        };
        let request = PoolRequest {
            share: program.0.share,
            is_nested: self.is_nested,
            needs_unused_worker: false,
            number,
            frame,
            limits,
            host,
            host_names: &host_names.names,
        };
        let read = async |answer: WorkerAnswer| {
            let (cpu, memory) = (answer.cpu, answer.memory);
            let value = answer.result(limits).await?;
            Ok(ProgramOutput { value, log: Vec::new(), cpu, memory })
        };
        match self.inner.send(request, read).await {
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
        self.inner.block_on(self.compile(source, form, id))
    }

    /// [`WorkerPool::run`] for callers without an async runtime. Panics inside of one.
    pub fn run_blocking(
        &self,
        program: &Program,
        input: &ProgramInput,
        limits: &GuestLimits,
        host: Option<&dyn HostFunctions>,
    ) -> Result<ProgramOutput, SandboxError> {
        self.inner.block_on(self.run(program, input, limits, host))
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

    /// Makes the worker available to other calls of its share. Without a share it is killed: it
    /// has compiled something, and serves no other purpose.
    fn return_to_pool(mut self, share: Option<ShareId>) {
        if let (Some(worker), Some(share)) = (self.take(), share) {
            self.pool.return_worker(worker, Some(share));
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

/// One request to any worker that may serve it.
struct PoolRequest<'a> {
    share: ShareId,
    /// Whether a guest waits for the answer.
    is_nested: bool,
    /// Whether only a worker will do that has run no guest, and that ends afterwards.
    needs_unused_worker: bool,
    number: u64,
    /// Without its last byte.
    frame: FrameWriter,
    limits: &'a GuestLimits,
    host: Option<&'a dyn HostFunctions>,
    /// The names of the functions of `host`, by the index that the worker uses.
    host_names: &'a [String],
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

    /// A number that no worker can guess before it was sent to it.
    fn next_number(&self) -> u64 {
        self.number_hasher.hash_one(self.requests.fetch_add(1, Ordering::Relaxed))
    }

    /// Sends one request to a worker and waits for the answer, which `read` converts. Returns the
    /// log, too; an error carries it.
    async fn send<T>(
        &self,
        request: PoolRequest<'_>,
        read: impl AsyncFnOnce(WorkerAnswer) -> Result<T, SandboxError>,
    ) -> Result<(T, Vec<LogLine>), SandboxError> {
        let PoolRequest { share, number, mut frame, limits, .. } = request;
        let _active = ActiveCallGuard::new(&self.active_calls);
        let guest_memory = limits.memory.min(MAX_MEMORY);
        let memory = WORKER_MEMORY + guest_memory + MEMORY_PER_INPUT_BYTE * frame.len();
        let permit = self.scheduler.acquire(share, memory, request.is_nested).await;
        let mut permit = permit.map_err(|AllGuestsBusy| {
            let message = "too many programs are running or waiting for calls of their own";
            SandboxError::new(SandboxErrorCode::Busy, message)
        })?;
        let owner = (!request.needs_unused_worker).then_some(share);
        // From here on the worker is killed if this future fails or is dropped.
        let mut busy = BusyWorker::new(self.take_worker(owner).await?, self);
        let is_only_call = *HAS_SEVERAL_CORES && self.active_calls.load(Ordering::Relaxed) == 1;
        frame.u8(if is_only_call { protocol::ONLY_REQUEST } else { 0 });
        // A request that exceeds the length field can only be one with gigabytes of input.
        let frame = frame.finish().map_err(|error| {
            SandboxError::new(SandboxErrorCode::InputTooLarge, error.to_string())
        })?;
        let worker = busy.worker.as_mut().expect("`BusyWorker::new` was given one");
        let mut call = WorkerCall::new(worker, number, frame, limits, is_only_call)
            .map_err(|error| SandboxError::new(SandboxErrorCode::WorkerDied, error.to_string()))?;
        let answer = call.finish(request.host, request.host_names, &mut permit).await;
        let log = std::mem::take(&mut call.log);
        drop(call);
        // A worker whose answer is malformed is not returned: `busy` is dropped, which kills it.
        let result = match answer {
            Err(error) => Err(error),
            Ok(answer) if answer.kind == FrameKind::Failed => match answer.failure() {
                Err(malformed) => Err(malformed),
                Ok(failure) => {
                    // After these failures the worker may be about to end itself: see `GuestHeap`.
                    let may_be_ending = matches!(
                        failure.code,
                        SandboxErrorCode::MemoryLimit | SandboxErrorCode::InputTooLarge
                    );
                    if !may_be_ending {
                        busy.return_to_pool(owner);
                    }
                    Err(failure)
                }
            },
            Ok(answer) => match read(answer).await {
                Err(malformed) => Err(malformed),
                Ok(value) => {
                    busy.return_to_pool(owner);
                    Ok(value)
                }
            },
        };
        match result {
            Ok(value) => Ok((value, log)),
            Err(mut error) => {
                error.log = log.into();
                Err(error)
            }
        }
    }

    /// An idle worker of a share, or one that has run nothing yet. Without a share only the latter.
    /// The worker that became idle last is taken first: its memory is most likely still in the
    /// caches of the processor.
    async fn take_worker(&self, share: Option<ShareId>) -> Result<WorkerProcess, SandboxError> {
        loop {
            let idle = {
                let mut idle = lock(&self.idle);
                let own = idle.iter().rposition(|idle| idle.share == share);
                let found = own.or_else(|| idle.iter().rposition(|idle| idle.share.is_none()));
                found.map(|index| idle.remove(index).worker)
            };
            match idle {
                Some(worker) if worker.is_ready() => return Ok(worker),
                // It ended while it was idle.
                Some(ended) => drop(ended),
                None => {
                    let worker = self.start_worker().await?;
                    self.started.fetch_add(u64::from(share.is_some()), Ordering::Relaxed);
                    return Ok(worker);
                }
            }
        }
    }

    /// Keeps a worker for the next call of its share, or kills it if there are enough idle ones.
    fn return_worker(&self, worker: WorkerProcess, share: Option<ShareId>) {
        // There may be more workers than places while guests wait for the host or run for long.
        let most = self.options.workers;
        let mut idle = lock(&self.idle);
        if !worker.is_reusable() || idle.iter().filter(|idle| idle.share == share).count() >= most {
            return;
        }
        idle.push(IdleWorker { worker, share });
        if idle.len() > most.max(MIN_IDLE) {
            // The one that was not needed for the longest time.
            idle.remove(0);
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
