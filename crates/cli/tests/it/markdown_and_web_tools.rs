//! `md`, and the web tools as `call` runs them.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};

use crate::program::{run, run_in, toolwright};

const PAGE: &str = "<nav>menu</nav><h1>Tides</h1><p>See <a href=/table>the <b>table</b></a>";

/// A server that answers everything with the same page.
fn server() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut head = [0; 4096];
            let _ = stream.read(&mut head);
            let _ = write!(stream, "HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n{PAGE}");
        }
    });
    address
}

#[test]
fn md_converts_files_standard_input_and_urls() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("page.html"), PAGE).expect("written");
    let run = |args: &[&str], input: &str| run_in(folder.path(), args, input.as_bytes());
    let expected = "# Tides\n\nSee [the **table**](/table)\n";
    let file = run(&["md", "page.html"], "");
    assert_eq!((file.code, file.stdout.as_str(), file.stderr.as_str()), (0, expected, ""));
    assert_eq!(run(&["md", "-"], PAGE).stdout, expected);
    assert_eq!(run(&["md", "-"], "").stdout, "");
    let address = server();
    let url = format!("http://{address}/x");
    let page = run(&["md", "--allow-private", &url], "");
    assert_eq!(page.stdout, format!("# Tides\n\nSee [the **table**](http://{address}/table)\n"));
    let refused = run(&["md", &url], "");
    assert_eq!((refused.code, refused.stdout.as_str()), (2, ""));
    assert_eq!(
        refused.stderr,
        format!(
            "toolwright: cannot fetch `{url}`: the address is private, local or otherwise special; \
             `--allow-private` allows it\n"
        )
    );
    let missing = run(&["md", "nowhere.html"], "");
    assert!(
        missing.code == 2 && missing.stderr.starts_with("toolwright: cannot read `nowhere.html`: "),
        "{missing:?}"
    );
    let windows = b"<meta charset=windows-1251><p>\xcf\xf0\xe8\xe2\xe5\xf2";
    assert_eq!(run_in(folder.path(), &["md", "-"], windows).stdout, "Привет\n");
}

#[test]
fn call_runs_the_web_tools() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(folder.path().join("web")).expect("a folder");
    for name in ["web-fetch-tool", "web-search-brave-tool", "web-search-google-tool"] {
        std::os::unix::fs::symlink(
            toolwright_testing::programs::binary("web", name),
            folder.path().join("web").join(name),
        )
        .expect("a link");
    }
    let config = "[[source]]\nname = \"web\"\nexecutables = \"web\"\nenv = { TOOLWRIGHT_WEB_ALLOW_PRIVATE = \"1\" }\n";
    std::fs::write(folder.path().join("toolwright.toml"), config).expect("written");
    let run = |args: &[&str]| run_in(folder.path(), args, b"");
    let url = format!("url=http://{}/", server());
    let page = run(&["call", "web_fetch", &url, "limit=1"]);
    let json: serde_json::Value =
        serde_json::from_str(&page.stdout).unwrap_or_else(|_| panic!("{page:?}"));
    assert_eq!(json, serde_json::json!({"content": "# Tides", "lines_read": 1}));
    let search = run(&["call", "web_search_brave", "query=tides"]);
    assert_eq!(search.code, 1);
    assert!(
        search.stderr.contains("Authentication required: BRAVE_API_KEY not found"),
        "{search:?}"
    );
    let short = run(&["call", "web_search_google", "query=x"]);
    assert!(short.stderr.contains("INPUT_INVALID"), "{short:?}");
}

#[test]
fn md_is_in_the_manual_and_in_completions() {
    assert!(run(&["man", "md"]).stdout.contains("allow"));
    assert!(run(&["completions", "bash"]).stdout.contains("trust-proxy"));
    assert!(toolwright().arg("md").output().expect("it runs").status.code() == Some(2));
}
