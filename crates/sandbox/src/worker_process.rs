//! Worker processes as their parent sees them: started, watched, killed and reaped.
//!
//! All of them are started by one thread that lives as long as the pool. Linux kills a worker when
//! the *thread* that started it ends (`PR_SET_PDEATHSIG`), and threads of an async runtime come and
//! go. The same thread waits for killed workers, so that they do not remain as zombies and no
//! caller blocks on it.

use std::collections::HashSet;
use std::ffi::OsString;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::Duration;

use tokio::io::unix::AsyncFd;
use tokio::sync::oneshot;

/// The program that becomes a worker. Its `main` must call [`worker_main`](fn@crate::worker_main)
/// before anything else.
#[derive(Clone, Debug)]
pub struct WorkerCommand {
    /// The path of the program. It is not searched for in `PATH`.
    pub program: PathBuf,
    /// Arguments, for a program that is a worker only on request.
    pub args: Vec<OsString>,
}

impl WorkerCommand {
    /// A program that is nothing but a worker.
    pub fn new(program: impl Into<PathBuf>) -> WorkerCommand {
        WorkerCommand { program: program.into(), args: Vec::new() }
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, arg: impl Into<OsString>) -> WorkerCommand {
        self.args.push(arg.into());
        self
    }
}

/// The nice value of a worker whose guest runs for long. It gets a tenth of the processor time of a
/// process that wants all it can get, so it goes on slowly on a busy machine instead of not at all.
const LOW_PRIORITY: libc::c_int = 10;

/// A worker process and the socket to it. Dropping it kills the process.
pub(crate) struct WorkerProcess {
    /// The registration of the socket with an async runtime, and the id of that runtime. Declared
    /// before the socket, because fields are dropped in order and the socket must outlive it.
    watch: Option<(tokio::runtime::Id, AsyncFd<RawFd>)>,
    /// Does not block.
    pub(crate) socket: UnixStream,
    /// Bytes that were received and do not make a complete frame yet.
    pub(crate) received: Vec<u8>,
    clock: Option<ProcessClock>,
    /// Whether its priority was lowered, which cannot be undone.
    has_low_priority: bool,
    /// `Some` until the process is dropped.
    child: Option<Child>,
    spawner: WorkerSpawner,
}

impl WorkerProcess {
    /// For fuzzing: no process, and bytes as if one had sent them.
    #[cfg(feature = "internals")]
    pub(crate) fn without_process(received: Vec<u8>) -> io::Result<WorkerProcess> {
        let (socket, _) = UnixStream::pair()?;
        let spawner = WorkerSpawner(mpsc::channel().0);
        let (watch, clock, child) = (None, None, None);
        Ok(WorkerProcess {
            watch,
            socket,
            received,
            clock,
            has_low_priority: false,
            child,
            spawner,
        })
    }

    /// Registers the socket with the current async runtime. A worker may be used from several, one
    /// after the other; since most calls come from the same one, the registration is kept.
    pub(crate) fn watch(&mut self) -> io::Result<()> {
        let runtime = tokio::runtime::Handle::current().id();
        if self.watch.as_ref().is_none_or(|(known, _)| *known != runtime) {
            self.watch = None;
            // SAFETY: the socket stays open until after the registration is dropped: see `watch`.
            let watch = unsafe { AsyncFd::register(self.socket.as_raw_fd()) }?;
            self.watch = Some((runtime, watch));
        }
        Ok(())
    }

    /// The registration, the socket, and the buffer of received bytes, which a caller needs at the
    /// same time. Panics unless `watch` was called.
    pub(crate) fn parts(&mut self) -> (&AsyncFd<RawFd>, &UnixStream, &mut Vec<u8>) {
        let (_, watch) = self.watch.as_ref().expect("`watch` is called before the first wait");
        (watch, &self.socket, &mut self.received)
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.as_ref().map_or(0, Child::id)
    }

