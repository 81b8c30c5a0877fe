//! Errors of calls and their details.

use std::collections::HashMap;
use std::error::Error as _;
use std::fmt;
use std::time::Duration;

use tonic::{Code, ConnectError, Status, TimeoutExpired};
use tonic_types::{ErrorDetails, StatusExt};

use crate::connection::Connection;

const DOMAIN: &str = "memsidecar.dev";

/// Error of a call: a variant for each reason of the sidecar, and variants for errors of gRPC itself.
///
/// After [`DeadlineExceeded`](Self::DeadlineExceeded), [`Cancelled`](Self::Cancelled), [`Closed`](Self::Closed) and
/// [`Unreachable`](Self::Unreachable) a write may have been stored: sent again with the same id, it is answered as a
/// duplicate if it was; so it may after any other error without a [reason](Details::reason). After an error with one,
/// nothing of that attempt was stored; an earlier attempt whose answer was lost may have been. Acknowledged messages of
/// a stream stay stored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A field of the request is invalid: see [`Details::field`].
    #[error("{0}")]
    InvalidField(Box<Details>),
    /// The call acts on an item that does not exist.
    #[error("{0}")]
    NotFound(Box<Details>),
    /// The message id exists with a different body.
    #[error("{0}")]
    IdConflict(Box<Details>),
    /// The session's last sequence is not the expected one: see [`Details::last_sequence`].
    #[error("{0}")]
    SequenceMismatch(Box<Details>),
    /// The session belongs to another user.
    #[error("{0}")]
    SessionOwnerMismatch(Box<Details>),
    /// The mandatory parts of the context do not fit: see [`Details::required_tokens`] and
    /// [`Details::item`].
    #[error("{0}")]
    BudgetTooSmall(Box<Details>),
    /// A message, request, batch or document is too large. A retry does not help.
    #[error("{0}")]
    TooLarge(Box<Details>),
    /// Too many calls: wait as long as [`Details::retry_after`] says.
    #[error("{0}")]
    RateLimited(Box<Details>),
    /// The namespace is at its quota: `quota` and `limit` in [`Details::metadata`].
    #[error("{0}")]
    QuotaExceeded(Box<Details>),
    /// The disk is full; reads still work.
    #[error("{0}")]
    DiskFull(Box<Details>),
    /// The caller does not read the events of `watch`. Watch again from `cursor` in [`Details::metadata`].
    #[error("{0}")]
    SlowReader(Box<Details>),
    /// The token is missing, unknown or expired.
    #[error("{0}")]
    Unauthenticated(Box<Details>),
    /// The token is not valid for this namespace or this call.
    #[error("{0}")]
    PermissionDenied(Box<Details>),
    /// The sidecar is still opening its files. The client has retried the call as often as the retry policy allows.
    #[error("{0}")]
    Starting(Box<Details>),
    /// The sidecar is draining before it stops. The client has retried the call.
    #[error("{0}")]
    ShuttingDown(Box<Details>),
    /// The request needs the index, which is not open. The client has retried the call.
    #[error("{0}")]
    IndexUnavailable(Box<Details>),
    /// Too many requests are queued in the sidecar. The client has retried the call.
    #[error("{0}")]
    Overloaded(Box<Details>),
    /// The database of the sidecar's journal does not answer. The client has retried the call. A write may have been
    /// stored.
    #[error("{0}")]
    JournalUnavailable(Box<Details>),
    /// Stored data is corrupted: `file` in [`Details::metadata`].
    #[error("{0}")]
    DataCorrupted(Box<Details>),
    /// This version of the sidecar does not implement the RPC.
    #[error("{0}")]
    NotImplemented(Box<Details>),
    /// A bug in the sidecar. The sidecar's log has the details.
    #[error("{0}")]
    Internal(Box<Details>),
    /// No server answers at the address, or the connection broke. The client has retried the call.
    #[error("{0}")]
    Unreachable(Box<Details>),
    /// The deadline passed.
    #[error("{0}")]
    DeadlineExceeded(Box<Details>),
    /// Something on the way cancelled the call. The client has retried the call. (Dropping a future returns no error.)
    #[error("{0}")]
    Cancelled(Box<Details>),
    /// The client was closed.
    #[error("{0}")]
    Closed(Box<Details>),
    /// Anything else; also a reason that this version of the client does not know yet.
    #[error("{0}")]
    Other(Box<Details>),
}

