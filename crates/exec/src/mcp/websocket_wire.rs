//! A WebSocket: one message in each text frame, in both directions. MCP never specified it, but
//! servers and gateways have it, with the subprotocol `mcp`.
//!
//! The HTTP client makes the connection, so that headers, certificates, redirects and error
//! messages are those of every other server behind a URL; only the frames are tungstenite's.
//!
//! Writing and reading are independent. Writes go through one lock and are always finished; one
//! reader takes all frames. A connection that is silent for long is asked with a ping, because a
//! peer that has lost its network is otherwise noticed only by the next call.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use futures::stream::{SplitSink, SplitStream};
use futures::{SinkExt, StreamExt};
use http::{StatusCode, header};
use reqwest::{Upgraded, Url};
use tokio::sync::Mutex;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::error::{CapacityError, ProtocolError};
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error as FrameError, Message as Frame};
use tokio_util::sync::CancellationToken;
use toolwright_mcp::MAX_MESSAGE;
use toolwright_model::Variable;

use super::connect_error::unavailable;
use super::dispatcher::Dispatcher;
use super::duplex_wire::{DuplexWire, IncomingMessages, until_closed};
use super::http_client::{self, HttpFailure};
use super::http_wire::{content_type, describe};
use crate::{BoxFuture, Failure};

/// What is asked for. Servers of the Python SDK always answer with it, which is an error for a
/// client that did not ask.
const SUBPROTOCOL: &str = "mcp";
/// How long a server may be silent before it is asked whether it is there, and again before the
/// connection counts as broken: a peer that has lost its network says nothing about it.
const TIME_TO_PING: Duration = Duration::from_secs(30);
/// How long the closing handshake may take.
const TIME_TO_CLOSE: Duration = Duration::from_secs(1);

type FrameSink = SplitSink<WebSocketStream<Upgraded>, Frame>;
type FrameStream = SplitStream<WebSocketStream<Upgraded>>;

/// The way to one server.
pub(super) struct WebSocketWire {
    /// `None` once it is closed.
    sink: Arc<Mutex<Option<FrameSink>>>,
    /// The frames that arrive, until the reader takes them.
    stream: std::sync::Mutex<Option<FrameStream>>,
    closing: CancellationToken,
}

impl WebSocketWire {
    /// Opens the connection.
    ///
    /// The handshake of RFC 6455. The key of the request must come back in its accepted form, so
    /// that a cache or an HTTP server that ignores the upgrade is recognised.
    ///
    /// # Errors
    /// If the server cannot be reached, or does not speak WebSocket at this address.
    pub(super) async fn open(url: &str, headers: &[Variable]) -> Result<WebSocketWire, Failure> {
        let configured =
            http_client::configured_headers(headers).map_err(|why| unavailable(&why))?;
        let client = http_client::client().map_err(|why| unavailable(&why))?;
        let url = http_url(url).map_err(|why| unavailable(&why))?;
        let mut key = [0; 16];
        getrandom::fill(&mut key)
            .map_err(|error| unavailable(&format!("no random numbers can be had: {error}")))?;
        let key = base64::engine::general_purpose::STANDARD.encode(key);
        let request = client
            .get(url)
            .headers(configured)
            .header(header::CONNECTION, "Upgrade")
            .header(header::UPGRADE, "websocket")
            .header(header::SEC_WEBSOCKET_VERSION, "13")
            .header(header::SEC_WEBSOCKET_KEY, &key)
            .header(header::SEC_WEBSOCKET_PROTOCOL, SUBPROTOCOL);
        let response = request.send().await;
        let response = response.map_err(|error| HttpFailure::from(error).while_connecting())?;
        let status = response.status();
        if status == StatusCode::UNAUTHORIZED {
            return Err(HttpFailure::TokenRequired.while_connecting());
        }
        let answer = |name| response.headers().get(name).and_then(|value| value.to_str().ok());
        let is_accepted =
            answer(header::SEC_WEBSOCKET_ACCEPT) == Some(&derive_accept_key(key.as_bytes()));
        if status != StatusCode::SWITCHING_PROTOCOLS || !is_accepted {
            let what = describe(status, content_type(&response), b"");
            return Err(HttpFailure::Unexpected(what).while_connecting());
        }
        if let Some(other) = answer(header::SEC_WEBSOCKET_PROTOCOL).filter(|it| *it != SUBPROTOCOL)
        {
            let other: String = other.chars().take(64).collect();
            return Err(unavailable(&format!("it speaks `{other}` and not `{SUBPROTOCOL}`")));
        }
        let upgraded = response.upgrade().await;
        let upgraded = upgraded.map_err(|error| HttpFailure::from(error).while_connecting())?;
        let config = WebSocketConfig::default()
            .max_message_size(Some(MAX_MESSAGE))
            .max_frame_size(Some(MAX_MESSAGE));
        let socket = WebSocketStream::from_raw_socket(upgraded, Role::Client, Some(config)).await;
        let (sink, stream) = socket.split();
        Ok(WebSocketWire {
            sink: Arc::new(Mutex::new(Some(sink))),
            stream: std::sync::Mutex::new(Some(stream)),
            closing: CancellationToken::new(),
        })
    }