    /// Whether an idle worker can take a request: its socket is open, and it has not sent anything
    /// without being asked.
    pub(crate) fn is_ready(&self) -> bool {
        let read = (&self.socket).read(&mut [0]);
        read.is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock)
            && self.received.is_empty()
    }

    /// Processor time of the process since it started; `None` if the system does not provide it.
    pub(crate) fn cpu_time(&self) -> Option<Duration> {
        self.clock.and_then(read_clock)
    }

    /// Lets the system end the process once it has used `total` processor time since its start,
    /// rounded up to seconds. This is for a worker that ignores its limits while this process is
    /// too busy to look; otherwise `worker_call` is earlier.
    #[cfg(target_os = "linux")]
    pub(crate) fn limit_cpu(&self, total: Duration) {
        let seconds = total.as_secs() + 2;
        // The signal at the soft limit ends the process, and its jail does not let it handle or
        // block signals. The hard limit stays what was inherited: it cannot be raised again.
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: the system writes or reads the structure, and `pid` is our child, which is not
        // reaped yet. A failure leaves the limit as it was; the parent's own watch still holds.
        unsafe {
            let pid = self.pid() as libc::pid_t;
            if libc::prlimit(pid, libc::RLIMIT_CPU, std::ptr::null(), &mut limit) == 0 {
                limit.rlim_cur = seconds.min(limit.rlim_max);
                libc::prlimit(pid, libc::RLIMIT_CPU, &limit, std::ptr::null_mut());
            }
        }
    }

    #[cfg(not(target_os = "linux"))]
    pub(crate) fn limit_cpu(&self, _: Duration) {}

    /// Lets other processes run first. An unprivileged process cannot undo this, so the worker
    /// serves no other call.
    pub(crate) fn lower_priority(&mut self) {
        if !std::mem::replace(&mut self.has_low_priority, true) {
            // SAFETY: takes numbers only; `pid` is our child, which is not reaped yet. A failure
            // leaves the priority as it was.
            unsafe { libc::setpriority(libc::PRIO_PROCESS, self.pid(), LOW_PRIORITY) };
        }
    }

    /// Whether the process may serve another call.
    pub(crate) fn is_reusable(&self) -> bool {
        !self.has_low_priority
    }

    /// How the process ended; `None` if it runs.
    pub(crate) fn exit_status(&mut self) -> Option<std::process::ExitStatus> {
        self.child.as_mut()?.try_wait().ok()?
    }
}

impl Drop for WorkerProcess {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            self.spawner.reap(child);
        }
    }
}

/// The system's id for the processor-time clock of a process.
type ProcessClock = libc::clockid_t;

/// The clock of a child. Reading it does not need the child's cooperation, so a guest that has
/// taken its worker over cannot falsify it.
#[cfg(target_os = "linux")]
fn clock_of(pid: u32) -> Option<ProcessClock> {
    let mut clock = 0;
    // SAFETY: the system writes the id. It stays that of our child, because a process id is not
    // reused before the process is reaped.
    (unsafe { libc::clock_getcpuclockid(pid as libc::pid_t, &mut clock) } == 0).then_some(clock)
}

/// Other systems have no such clock; `worker_call` then uses the wall clock.
#[cfg(not(target_os = "linux"))]
fn clock_of(_: u32) -> Option<ProcessClock> {
    None
}

fn read_clock(clock: ProcessClock) -> Option<Duration> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the system writes the structure.
    let is_known = unsafe { libc::clock_gettime(clock, &mut time) } == 0;
    is_known.then(|| Duration::new(time.tv_sec as u64, time.tv_nsec as u32))
}

/// A handle to the thread that starts workers and reaps dead ones. The thread ends with the last
/// handle; every worker holds one.
#[derive(Clone)]
pub(crate) struct WorkerSpawner(mpsc::Sender<SpawnerTask>);

enum SpawnerTask {
    /// The function gets the process, or the error.
    Start(Box<dyn FnOnce(StartedProcess) + Send>),
    Reap(Child),
}

/// A process that was started, with our end of its socket.
type StartedProcess = io::Result<(Child, UnixStream)>;