impl Error {
    /// The details of the error.
    #[must_use]
    pub fn details(&self) -> &Details {
        match self {
            Self::InvalidField(details)
            | Self::NotFound(details)
            | Self::IdConflict(details)
            | Self::SequenceMismatch(details)
            | Self::SessionOwnerMismatch(details)
            | Self::BudgetTooSmall(details)
            | Self::TooLarge(details)
            | Self::RateLimited(details)
            | Self::QuotaExceeded(details)
            | Self::DiskFull(details)
            | Self::SlowReader(details)
            | Self::Unauthenticated(details)
            | Self::PermissionDenied(details)
            | Self::Starting(details)
            | Self::ShuttingDown(details)
            | Self::IndexUnavailable(details)
            | Self::Overloaded(details)
            | Self::JournalUnavailable(details)
            | Self::DataCorrupted(details)
            | Self::NotImplemented(details)
            | Self::Internal(details)
            | Self::Unreachable(details)
            | Self::DeadlineExceeded(details)
            | Self::Cancelled(details)
            | Self::Closed(details)
            | Self::Other(details) => details,
        }
    }

    /// Returns the error for a reason, or for the code if there is no reason.
    fn of(details: Details) -> Self {
        let kind = match details.reason.as_str() {
            "INVALID_FIELD" => Self::InvalidField,
            "NOT_FOUND" => Self::NotFound,
            "ID_CONFLICT" => Self::IdConflict,
            "SEQUENCE_MISMATCH" => Self::SequenceMismatch,
            "SESSION_OWNER_MISMATCH" => Self::SessionOwnerMismatch,
            "BUDGET_TOO_SMALL" => Self::BudgetTooSmall,
            "TOO_LARGE" => Self::TooLarge,
            "RATE_LIMITED" => Self::RateLimited,
            "QUOTA_EXCEEDED" => Self::QuotaExceeded,
            "DISK_FULL" => Self::DiskFull,
            "SLOW_READER" => Self::SlowReader,
            "UNAUTHENTICATED" => Self::Unauthenticated,
            "PERMISSION_DENIED" => Self::PermissionDenied,
            "STARTING" => Self::Starting,
            "SHUTTING_DOWN" => Self::ShuttingDown,
            "INDEX_UNAVAILABLE" => Self::IndexUnavailable,
            "OVERLOADED" => Self::Overloaded,
            "JOURNAL_UNAVAILABLE" => Self::JournalUnavailable,
            "DATA_CORRUPTED" => Self::DataCorrupted,
            "NOT_IMPLEMENTED" => Self::NotImplemented,
            "INTERNAL" => Self::Internal,
            "" => match details.code {
                Code::Unavailable => Self::Unreachable,
                Code::DeadlineExceeded => Self::DeadlineExceeded,
                Code::Cancelled => Self::Cancelled,
                // gRPC's own limit on the size of a message, at either side.
                Code::ResourceExhausted => Self::TooLarge,
                _ => Self::Other,
            },
            _ => Self::Other,
        };
        kind(Box::new(details))
    }

    pub(crate) fn closed() -> Self {
        Self::Closed(Box::new(Details::plain(
            Code::Cancelled,
            "the client is closed".to_owned(),
        )))
    }

    pub(crate) fn deadline_exceeded(message: impl Into<String>) -> Self {
        Self::of(Details::plain(Code::DeadlineExceeded, message.into()))
    }

