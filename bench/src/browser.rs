//! `toolwright-bench browser`: operations on a page in Chromium, and the start of the browser.
//!
//! The peer is `@playwright/mcp`, which drives the same program: the same text of the same page,
//! read by `browser_evaluate` over standard streams, beside a BTCP tool of `toolwright serve` over
//! standard streams, in the same run and in turn.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};
use toolwright_browser::{Browser, BrowserSettings, ElementScope, Tab};

use crate::timing::{median, verdict};

const ROUNDS: usize = 300;
const STARTS: usize = 5;
const LONG: Duration = Duration::from_secs(60);

/// Measures with the first Chromium of the PATH. `peers` is where playwright-mcp is installed.
pub(crate) fn run(peers: &Path) {
    println!("operations on a page in Chromium");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let settings = BrowserSettings {
        program: None,
        start: None,
        origins: Vec::new(),
        is_private: None,
        headless: true,
        profile: None,
        idle: LONG,
        memory: 4 << 30,
        path: std::env::split_paths(&path).collect(),
        environment: Vec::new(),
    };
    let browser = Browser::new(settings.clone(), Arc::new(|_: &str| {}));
    let program = match browser.program() {
        Ok(program) => program,
        Err(error) => return println!("  not measured: {error}"),
    };
    let origin = serve_page();
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let ours = runtime.block_on(measure(&browser, &origin));
    let starts: Vec<Duration> =
        (0..STARTS).map(|_| runtime.block_on(cold_start(&settings, &origin))).collect();
    row("one operation", ours.one, Duration::from_millis(1));
    row("ten in turn", ours.ten, Duration::from_millis(6));
    row("cold start to the first result", median(starts), Duration::from_secs(1));
    match served_times(peers, &program, &origin) {
        Ok((own, peer)) => {
            let ratio = peer.as_secs_f64() / own.as_secs_f64();
            println!(
                "  the same read by a tool over MCP: {:.2} ms, by playwright-mcp {:.2} ms, \
                 {ratio:.1} times ours (at least 5) {}",
                milliseconds(own),
                milliseconds(peer),
                verdict(ratio >= 5.0)
            );
        }
        Err(why) => println!("  playwright-mcp is not measured: {why}"),
    }
}

fn row(name: &str, time: Duration, bound: Duration) {
    println!(
        "  {name}: {:.2} ms, {:.2} of {} ms {}",
        milliseconds(time),
        time.as_secs_f64() / bound.as_secs_f64(),
        bound.as_millis(),
        verdict(time <= bound)
    );
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

struct OperationTimes {
    one: Duration,
    ten: Duration,
}

async fn measure(browser: &Browser, origin: &str) -> OperationTimes {
    let tab = browser.tab("bench").await.expect("a tab");
    tab.navigate(&format!("{origin}/"), LONG).await.expect("the page");
    read_text(&tab, origin).await;
    let mut single = Vec::new();
    let mut tens = Vec::new();
    for _ in 0..ROUNDS {
        let start = Instant::now();
        read_text(&tab, origin).await;
        single.push(start.elapsed());
    }
    for _ in 0..ROUNDS / 10 {
        let start = Instant::now();
        for _ in 0..10 {
            read_text(&tab, origin).await;
        }
        tens.push(start.elapsed());
    }
    OperationTimes { one: median(single), ten: median(tens) }
}

async fn read_text(tab: &Tab, origin: &str) {
    let text = tab.operate(ElementScope::new(), "dom.text", &[json!("#price")], origin, LONG).await;
    assert_eq!(text.expect("a text"), "42 EUR");
}

/// From nothing to the first text.
async fn cold_start(settings: &BrowserSettings, origin: &str) -> Duration {
    let start = Instant::now();
    let browser = Browser::new(settings.clone(), Arc::new(|_: &str| {}));
    let tab = browser.tab("bench").await.expect("a tab");
    tab.navigate(&format!("{origin}/"), LONG).await.expect("the page");
    read_text(&tab, origin).await;
    let time = start.elapsed();
    browser.close().await;
    time
}

/// Serves one page on the loopback interface until the program ends; returns its origin.
fn serve_page() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = stream.read(&mut [0; 4096]);
            let body = "<!doctype html><title>shop</title><p id=price>42 EUR</p>";
            let _ = write!(
                stream,
                "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close\r\n\
                 content-length: {}\r\n\r\n{body}",
                body.len()
            );
        }
    });
    format!("http://{address}")
}