impl WorkerSpawner {
    /// Starts the thread.
    pub(crate) fn new(command: WorkerCommand) -> io::Result<WorkerSpawner> {
        let (sender, tasks) = mpsc::channel();
        std::thread::Builder::new()
            .name("sandbox-workers".to_owned())
            .spawn(move || run_tasks(&command, &tasks))?;
        Ok(WorkerSpawner(sender))
    }

    /// Starts a process, without waiting for its greeting.
    pub(crate) async fn start(&self) -> io::Result<WorkerProcess> {
        let (sender, started) = oneshot::channel();
        // If the caller has gone meanwhile, the process is not needed.
        self.request_start(|started| sender.send(started).unwrap_or_else(end_unused))?;
        Ok(self.process(started.await.map_err(|_| spawner_ended())??))
    }

    /// [`WorkerSpawner::start`] for a thread that may block.
    pub(crate) fn start_blocking(&self) -> io::Result<WorkerProcess> {
        let (sender, started) = mpsc::channel();
        self.request_start(move |started| {
            sender.send(started).unwrap_or_else(|error| end_unused(error.0));
        })?;
        Ok(self.process(started.recv().map_err(|_| spawner_ended())??))
    }

    /// Lets the thread start a process and pass it to `then`.
    fn request_start(&self, then: impl FnOnce(StartedProcess) + Send + 'static) -> io::Result<()> {
        self.0.send(SpawnerTask::Start(Box::new(then))).map_err(|_| spawner_ended())
    }

    fn process(&self, (child, socket): (Child, UnixStream)) -> WorkerProcess {
        WorkerProcess {
            watch: None,
            socket,
            received: Vec::new(),
            clock: clock_of(child.id()),
            has_low_priority: false,
            child: Some(child),
            spawner: self.clone(),
        }
    }

    /// Waits for the end of a process that was killed, on the thread.
    fn reap(&self, child: Child) {
        // The thread ends only with this process, which ends its children anyway.
        let _ = self.0.send(SpawnerTask::Reap(child));
    }
}

/// The body of the thread. It blocks while a process starts or ends, which is why neither is done
/// on a thread of an async runtime.
fn run_tasks(command: &WorkerCommand, tasks: &mpsc::Receiver<SpawnerTask>) {
    for task in tasks {
        match task {
            SpawnerTask::Start(then) => then(spawn(command)),
            SpawnerTask::Reap(child) => kill_and_wait(child),
        }
    }
}

fn spawner_ended() -> io::Error {
    io::Error::other("the thread that starts workers has ended")
}

/// Ends a process that nobody waits for any more.
fn end_unused(started: StartedProcess) {
    if let Ok((child, _)) = started {
        kill_and_wait(child);
    }
}

fn kill_and_wait(mut child: Child) {
    let _ = child.kill();
    let _ = child.wait();
    worker_pids().remove(&child.id());
}

/// The ids of all workers of this process. Global, because the children of a process are.
static WORKER_PIDS: LazyLock<Mutex<HashSet<u32>>> = LazyLock::new(Mutex::default);

fn worker_pids() -> MutexGuard<'static, HashSet<u32>> {
    WORKER_PIDS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether a child of this process is a worker of any pool. For code that looks for processes that
/// other programs left behind: it cannot recognise a worker by its environment, which is empty.
pub fn is_worker(pid: u32) -> bool {
    worker_pids().contains(&pid)
}

/// Starts a process whose standard input is a socket, and returns the other end of the socket.
fn spawn(command: &WorkerCommand) -> io::Result<(Child, UnixStream)> {
    let (ours, theirs) = UnixStream::pair()?;
    ours.set_nonblocking(true)?;
    // Absolute, because the worker's working directory is another one.
    let program = std::path::absolute(&command.program)?;
    // The lock is held during the start, so that a child is listed before anyone can look it up.
    let mut pids = worker_pids();
    let child = Command::new(program)
        .args(&command.args)
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()?;
    pids.insert(child.id());
    Ok((child, ours))
}
