//! A web server on the loopback interface that counts what reaches it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// What a path answers.
pub(crate) struct SiteReply {
    status: &'static str,
    headers: Vec<String>,
    body: String,
}

impl SiteReply {
    pub(crate) fn html(body: impl Into<String>) -> SiteReply {
        SiteReply {
            status: "200 OK",
            headers: vec!["content-type: text/html".into()],
            body: body.into(),
        }
    }

    pub(crate) fn redirect(to: &str) -> SiteReply {
        let headers = vec![format!("location: {to}")];
        SiteReply { status: "302 Found", headers, body: String::new() }
    }

    pub(crate) fn with(mut self, header: &str) -> SiteReply {
        self.headers.push(header.to_owned());
        self
    }
}

type Routes = Box<dyn Fn(&str) -> Option<SiteReply> + Send + Sync>;

/// A server; it serves until the test ends.
pub(crate) struct TestSite {
    port: u16,
    hits: Arc<Mutex<Vec<String>>>,
    connections: Arc<AtomicUsize>,
}

impl TestSite {
    pub(crate) fn start(
        routes: impl Fn(&str) -> Option<SiteReply> + Send + Sync + 'static,
    ) -> TestSite {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let hits = Arc::new(Mutex::new(Vec::new()));
        let routes: Arc<Routes> = Arc::new(Box::new(routes));
        let seen = Arc::clone(&hits);
        let connections = Arc::<AtomicUsize>::default();
        let accepted = Arc::clone(&connections);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                accepted.fetch_add(1, Ordering::Relaxed);
                let (routes, seen) = (Arc::clone(&routes), Arc::clone(&seen));
                std::thread::spawn(move || drop(answer(stream, &routes, &seen)));
            }
        });
        TestSite { port, hits, connections }
    }

    /// One page at `/`.
    pub(crate) fn page(body: &'static str) -> TestSite {
        TestSite::start(move |path| (path == "/").then(|| SiteReply::html(body)))
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn origin(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.origin())
    }

    /// How many connections were opened, whatever was sent over them.
    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::Relaxed)
    }

    /// `GET /path cookie` of each request so far, without those for icons.
    pub(crate) fn hits(&self) -> Vec<String> {
        let hits = self.hits.lock().unwrap();
        hits.iter().filter(|hit| !hit.contains("favicon")).cloned().collect()
    }
}

fn answer(
    mut stream: TcpStream,
    routes: &Routes,
    seen: &Mutex<Vec<String>>,
) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut first = String::new();
    reader.read_line(&mut first)?;
    let (mut length, mut cookie) = (0, String::new());
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let line = line.trim();
        if line.is_empty() {
            break;
        }
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.trim().parse().unwrap_or(0),
            "cookie" => cookie = format!(" cookie:{}", value.trim()),
            "referer" => cookie.push_str(&format!(" referer:{}", value.trim())),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let mut words = first.split(' ');
    let (method, path) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
    let body = String::from_utf8_lossy(&body);
    let body = if body.is_empty() { String::new() } else { format!(" body:{body}") };
    seen.lock().unwrap().push(format!("{method} {path}{cookie}{body}"));
    let reply = routes(path);
    let reply = reply.unwrap_or(SiteReply {
        status: "404 Not Found",
        headers: Vec::new(),
        body: "not found".to_owned(),
    });
    write!(stream, "HTTP/1.1 {}\r\nconnection: close\r\n", reply.status)?;
    for header in &reply.headers {
        write!(stream, "{header}\r\n")?;
    }
    write!(stream, "content-length: {}\r\n\r\n{}", reply.body.len(), reply.body)
}
