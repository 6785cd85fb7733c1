//! Why an operation on a page failed.

/// What kind of failure it is; callers map it to their own codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageErrorCode {
    /// No browser is installed where the settings look for one.
    NoBrowser,
    /// The browser could not be started, or ended.
    BrowserFailed,
    /// The renderer of the page crashed or was killed.
    PageCrashed,
    /// The page went to another address while the operation ran, or before.
    Navigated,
    /// The page is of another origin than the caller was allowed to use.
    OtherOrigin,
    /// The element is not in the page any more, or the selector matches none.
    NoElement,
    /// The operation does not exist, or its arguments are wrong.
    BadOperation,
    /// The result is larger than the limit.
    TooLarge,
    /// The page did not answer in time.
    Timeout,
    /// The address may not be opened.
    OriginRefused,
    /// The page or its code refused: an exception, a failed request.
    Refused,
}

/// A failed operation.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub struct PageError {
    /// The kind.
    pub code: PageErrorCode,
    /// What happened, for people.
    pub message: String,
}

impl PageError {
    pub(crate) fn new(code: PageErrorCode, message: impl Into<String>) -> PageError {
        PageError { code, message: message.into() }
    }
}

impl PageErrorCode {
    /// The code that the broker wrote; `Refused` for any that it does not use.
    pub(crate) fn from_broker(code: &str) -> PageErrorCode {
        match code {
            "OtherOrigin" => PageErrorCode::OtherOrigin,
            "NoElement" => PageErrorCode::NoElement,
            "BadOperation" => PageErrorCode::BadOperation,
            "TooLarge" => PageErrorCode::TooLarge,
            _ => PageErrorCode::Refused,
        }
    }
}