    /// Writes a frame to its end, also if the caller is dropped: half a frame would corrupt the
    /// next one. Ends when the connection is closed, so a server that does not read holds nothing.
    async fn write(&self, frame: Frame) -> Result<(), HttpFailure> {
        let (sink, closing) = (Arc::clone(&self.sink), self.closing.clone());
        let writing = tokio::spawn(async move {
            let write = async {
                match sink.lock().await.as_mut() {
                    Some(sink) => sink.send(frame).await.map_err(|_| HttpFailure::StreamEnded),
                    None => Err(HttpFailure::StreamEnded),
                }
            };
            until_closed(&closing, write).await
        });
        writing.await.unwrap_or(Err(HttpFailure::StreamEnded))
    }

    /// The next frame. A server that is silent for long is asked whether it is there.
    ///
    /// `None` at the end of the stream.
    ///
    /// # Errors
    /// Why the server counts as disconnected: it is silent after a ping, or what it sent is not a
    /// frame.
    async fn next(&self, stream: &mut FrameStream) -> Result<Option<Frame>, String> {
        for is_first in [true, false] {
            match tokio::time::timeout(TIME_TO_PING, stream.next()).await {
                Ok(frame) => return frame.transpose().map_err(|error| explain(&error)),
                // The answer arrives as a frame.
                Err(_) if is_first => {
                    let ping = self.write(Frame::Ping(Default::default()));
                    let _ = tokio::time::timeout(TIME_TO_CLOSE, ping).await;
                }
                Err(_) => {}
            }
        }
        Err("it no longer answers".to_owned())
    }
}

/// The address for the HTTP client.
///
/// # Errors
/// A sentence, for an address that does not begin with `ws://` or `wss://`.
fn http_url(url: &str) -> Result<Url, String> {
    let parsed = Url::parse(url).map_err(|error| format!("its URL is not one: {error}"))?;
    let scheme = match parsed.scheme() {
        "ws" => "http",
        "wss" => "https",
        _ => return Err("its URL does not start with `ws://` or `wss://`".to_owned()),
    };
    // `set_scheme` refuses to change between schemes of these two kinds in some cases.
    let (_, rest) = parsed.as_str().split_once(':').unwrap_or_default();
    Url::parse(&format!("{scheme}:{rest}")).map_err(|error| format!("its URL is not one: {error}"))
}

/// Why the stream of frames ended.
fn explain(error: &FrameError) -> String {
    match error {
        FrameError::Capacity(CapacityError::MessageTooLong { .. }) => {
            let mebibytes = MAX_MESSAGE >> 20;
            format!("it sent a message of more than {mebibytes} MiB and was disconnected")
        }
        FrameError::Protocol(ProtocolError::ResetWithoutClosingHandshake) => {
            "its connection broke".to_owned()
        }
        FrameError::Protocol(_) | FrameError::Utf8(_) => {
            "it sent something that is not a WebSocket frame and was disconnected".to_owned()
        }
        _ => "its connection broke".to_owned(),
    }
}

impl DuplexWire for WebSocketWire {
    fn send(self: Arc<Self>, message: Vec<u8>) -> BoxFuture<'static, Result<(), HttpFailure>> {
        Box::pin(async move {
            // Written by this program, so it is always UTF-8.
            let text = String::from_utf8(message).map_err(|_| HttpFailure::StreamEnded)?;
            self.write(Frame::Text(text.into())).await
        })
    }

    fn read(self: Arc<Self>, dispatcher: Arc<Dispatcher>) -> BoxFuture<'static, String> {
        Box::pin(async move {
            let taken =
                self.stream.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
            let Some(mut stream) = taken else { return "its stream is read twice".to_owned() };
            let wire: Arc<dyn DuplexWire> = Arc::<WebSocketWire>::clone(&self);
            let mut incoming = IncomingMessages::new(&dispatcher);
            let reading = async {
                while let Some(frame) = self.next(&mut stream).await? {
                    incoming.count(frame.len())?;
                    match frame {
                        Frame::Text(text) => {
                            incoming.deliver(text.as_bytes().to_vec(), &wire).await?;
                        }
                        Frame::Binary(bytes) => incoming.deliver(bytes.to_vec(), &wire).await?,
                        Frame::Close(_) => break,
                        // Pings are answered by tungstenite.
                        _ => incoming.count(1)?,
                    }
                }
                Ok::<_, String>(())
            };
            tokio::select! {
                ended = reading => match ended {
                    Ok(()) => "the server closed the connection".to_owned(),
                    Err(why) => why,
                },
                () = self.closing.cancelled() => "the connection was closed".to_owned(),
            }
        })
    }

    fn close(&self) {
        self.closing.cancel();
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let sink = Arc::clone(&self.sink);
        runtime.spawn(async move {
            if let Some(mut sink) = sink.lock().await.take() {
                let _ = tokio::time::timeout(TIME_TO_CLOSE, sink.close()).await;
            }
        });
    }
}
