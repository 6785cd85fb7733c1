//! The processes of the browser: started in a group of their own, and ended together.
//!
//! ```text
//! toolwright ── sh ── chromium ── renderers, network, …   one process group
//!      stdin, stdout of sh = descriptors 3 and 4 of chromium
//! ```
//!
//! The shell maps our pipes to the descriptors that `--remote-debugging-pipe` takes, gives the
//! browser an environment without secrets, and waits. If we are killed, the pipe closes, the
//! browser ends by itself, and the shell removes the temporary profile.
//!
//! Everything that ends a browser goes through `BrowserProcess::end`: the whole process group is
//! killed, crash handlers that have left it are looked for, orphans are reaped, and the temporary
//! profile is removed last, because a living process would write it again.

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitOptions};

use crate::profile::ProfileFolder;
use crate::program::find_browser;
use crate::{BrowserSettings, PageError, PageErrorCode};

/// `$0` is the program, the first three arguments the profile, whether it is temporary, and the
/// kibibytes that each of its processes may have. The sum of all is looked at only now and then:
/// in between, code that does nothing but allocate would fill the machine. A killed browser leaves
/// its temporary files, so they are in a temporary profile, which is removed; except if the address
/// of the socket among them would be too long there. Crash handlers outlive a browser, so they are
/// killed; the brackets keep `grep` from finding itself. The other processes of a browser may write
/// for a moment after its first one has ended, so the profile is removed until it is gone.
const SCRIPT: &str = r#"
profile=$1 temporary=$2
ulimit -d "$3" 2>/dev/null || :
shift 3
files=/tmp
if [ "$temporary" = yes ] && [ "${#profile}" -lt 60 ]; then
  files=$profile
fi
exec 3<&0 4>&1 </dev/null >/dev/null
env -i PATH="$PATH" HOME="$profile" TMPDIR="$files" LANG="${LANG:-C.UTF-8}" \
  ${LC_ALL:+LC_ALL="$LC_ALL"} ${TZ:+TZ="$TZ"} \
  ${DISPLAY:+DISPLAY="$DISPLAY"} ${WAYLAND_DISPLAY:+WAYLAND_DISPLAY="$WAYLAND_DISPLAY"} \
  ${XAUTHORITY:+XAUTHORITY="$XAUTHORITY"} ${XDG_RUNTIME_DIR:+XDG_RUNTIME_DIR="$XDG_RUNTIME_DIR"} \
  ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} \
  ${all_proxy:+all_proxy="$all_proxy"} ${no_proxy:+no_proxy="$no_proxy"} \
  "$0" "$@" &
exec 3<&- 4>&-
wait $!
status=$?
grep -las -e "--[d]atabase=$profile/" /proc/[0-9]*/cmdline | while IFS=/ read -r _ _ pid _; do
  kill -9 "$pid" 2>/dev/null
done
if [ "$temporary" = yes ] && cd /; then
  for _ in 1 2 3 4 5 6 7 8 9 10; do
    rm -rf -- "$profile" 2>/dev/null && break
    sleep 0.2
  done
fi
exit $status
"#;

/// Flags of every start. What they switch off either talks to servers of the vendor or shows
/// something to a person who is not there.
const FLAGS: &[&str] = &[
    "--remote-debugging-pipe",
    "--no-first-run",
    "--no-default-browser-check",
    "--no-startup-window",
    "--no-service-autorun",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-sync",
    "--disable-extensions",
    "--disable-breakpad",
    "--disable-crash-reporter",
    "--metrics-recording-only",
    "--mute-audio",
    "--password-store=basic",
    "--use-mock-keychain",
    // WebMCP is behind features: the interface, the one for tests of older versions, the events.
    "--enable-features=WebMCP,WebMCPTesting,DevToolsWebMCPSupport",
    // A page that comes back from the cache or was rendered ahead is not asked about.
    "--disable-features=BackForwardCache,Prerender2,OptimizationHints,MediaRouter,Translate",
];

/// Bytes of address space that a process has without using them: its limit is that much more than
/// what it may really use. A page reserves 4 GiB for the heap of its scripts, and crashes at once
/// if it cannot have them.
const UNUSED_MEMORY: u64 = 5 << 30;

/// The process groups of browsers of this process.
///
/// Read by the executor of programs, on other threads. A browser is in it from before its first
/// process exists until after its last one is gone.
static GROUPS: Mutex<Vec<i32>> = Mutex::new(Vec::new());