    /// The stream ended with OK before all responses.
    pub(crate) fn ended_early() -> Self {
        Self::of(Details::plain(
            Code::Unknown,
            "the stream ended before everything was answered".to_owned(),
        ))
    }

    /// Converts a status of gRPC.
    pub(crate) fn from_status(status: &Status, connection: &Connection) -> Self {
        let details = Details::error_json(status);
        if !details.reason.is_empty() {
            return Self::of(details);
        }
        // A status from the server has no source; one with a source is an error of the transport, whatever its code.
        if status.source().is_some() {
            if has_cause::<TimeoutExpired>(status) {
                return Self::deadline_exceeded(OVER);
            }
            return Self::of(Details::plain(Code::Unavailable, broken(status, connection)));
        }
        if details.code == Code::OutOfRange && details.message.contains(TONICS_LIMIT) {
            let code = Code::ResourceExhausted;
            return Self::of(Details { code, ..details });
        }
        if details.code == Code::Unavailable {
            let message = format!("{} is unavailable: {}", connection.address, details.message);
            return Self::of(Details { message, ..details });
        }
        Self::of(details)
    }
}

/// Tonic's message for a response beyond its limit, which has another code than other implementations use.
const TONICS_LIMIT: &str = "message length too large";
pub(crate) const OVER: &str = "the deadline is over";

/// Details of an [`Error`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Details {
    /// The status code of gRPC.
    pub code: Code,
    /// The message for people; it may change.
    pub message: String,
    /// The reason, as in the contract's `ErrorReason` without its prefix: `ID_CONFLICT`. Empty for errors of gRPC.
    pub reason: String,
    /// The path of the invalid field, as in `messages[3].role`; empty for other errors.
    pub field: String,
    /// Metadata of the reason, by name.
    pub metadata: HashMap<String, String>,
    /// The delay before a retry can succeed; `None` if the sidecar did not send one.
    pub retry_after: Option<Duration>,
}

impl Details {
    /// The session's newest sequence, if the call expected another ([`Error::SequenceMismatch`]).
    #[must_use]
    pub fn last_sequence(&self) -> Option<i64> {
        self.metadata.get("last_sequence")?.parse().ok()
    }

    /// The required tokens of a context, if the budget was too small ([`Error::BudgetTooSmall`]).
    #[must_use]
    pub fn required_tokens(&self) -> Option<i32> {
        self.metadata.get("required_tokens")?.parse().ok()
    }

    /// The largest mandatory part of a context, if the budget was too small ([`Error::BudgetTooSmall`]):
    /// `system_prompt`, `newest user message`, `pinned facts`, `tool_schemas_json` or `reserve_output_tokens`.
    #[must_use]
    pub fn item(&self) -> Option<&str> {
        self.metadata.get("item").map(String::as_str)
    }

    pub(crate) fn plain(code: Code, message: String) -> Self {
        Self {
            code,
            message,
            reason: String::new(),
            field: String::new(),
            metadata: HashMap::new(),
            retry_after: None,
        }
    }

    /// Without a reason where there are no details, or where an intermediary put something else there.
    fn error_json(status: &Status) -> Self {
        let plain = Self::plain(status.code(), status.message().to_owned());
        let details = status.get_error_details();
        let Some(info) = details.error_info().filter(|info| info.domain == DOMAIN) else {
            return plain;
        };
        Self {
            reason: info.reason.clone(),
            field: field_of(&details),
            metadata: info.metadata.clone(),
            retry_after: details.retry_info().and_then(|retry| retry.retry_delay),
            ..plain
        }
    }
}

impl fmt::Display for Details {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.reason.is_empty() {
            write!(formatter, "{} ({:?})", self.message, self.code)
        } else {
            write!(formatter, "{} ({:?}, {})", self.message, self.code, self.reason)
        }
    }
}

