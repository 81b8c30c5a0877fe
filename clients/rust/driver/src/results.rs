//! Results of commands as JSON.

use std::error::Error as StdError;

use memsidecar_client::Error;
use serde_json::{Value, json};

pub fn failed(error: &Error) -> Value {
    json!({"error": error_json(error)})
}

/// An error of the driver itself.
pub fn broken(why: &str) -> Value {
    json!({"error": {"code": "INTERNAL", "reason": "", "kind": "Other", "message": why}})
}

pub fn error_json(error: &Error) -> Value {
    let details = error.details();
    json!({
        "code": capitals(&format!("{:?}", details.code)),
        "reason": details.reason,
        "kind": kind(error),
        "field": details.field,
        "metadata": details.metadata,
        "retry_after_seconds": details.retry_after.map(|wait| wait.as_secs_f64()),
        "message": details.message,
    })
}

/// The name of the variant.
fn kind(error: &Error) -> &'static str {
    match error {
        Error::InvalidField(_) => "InvalidField",
        Error::NotFound(_) => "NotFound",
        Error::IdConflict(_) => "IdConflict",
        Error::SequenceMismatch(_) => "SequenceMismatch",
        Error::SessionOwnerMismatch(_) => "SessionOwnerMismatch",
        Error::BudgetTooSmall(_) => "BudgetTooSmall",
        Error::TooLarge(_) => "TooLarge",
        Error::RateLimited(_) => "RateLimited",
        Error::QuotaExceeded(_) => "QuotaExceeded",
        Error::DiskFull(_) => "DiskFull",
        Error::SlowReader(_) => "SlowReader",
        Error::Unauthenticated(_) => "Unauthenticated",
        Error::PermissionDenied(_) => "PermissionDenied",
        Error::Starting(_) => "Starting",
        Error::ShuttingDown(_) => "ShuttingDown",
        Error::IndexUnavailable(_) => "IndexUnavailable",
        Error::Overloaded(_) => "Overloaded",
        Error::JournalUnavailable(_) => "JournalUnavailable",
        Error::DataCorrupted(_) => "DataCorrupted",
        Error::NotImplemented(_) => "NotImplemented",
        Error::Internal(_) => "Internal",
        Error::Unreachable(_) => "Unreachable",
        Error::DeadlineExceeded(_) => "DeadlineExceeded",
        // Closing a client cancels its calls.
        Error::Cancelled(_) | Error::Closed(_) => "Cancelled",
        _ => "Other",
    }
}

/// `NOT_FOUND` of `NotFound`.
fn capitals(name: &str) -> String {
    let mut found = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !found.is_empty() {
            found.push('_');
        }
        found.extend(letter.to_uppercase());
    }
    found
}

/// An error with its sources.
pub fn all_of(error: &dyn StdError) -> String {
    let causes = std::iter::successors(error.source(), |cause| (*cause).source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}
