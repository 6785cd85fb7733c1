//! Servers on the loopback interface whose responses a test determines, over HTTP or HTTPS, and
//! certificates for them.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use rcgen::{BasicConstraints, Certificate, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// A connection, with or without TLS.
pub(crate) trait Wire: Read + Write + Send {}
impl<T: Read + Write + Send> Wire for T {}

type Handler = Arc<dyn Fn(&str, &mut dyn Wire) + Send + Sync>;

/// A server that runs until the test process ends, and records the requests it receives.
pub(crate) struct PageServer {
    pub(crate) address: SocketAddr,
    scheme: &'static str,
    connections: Arc<AtomicUsize>,
    requests: Arc<Mutex<Vec<String>>>,
}

impl PageServer {
    /// Handles every request with `handler`, which gets the request's head and the connection.
    pub(crate) fn start(
        handler: impl Fn(&str, &mut dyn Wire) + Send + Sync + 'static,
    ) -> PageServer {
        PageServer::serve(None, Arc::new(handler))
    }

    /// The same over TLS, with a certificate for `localhost` and `127.0.0.1`.
    pub(crate) fn start_tls(
        authority: &Authority,
        handler: impl Fn(&str, &mut dyn Wire) + Send + Sync + 'static,
    ) -> PageServer {
        PageServer::serve(Some(authority.server.clone()), Arc::new(handler))
    }

    /// Sends the same bytes to every request.
    pub(crate) fn fixed(response: impl Into<Vec<u8>>) -> PageServer {
        let response = response.into();
        PageServer::start(move |_, wire| drop(wire.write_all(&response)))
    }

    fn serve(tls: Option<Arc<ServerConfig>>, handler: Handler) -> PageServer {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let server = PageServer {
            address: listener.local_addr().expect("an address"),
            scheme: if tls.is_some() { "https" } else { "http" },
            connections: Arc::default(),
            requests: Arc::default(),
        };
        let (connections, requests) = (server.connections.clone(), server.requests.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                connections.fetch_add(1, Ordering::SeqCst);
                let (handler, tls, requests) = (handler.clone(), tls.clone(), requests.clone());
                std::thread::spawn(move || handle(stream, tls, &handler, &requests));
            }
        });
        server
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}://{}{path}", self.scheme, self.address)
    }

    /// How many connections were accepted so far.
    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// The heads (request line and headers) of all requests so far.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().expect("no panic").clone()
    }
}

fn handle(
    stream: TcpStream,
    tls: Option<Arc<ServerConfig>>,
    handler: &Handler,
    requests: &Mutex<Vec<String>>,
) {
    let mut wire: Box<dyn Wire> = match tls {
        Some(config) => {
            Box::new(StreamOwned::new(ServerConnection::new(config).expect("a session"), stream))
        }
        None => Box::new(stream),
    };
    let mut head = read_head(&mut *wire);
    // As a proxy, the server accepts every tunnel and then handles the request itself.
    if head.starts_with("CONNECT ") {
        requests.lock().expect("no panic").push(head);
        let _ = wire.write_all(b"HTTP/1.1 200 Connected\r\n\r\n");
        head = read_head(&mut *wire);
    }
    requests.lock().expect("no panic").push(head.clone());
    handler(&head, &mut *wire);
    let _ = wire.flush();
}

/// Blocks until the client closes the connection: a server that never answers, or never completes
/// its answer.
pub(crate) fn hold_open(wire: &mut dyn Wire) {
    while wire.read(&mut [0]).is_ok_and(|count| count > 0) {}
}

fn read_head(wire: &mut dyn Wire) -> String {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") && wire.read(&mut byte).is_ok_and(|count| count == 1) {
        head.push(byte[0]);
    }
    String::from_utf8_lossy(&head).into_owned()
}

/// A response with a body of known length.
pub(crate) fn response(status: &str, headers: &[&str], body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let mut bytes =
        format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n", body.len())
            .into_bytes();
    for header in headers {
        bytes.extend_from_slice(header.as_bytes());
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(b"\r\n");
    bytes.extend_from_slice(body);
    bytes
}

/// A response with an HTML page.
pub(crate) fn html(body: &str) -> Vec<u8> {
    response("200 OK", &["Content-Type: text/html; charset=utf-8"], body)
}

/// A certificate authority made for one test.
pub(crate) struct Authority {
    server: Arc<ServerConfig>,
    folder: tempfile::TempDir,
}

impl Authority {
    pub(crate) fn new() -> Authority {
        let mut params = CertificateParams::new(Vec::new()).expect("no names");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().expect("a key"))
            .expect("a certificate");
        let key = KeyPair::generate().expect("a key");
        let names = ["localhost".to_owned(), "127.0.0.1".to_owned(), "pages.example".to_owned()];
        let leaf = CertificateParams::new(names)
            .expect("names")
            .signed_by(&key, &authority)
            .expect("a certificate");
        Authority::serving(&leaf, &key, &authority.pem())
    }

    /// One whose own certificate is that of the server, as `openssl req -x509` makes it.
    pub(crate) fn signed_by_itself() -> Authority {
        let key = KeyPair::generate().expect("a key");
        let mut params = CertificateParams::new(["127.0.0.1".to_owned()]).expect("a name");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let certificate = params.self_signed(&key).expect("a certificate");
        Authority::serving(&certificate, &key, &certificate.pem())
    }

    fn serving(certificate: &Certificate, key: &KeyPair, authority: &str) -> Authority {
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)
            .expect("a certificate that fits its key");
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("ca.pem"), authority).expect("written");
        Authority { server: Arc::new(config), folder }
    }

    /// The file with the authority's certificate, for `SSL_CERT_FILE`.
    pub(crate) fn file(&self) -> PathBuf {
        self.folder.path().join("ca.pem")
    }
}