/// The median times in which a tool of ours and playwright-mcp read the same text, in turn.
fn served_times(
    peers: &Path,
    program: &Path,
    origin: &str,
) -> Result<(Duration, Duration), String> {
    let script = peers.join("node_modules/@playwright/mcp/cli.js");
    if !script.is_file() {
        return Err("it is not installed".to_owned());
    }
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let mut own = McpServer::start(own_command(folder.path(), program, origin)?)?;
    let mut command = Command::new("node");
    command.arg(&script).args(["--headless", "--isolated", "--no-sandbox"]);
    command.arg("--executable-path").arg(program);
    let mut peer = McpServer::start(command)?;
    peer.call("browser_navigate", json!({ "url": format!("{origin}/") }))?;
    let function = json!({ "function": "() => document.querySelector('#price').textContent" });
    let reads = [("prices__read", json!({})), ("browser_evaluate", function)];
    let mut times = [Vec::new(), Vec::new()];
    // The first ones start the browser and find the page.
    for round in 0..ROUNDS / 3 + 5 {
        let servers = [&mut own, &mut peer].into_iter().zip(&reads).zip(&mut times);
        for ((server, (tool, arguments)), times) in servers {
            let start = Instant::now();
            let answer = server.call(tool, arguments.clone())?;
            let time = start.elapsed();
            if !answer.to_string().contains("42 EUR") {
                return Err(format!("`{tool}` answered {answer}"));
            }
            if round >= 5 {
                times.push(time);
            }
        }
    }
    let [own, peer] = times;
    Ok((median(own), median(peer)))
}

/// `toolwright serve`, built beside this program, with a tool that reads the page.
fn own_command(folder: &Path, program: &Path, origin: &str) -> Result<Command, String> {
    let toolwright = std::env::current_exe().map_err(|error| error.to_string())?;
    let toolwright = toolwright.with_file_name("toolwright");
    if !toolwright.is_file() {
        return Err(format!("there is no `{}`", toolwright.display()));
    }
    let manifest = json!({
        "btcp": "1.0", "name": "prices", "version": "1.0.0", "capabilities": ["dom:read"],
        "tools": [{ "name": "read", "description": "Reads the price.", "capabilities": ["dom:read"],
            "inputSchema": { "type": "object" } }],
    });
    let body = "export default () => ({ text: document.querySelector('#price').textContent });";
    let config = format!(
        "[browser]\nprogram = {program:?}\nstart = \"{origin}/\"\n\
         [[source]]\nname = \"prices\"\npath = \"prices.json\"\n"
    );
    let files = [("prices.json", manifest.to_string()), ("read.js", body.to_owned())];
    for (name, text) in files.into_iter().chain([("toolwright.toml", config)]) {
        std::fs::write(folder.join(name), text).map_err(|error| error.to_string())?;
    }
    let mut command = Command::new(toolwright);
    command.args(["serve", "--allow", "dom:read", "--config"]).arg(folder.join("toolwright.toml"));
    command.env("XDG_STATE_HOME", folder.join("state"));
    Ok(command)
}

/// An MCP server on standard streams, killed when dropped.
struct McpServer {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    last_id: u64,
}

impl McpServer {
    fn start(mut command: Command) -> Result<McpServer, String> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(|error| error.to_string())?;
        let input = child.stdin.take().ok_or("no stdin")?;
        let output = BufReader::new(child.stdout.take().ok_or("no stdout")?);
        let mut server = McpServer { child, input, output, last_id: 0 };
        server.request(
            "initialize",
            json!({ "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": { "name": "bench", "version": "1" } }),
        )?;
        server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
        Ok(server)
    }

    fn send(&mut self, message: &Json) -> Result<(), String> {
        writeln!(self.input, "{message}").map_err(|error| error.to_string())
    }

    fn request(&mut self, method: &str, params: Json) -> Result<Json, String> {
        self.last_id += 1;
        let id = self.last_id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))?;
        loop {
            let mut line = String::new();
            if self.output.read_line(&mut line).map_err(|error| error.to_string())? == 0 {
                return Err("it ended".to_owned());
            }
            let message: Json = serde_json::from_str(&line).map_err(|error| error.to_string())?;
            if message["id"] == id {
                return Ok(message["result"].clone());
            }
        }
    }

    fn call(&mut self, tool: &str, arguments: Json) -> Result<Json, String> {
        let result = self.request("tools/call", json!({ "name": tool, "arguments": arguments }))?;
        if result["isError"] == true { Err(result.to_string()) } else { Ok(result) }
    }
}

impl Drop for McpServer {
    fn drop(&mut self) {
        let _ = self.request("tools/call", json!({ "name": "browser_close", "arguments": {} }));
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
