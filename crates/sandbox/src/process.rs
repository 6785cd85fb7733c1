//! Worker processes as their parent sees them: started, greeted, killed, buried.
//!
//! All of them are started by one thread that lives as long as the pool: Linux kills a child when
//! the *thread* that started it ends, and threads of an async runtime come and go.

use std::ffi::OsString;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use tokio::io::unix::AsyncFd;
use tokio::sync::oneshot;

/// The program that becomes a worker. It must call [`worker_main`](crate::worker_main) first thing.
#[derive(Clone, Debug)]
pub struct WorkerCommand {
    /// The path of the binary. It is not looked for anywhere else.
    pub program: PathBuf,
    /// What tells it to be a worker, if it can be something else too.
    pub args: Vec<OsString>,
}

impl WorkerCommand {
    /// A binary that is nothing but a worker.
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

/// A process and the socket to it.
pub(crate) struct Worker {
    /// The runtime that watches the socket, and its watch. Before the socket, so that it is dropped
    /// first.
    watch: Option<(tokio::runtime::Id, AsyncFd<RawFd>)>,
    pub(crate) socket: UnixStream,
    /// Bytes that were read and are no whole frame yet.
    pub(crate) incoming: Vec<u8>,
    clock: Option<Clock>,
    child: Option<Child>,
    midwife: Midwife,
}

impl Worker {
    /// Has the runtime of this moment watch the socket: a worker outlives runtimes, and most calls
    /// come from the same one.
    pub(crate) fn watch(&mut self) -> io::Result<()> {
        let runtime = tokio::runtime::Handle::current().id();
        if self.watch.as_ref().is_none_or(|(known, _)| *known != runtime) {
            self.watch = None;
            // SAFETY: the socket stays open and in its place until the watch is dropped.
            let watch = unsafe { AsyncFd::register(self.socket.as_raw_fd()) }?;
            self.watch = Some((runtime, watch));
        }
        Ok(())
    }

    /// What was made by `watch`, the socket, and where what is read goes.
    pub(crate) fn parts(&mut self) -> (&AsyncFd<RawFd>, &UnixStream, &mut Vec<u8>) {
        let (_, watch) = self.watch.as_ref().expect("whoever waits has called `watch`");
        (watch, &self.socket, &mut self.incoming)
    }

    /// The process.
    pub(crate) fn pid(&self) -> u32 {
        self.child.as_ref().map_or(0, Child::id)
    }

    /// Whether an idle worker is still there and has kept quiet.
    pub(crate) fn is_fit(&self) -> bool {
        let read = (&self.socket).read(&mut [0]);
        read.is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock)
            && self.incoming.is_empty()
    }

    /// The processor time it has used so far; `None` where the system does not tell.
    pub(crate) fn cpu_time(&self) -> Option<Duration> {
        self.clock.and_then(time_of)
    }

    /// How it ended, if it has.
    pub(crate) fn status(&mut self) -> Option<std::process::ExitStatus> {
        self.child.as_mut()?.try_wait().ok()?
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            self.midwife.bury(child);
        }
    }
}

/// Names the clock of a process.
type Clock = libc::clockid_t;

#[cfg(target_os = "linux")]
fn clock_of(pid: u32) -> Option<Clock> {
    let mut clock = 0;
    // SAFETY: the system fills the number; the process is our child and not reaped before its
    // worker is dropped.
    (unsafe { libc::clock_getcpuclockid(pid as libc::pid_t, &mut clock) } == 0).then_some(clock)
}

#[cfg(not(target_os = "linux"))]
fn clock_of(_: u32) -> Option<Clock> {
    None
}

fn time_of(clock: Clock) -> Option<Duration> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the system fills the structure.
    let told = unsafe { libc::clock_gettime(clock, &mut time) } == 0;
    told.then(|| Duration::new(time.tv_sec as u64, time.tv_nsec as u32))
}

/// The thread that starts workers and reaps the dead.
#[derive(Clone)]
pub(crate) struct Midwife(mpsc::Sender<Task>);

enum Task {
    Start(oneshot::Sender<io::Result<(Child, UnixStream)>>),
    Bury(Child),
}

impl Midwife {
    pub(crate) fn hire(command: WorkerCommand) -> io::Result<Midwife> {
        let (sender, tasks) = mpsc::channel();
        std::thread::Builder::new()
            .name("sandbox-workers".to_owned())
            .spawn(move || attend(&command, &tasks))?;
        Ok(Midwife(sender))
    }

    /// Starts a process. It has said nothing yet.
    pub(crate) async fn deliver(&self) -> io::Result<Worker> {
        let (sender, started) = oneshot::channel();
        let gone = || io::Error::other("the thread that starts workers has ended");
        self.0.send(Task::Start(sender)).map_err(|_| gone())?;
        let (child, socket) = started.await.map_err(|_| gone())??;
        let clock = clock_of(child.id());
        let midwife = self.clone();
        Ok(Worker { watch: None, socket, incoming: Vec::new(), clock, child: Some(child), midwife })
    }

    fn bury(&self, child: Child) {
        // Without the thread nobody is left to reap, and the process is about to end.
        let _ = self.0.send(Task::Bury(child));
    }
}

fn attend(command: &WorkerCommand, tasks: &mpsc::Receiver<Task>) {
    for task in tasks {
        match task {
            Task::Start(sender) => {
                if let Err(Ok((child, _))) = sender.send(start(command)) {
                    reap(child);
                }
            }
            Task::Bury(child) => reap(child),
        }
    }
}

fn reap(mut child: Child) {
    let _ = child.kill();
    let _ = child.wait();
}

fn start(command: &WorkerCommand) -> io::Result<(Child, UnixStream)> {
    let (ours, theirs) = UnixStream::pair()?;
    ours.set_nonblocking(true)?;
    // The worker starts in another folder than ours.
    let child = Command::new(std::path::absolute(&command.program)?)
        .args(&command.args)
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()?;
    Ok((child, ours))
}