/// Whether a process belongs to a browser that this process started. The executor of programs,
/// which kills children that no program accounts for, leaves these alone.
pub fn is_browser_process(pid: u32) -> bool {
    // The lock is held while a browser is started, so one that just appeared is in the list.
    let groups = GROUPS.lock().unwrap_or_else(PoisonError::into_inner);
    !groups.is_empty() && group_of(pid).is_some_and(|group| groups.contains(&group))
}

/// The process group of a process. Not by `getpgid`: rustix does not expect the 0 of kernel
/// threads.
#[cfg(target_os = "linux")]
fn group_of(pid: u32) -> Option<i32> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name, in parentheses, may contain anything; state, parent and group follow it.
    status.rsplit_once(')')?.1.split_whitespace().nth(2)?.parse().ok()
}

#[cfg(not(target_os = "linux"))]
fn group_of(pid: u32) -> Option<i32> {
    let pid = Pid::from_raw(pid.cast_signed())?;
    rustix::process::getpgid(Some(pid)).ok().map(Pid::as_raw_pid)
}

/// Kills the crash handlers of the browser with this profile. They have left its process group, and
/// one that traces a renderer which was killed never ends, nor does the renderer. The script does
/// the same for a browser that ends by itself.
#[cfg(target_os = "linux")]
fn kill_crash_handlers(profile: &Path) {
    let database = format!("--database={}/", profile.display());
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        let command = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let mut arguments = command.split(|byte| *byte == 0);
        let is_handler =
            arguments.next().is_some_and(|it| it.ends_with(b"chrome_crashpad_handler"))
                && arguments.any(|argument| argument.starts_with(database.as_bytes()));
        if let Some(pid) = Pid::from_raw(pid).filter(|_| is_handler) {
            let _ = rustix::process::kill_process(pid, Signal::KILL);
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn kill_crash_handlers(_: &Path) {}

/// A started browser. Dropping it kills all of its processes and removes a temporary profile.
#[derive(Debug)]
pub(crate) struct BrowserProcess {
    child: Child,
    group: Pid,
    profile: ProfileFolder,
    /// The last 4 KiB of what it printed; a thread fills it until the stream ends.
    stderr: Arc<Mutex<Vec<u8>>>,
    is_ended: bool,
}

impl BrowserProcess {
    /// Starts the browser; returns the pipes of the debugging protocol, too.
    ///
    /// The environment is not inherited: variables of this process may hold tokens, and every page
    /// that breaks out of its renderer could read them.
    ///
    /// # Errors
    /// `NoBrowser` if no program was found. `BrowserFailed` if the settings ask for a window on a
    /// machine without a display, or if the profile cannot be used.
    pub(crate) fn start(
        settings: &BrowserSettings,
    ) -> Result<(BrowserProcess, ChildStdin, ChildStdout), PageError> {
        let program = find_browser(settings)?;
        if !settings.headless && !has_display(settings) {
            let message = "a window needs a display, and neither `DISPLAY` nor `WAYLAND_DISPLAY` \
                           is set; run this where one is, or leave `headless` on";
            return Err(failed(message.to_owned()));
        }
        let profile = ProfileFolder::open(settings.profile.as_deref())?;
        let mut command = Command::new("/bin/sh");
        command.arg("-c").arg(SCRIPT).arg(&program).arg(profile.path());
        command.arg(if profile.is_temporary() { "yes" } else { "no" });
        // Twice, so that the limit of all together is met first.
        let most = settings.memory.saturating_mul(2).saturating_add(UNUSED_MEMORY);
        command.arg((most / 1024).to_string());
        command.args(FLAGS).arg(format!("--user-data-dir={}", profile.path().display()));
        if settings.headless {
            command.args([
                "--headless",
                "--disable-gpu",
                "--hide-scrollbars",
                // No page opens another window. In full Chromium its popup blocker does this.
                "--block-new-web-contents",
            ]);
        }
        if let Some(user) = profile.user {
            command.uid(user.user).gid(user.group);
        }
        command.env_clear().envs(settings.environment.iter().map(|(name, value)| (name, value)));
        // The script needs a few programs of the system.
        let system = ["/usr/bin", "/bin"].map(PathBuf::from);
        let path = std::env::join_paths(settings.path.iter().chain(&system));
        command.env("PATH", path.unwrap_or_else(|_| "/usr/bin:/bin".into()));
        command.current_dir("/").process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let started = {
            let mut groups = GROUPS.lock().unwrap_or_else(PoisonError::into_inner);
            let started = command.spawn();
            groups.extend(started.as_ref().map(|child| child.id().cast_signed()).ok());
            started
        };
        let mut child = started.map_err(|error| {
            profile.remove();
            failed(format!("cannot start the browser `{}`: {error}", program.display()))
        })?;
        let group = Pid::from_child(&child);
        let pipes = (child.stdin.take(), child.stdout.take());
        let stderr = read_tail(child.stderr.take());
        let process = BrowserProcess { child, group, profile, stderr, is_ended: false };
        match pipes {
            (Some(input), Some(output)) => Ok((process, input, output)),
            _ => Err(failed("the browser has no pipes".to_owned())),
        }
    }

    /// The last lines that it printed, for messages about a failed start.
    pub(crate) fn stderr_tail(&self) -> String {
        let bytes = self.stderr.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&bytes);
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        lines[lines.len().saturating_sub(3)..].join("; ")
    }

    /// The process that the others descend from.
    pub(crate) fn root(&self) -> i32 {
        self.group.as_raw_pid()
    }

    /// Whether the process has exited by itself or was killed by another.
    pub(crate) fn has_exited(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    /// Waits for an end that was asked for, for up to this time; then kills. Blocks.
    pub(crate) fn end(&mut self, grace: Duration) {
        if std::mem::replace(&mut self.is_ended, true) {
            return;
        }
        let asked = std::time::Instant::now();
        while asked.elapsed() < grace && !self.has_exited() {
            std::thread::sleep(Duration::from_millis(5));
        }
        let _ = rustix::process::kill_process_group(self.group, Signal::KILL);
        kill_crash_handlers(self.profile.path());
        let _ = self.child.wait();
        self.reap_orphans();
        let mut groups = GROUPS.lock().unwrap_or_else(PoisonError::into_inner);
        groups.retain(|group| *group != self.group.as_raw_pid());
        drop(groups);
        self.profile.remove();
    }

    /// Waits until the rest of the group is gone: those whose parent has ended are our children,
    /// if this process adopts orphans. Else init reaps them, and may take its time.
    fn reap_orphans(&self) {
        for _ in 0..20 {
            while let Ok(Some(_)) = rustix::process::waitpgid(self.group, WaitOptions::NOHANG) {}
            if rustix::process::test_kill_process_group(self.group).is_err() {
                return;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for BrowserProcess {
    fn drop(&mut self) {
        self.end(Duration::ZERO);
    }
}

/// Whether there is something to show a window on.
fn has_display(settings: &BrowserSettings) -> bool {
    let mut variables = settings.environment.iter();
    !cfg!(target_os = "linux")
        || variables.any(|(name, value)| {
            matches!(name.as_str(), "DISPLAY" | "WAYLAND_DISPLAY") && !value.is_empty()
        })
}

/// Reads a stream to its end on a thread, and keeps the last kilobytes.
fn read_tail(stream: Option<std::process::ChildStderr>) -> Arc<Mutex<Vec<u8>>> {
    const MOST: usize = 4096;
    let kept = Arc::new(Mutex::new(Vec::new()));
    let end = Arc::clone(&kept);
    std::thread::spawn(move || {
        let Some(mut stream) = stream else { return };
        let mut buffer = [0; MOST];
        while let Ok(count @ 1..) = stream.read(&mut buffer) {
            let mut end = end.lock().unwrap_or_else(PoisonError::into_inner);
            end.extend_from_slice(&buffer[..count]);
            let surplus = end.len().saturating_sub(MOST);
            end.drain(..surplus);
        }
    });
    kept
}

/// Pages that only one process has, of all of them, and the pages that the largest one shares:
/// counted for each process, code and shared buffers would be counted ten times.
#[cfg(target_os = "linux")]
pub(crate) fn resident_memory(root: i32) -> u64 {
    let (mut own, mut shared) = (0_u64, 0_u64);
    let mut pids = vec![root];
    while let Some(pid) = pids.pop() {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        own += kilobytes(&status, "RssAnon:");
        shared = shared.max(kilobytes(&status, "RssFile:") + kilobytes(&status, "RssShmem:"));
        let threads = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten();
        for thread in threads.flatten() {
            let children = std::fs::read_to_string(thread.path().join("children"));
            pids.extend(
                children.iter().flat_map(|it| it.split_whitespace()).flat_map(str::parse::<i32>),
            );
        }
    }
    (own + shared) * 1024
}

/// A line such as `RssAnon:     1234 kB`.
#[cfg(target_os = "linux")]
fn kilobytes(status: &str, name: &str) -> u64 {
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok()).unwrap_or(0)
}

/// Not known on other systems: the memory is not limited there.
#[cfg(not(target_os = "linux"))]
pub(crate) fn resident_memory(_root: i32) -> u64 {
    0
}

fn failed(message: String) -> PageError {
    PageError::new(PageErrorCode::BrowserFailed, message)
}