fn field_of(details: &ErrorDetails) -> String {
    let violations = details.bad_request().map(|bad| bad.field_violations.as_slice());
    violations
        .and_then(|found| found.first())
        .map_or_else(String::new, |found| found.field.clone())
}

/// A hint at the cause of an unreachable server.
fn broken(status: &Status, connection: &Connection) -> String {
    let cause = causes(status)
        .last()
        .map_or_else(|| status.message().to_owned(), ToString::to_string);
    let connected = !has_cause::<ConnectError>(status);
    let what = if connected {
        "lost the connection to"
    } else {
        "cannot connect to"
    };
    let hint = match connection.tls {
        // The rustls error for a plaintext response.
        true if cause.contains("InvalidContentType") => "; does it speak without TLS?",
        // A TLS server closes a plaintext connection, and so does a server of another protocol.
        false if connected && !connection.has_answered() => "; does it want TLS, or is it no sidecar?",
        _ => "",
    };
    format!("{what} {}: {cause}{hint}", connection.address)
}

fn causes(status: &Status) -> impl Iterator<Item = &(dyn std::error::Error + 'static)> {
    std::iter::successors(status.source(), |error| (*error).source())
}

fn has_cause<E: std::error::Error + 'static>(status: &Status) -> bool {
    causes(status).any(<dyn std::error::Error>::is::<E>)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::Address;
    use crate::token::Token;
    use crate::v1::ErrorReason;

    /// `ID_CONFLICT`: `IdConflict`.
    fn camel(reason: &str) -> String {
        let words = reason
            .split('_')
            .map(|word| word[..1].to_owned() + &word[1..].to_lowercase());
        words.collect()
    }

    #[test]
    fn every_reason_of_the_contract_has_a_variant_of_its_name() {
        let reasons: Vec<ErrorReason> = (1..).map_while(|number| ErrorReason::try_from(number).ok()).collect();
        assert!(reasons.len() >= 19);
        for reason in reasons {
            let name = reason.as_str_name().trim_start_matches("ERROR_REASON_").to_owned();
            let error = Error::of(Details {
                reason: name.clone(),
                ..Details::plain(Code::Unknown, String::new())
            });
            assert!(
                format!("{error:?}").starts_with(&format!("{}(", camel(&name))),
                "{error:?}"
            );
        }
    }

    #[test]
    fn numbers_are_read_from_the_metadata() {
        let mut details = Details::plain(Code::Aborted, String::new());
        assert_eq!((details.last_sequence(), details.required_tokens()), (None, None));
        assert_eq!(details.item(), None);
        details.metadata.insert("last_sequence".to_owned(), "7".to_owned());
        details.metadata.insert("required_tokens".to_owned(), "321".to_owned());
        assert_eq!(
            (details.last_sequence(), details.required_tokens()),
            (Some(7), Some(321))
        );
        details.metadata.insert("item".to_owned(), "pinned facts".to_owned());
        assert_eq!(details.item(), Some("pinned facts"));
    }

    #[test]
    fn what_grpc_finds_too_large_is_too_large() {
        let connection = Connection::new(Address::parse("localhost:1").unwrap(), None, Token::None).unwrap();
        for status in [
            Status::resource_exhausted("Received message larger than max"),
            Status::out_of_range("Error, decoded message length too large: found 5 bytes, the limit is: 4 bytes"),
        ] {
            let error = Error::from_status(&status, &connection);
            assert!(matches!(error, Error::TooLarge(_)), "{error:?}");
            assert_eq!(
                (error.details().code, error.details().reason.as_str()),
                (Code::ResourceExhausted, "")
            );
        }
        let other = Error::from_status(&Status::out_of_range("no such page"), &connection);
        assert!(matches!(other, Error::Other(_)), "{other:?}");
    }

    #[test]
    fn an_error_is_small_and_goes_anywhere() {
        fn goes_anywhere<T: Send + Sync + 'static>() {}
        goes_anywhere::<Error>();
        assert!(size_of::<Error>() <= 16);
    }
}
