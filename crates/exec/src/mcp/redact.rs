//! Replaces the secrets of a source in texts that come from its server, before agents or the log
//! see them. Servers like to repeat a wrong key in their error messages.

use toolwright_mcp::RpcError;
use toolwright_model::Server;

use crate::{Failure, Json};

/// The shortest value that is replaced, in bytes. Shorter ones (`true`, `8080`) are in many texts
/// by chance, and are not secrets worth the name.
const SHORTEST: usize = 8;

/// The values that a source configures for its server: variables and headers.
#[derive(Debug, Default)]
pub(super) struct Redactor(Vec<String>);

impl Redactor {
    /// The values of this server's variables and headers.
    pub(super) fn of(server: &Server) -> Redactor {
        let values = server.environment.iter().chain(&server.headers);
        let mut secrets: Vec<String> = Vec::new();
        for value in values.filter_map(|variable| variable.value.as_deref()) {
            // Of `Bearer abc…`, servers repeat either the whole or the second word.
            for part in std::iter::once(value).chain(value.split_whitespace()) {
                if part.len() >= SHORTEST && !secrets.iter().any(|known| known == part) {
                    secrets.push(part.to_owned());
                }
            }
        }
        // The longest first, so that a part does not spoil the whole.
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        Redactor(secrets)
    }

    /// Replaces every secret in a text by `***`.
    pub(super) fn text(&self, text: &mut String) {
        for secret in &self.0 {
            if text.contains(secret.as_str()) {
                *text = text.replace(secret.as_str(), "***");
            }
        }
    }

    /// Replaces secrets in all strings of a value. The depth is that of a parsed message: 128.
    pub(super) fn json(&self, value: &mut Json) {
        match value {
            _ if self.0.is_empty() => {}
            Json::String(text) => self.text(text),
            Json::Array(items) => items.iter_mut().for_each(|item| self.json(item)),
            Json::Object(members) => members.values_mut().for_each(|value| self.json(value)),
            _ => {}
        }
    }

    /// Replaces secrets in an error of the server.
    pub(super) fn error(&self, mut error: RpcError) -> RpcError {
        self.text(&mut error.message);
        error.data.iter_mut().for_each(|data| self.json(data));
        error
    }

    /// Replaces secrets in a failure.
    pub(super) fn failure(&self, mut failure: Failure) -> Failure {
        self.text(&mut failure.message);
        if let Some(detail) = failure.detail.take() {
            let mut detail = String::from(detail);
            self.text(&mut detail);
            failure.detail = Some(detail.into());
        }
        if let Some(error) = failure.rpc_error.take() {
            failure.rpc_error = Some(Box::new(self.error(*error)));
        }
        failure
    }
}
