//! When the browser is started and ended, and that nothing is left of it.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::json;
use toolwright_browser::{PageErrorCode, find_browser, is_browser_process};

use crate::page_server::TestSite;
use crate::{LONG, Page, browser_with, open, settings};

/// The processes of the browsers of this process, with their profiles.
fn browser_processes() -> Vec<(u32, PathBuf)> {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    processes
        .filter_map(|entry| {
            let pid = entry.file_name().to_str()?.parse().ok()?;
            let line = std::fs::read_to_string(entry.path().join("cmdline")).ok()?;
            let profile = line.split('\0').find_map(|it| it.strip_prefix("--user-data-dir="))?;
            is_browser_process(pid).then(|| (pid, PathBuf::from(profile)))
        })
        .collect()
}

fn wait_until_gone(processes: &[(u32, PathBuf)]) {
    wait_until_none(processes, |(pid, profile)| is_running(*pid) || profile.exists());
}

fn wait_until_none(processes: &[(u32, PathBuf)], is_left: impl Fn(&(u32, PathBuf)) -> bool) {
    for _ in 0..600 {
        if !processes.iter().any(&is_left) {
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("left: {processes:?}");
}

/// Whether it is more than a zombie. Its command line is gone before that: while it still has its
/// pipes, its parent cannot know that it ends.
fn is_running(pid: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = status.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
    state.is_some_and(|state| state != 'Z' && state != 'X')
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_left_after_the_end() {
    let server = TestSite::page("<p>x</p>");
    let Some((browser, _tab)) = open(&server, "/").await else { return };
    let processes = browser_processes();
    assert!(!processes.is_empty());
    let profile = &processes[0].1;
    assert!(profile.is_dir());
    // Full Chromium links its socket from the profile, so that another one finds it; the folder of
    // the socket is left behind if Chromium is killed, unless it is in the profile.
    if let Ok(socket) = std::fs::read_link(profile.join("SingletonSocket")) {
        assert!(socket.starts_with(profile), "{}", socket.display());
    }
    browser.close().await;
    wait_until_gone(&processes);
    // It starts again when it is needed, and ends with its handle.
    let tab = browser.tab("session").await.unwrap();
    tab.navigate(&server.url("/"), LONG).await.unwrap();
    let processes = browser_processes();
    assert!(!processes.is_empty());
    drop(browser);
    wait_until_gone(&processes);
    let error = tab.origin().await.unwrap_err();
    assert_eq!(error.code, PageErrorCode::BrowserFailed);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unused_browser_is_ended_and_returns_to_its_page() {
    let server = TestSite::page("<p>x</p>");
    let Some(mut settings) = settings() else { return };
    settings.idle = Duration::from_millis(200);
    let browser = browser_with(settings);
    let tab = browser.tab("session").await.unwrap();
    tab.navigate(&server.url("/"), LONG).await.unwrap();
    let processes = browser_processes();
    wait_until_gone(&processes);
    let tab = browser.tab("session").await.unwrap();
    let page = Page { tab: &tab, origin: server.origin() };
    assert_eq!(page.get("dom.text", json!(["p"])).await, "x");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_browser_is_started_again() {
    let server = TestSite::page("<p>x</p>");
    let Some((browser, tab)) = open(&server, "/").await else { return };
    let page = Page { tab: &tab, origin: server.origin() };
    let waiting = page.ask("dom.observe", json!(["body", 30_000]));
    let killing = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        let processes = browser_processes();
        for (pid, _) in &processes {
            Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap();
        }
        wait_until_none(&processes, |(pid, _)| is_running(*pid));
    };
    let (result, ()) = tokio::join!(waiting, killing);
    let code = result.unwrap_err().code;
    let expected = [PageErrorCode::BrowserFailed, PageErrorCode::PageCrashed];
    assert!(expected.contains(&code), "{code:?}");
    let tab = browser.tab("session").await.unwrap();
    tab.navigate(&server.url("/"), LONG).await.unwrap();
    let page = Page { tab: &tab, origin: server.origin() };
    assert_eq!(page.get("dom.text", json!(["p"])).await, "x");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_that_does_not_answer_is_started_again() {
    let server = TestSite::page("<p>x</p>");
    let Some((browser, tab)) = open(&server, "/").await else { return };
    let page = Page { tab: &tab, origin: server.origin() };
    let stopped = browser_processes();
    for (pid, _) in &stopped {
        Command::new("kill").args(["-STOP", &pid.to_string()]).status().unwrap();
    }
    let error = page.ask_within("dom.text", json!(["p"]), LONG * 3).await.unwrap_err();
    assert_eq!(error.code, PageErrorCode::BrowserFailed, "{error}");
    assert!(error.message.contains("did not answer"), "{error}");
    let tab = browser.tab("session").await.unwrap();
    tab.navigate(&server.url("/"), LONG).await.unwrap();
    let page = Page { tab: &tab, origin: server.origin() };
    assert_eq!(page.get("dom.text", json!(["p"])).await, "x");
    wait_until_gone(&stopped);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_configured_profile_is_kept_and_used_by_one_browser() {
    let server = TestSite::page("<p>x</p>");
    let Some(mut settings) = settings() else { return };
    let folder = tempfile::tempdir().unwrap();
    // The folder around it must be open for the user whom root gives the profile to.
    std::fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .unwrap();
    settings.profile = Some(folder.path().join("profile"));
    for round in 0..2 {
        let browser = browser_with(settings.clone());
        let tab = browser.tab("session").await.unwrap();
        tab.navigate(&server.url("/"), LONG).await.unwrap();
        let page = Page { tab: &tab, origin: server.origin() };
        let kept = page.get("storage.local.get", json!(["key"])).await;
        assert_eq!(kept, if round == 0 { json!(null) } else { json!("kept") });
        page.get("storage.local.set", json!(["key", "kept"])).await;
        // Sessions share it.
        let other = browser.tab("another").await.unwrap();
        other.navigate(&server.url("/"), LONG).await.unwrap();
        let other = Page { tab: &other, origin: server.origin() };
        assert_eq!(other.get("storage.local.get", json!(["key"])).await, "kept");
        browser.close().await;
    }
    assert!(folder.path().join("profile").is_dir());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_program_is_named() {
    let Some(mut settings) = settings() else { return };
    settings.program = Some("/nowhere/chromium".into());
    let error = browser_with(settings.clone()).tab("session").await.err().unwrap();
    assert_eq!(error.code, PageErrorCode::NoBrowser);
    assert!(error.message.contains("/nowhere/chromium"), "{error}");
    settings.program = None;
    let error = find_browser(&settings).unwrap_err();
    assert!(error.message.contains("apt-get install chromium"), "{error}");
    // A program that is not a browser.
    settings.program = Some("/bin/false".into());
    let error = browser_with(settings).tab("session").await.err().unwrap();
    assert_eq!(error.code, PageErrorCode::BrowserFailed);
    assert!(error.message.contains("did not start"), "{error}");
}

/// The browser ends with us, whatever ends us.
#[test]
fn a_browser_does_not_outlive_kill_9() {
    if settings().is_none() {
        return;
    }
    let program = std::env::current_exe().unwrap();
    let mut holder = Command::new(program)
        .args(["--exact", "lifecycle::holds_a_browser", "--nocapture"])
        .env("TOOLWRIGHT_HOLD_BROWSER", "1")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(holder.stdout.take().unwrap()).lines();
    let mut processes = Vec::new();
    for line in lines.map_while(Result::ok) {
        // The test program prints its own lines around ours, and one before it without a newline.
        match line.rsplit_once("process ").and_then(|(_, rest)| rest.split_once(' ')) {
            Some((pid, profile)) => processes.push((pid.parse().unwrap(), profile.into())),
            None if line.ends_with("ready") => break,
            None => {}
        }
    }
    holder.kill().unwrap();
    holder.wait().unwrap();
    assert!(!processes.is_empty());
    wait_until_gone(&processes);
}

/// Not a test by itself: the process that the one above kills.
#[tokio::test(flavor = "multi_thread")]
async fn holds_a_browser() {
    if std::env::var_os("TOOLWRIGHT_HOLD_BROWSER").is_none() {
        return;
    }
    let server = TestSite::page("<script>for (;;);</script>");
    let browser = browser_with(settings().unwrap());
    let tab = browser.tab("session").await.unwrap();
    let _ = tab.navigate(&server.url("/"), Duration::from_secs(1)).await;
    let processes = browser_processes();
    assert!(processes.iter().all(|(_, profile)| Path::new(profile).is_dir()));
    for (pid, profile) in processes {
        println!("process {pid} {}", profile.display());
    }
    println!("ready");
    std::future::pending::<()>().await;
}
