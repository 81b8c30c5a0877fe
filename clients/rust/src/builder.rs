//! Settings of a client, from the builder and the environment.

use std::env;
use std::error::Error as StdError;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use crate::Client;
use crate::address::Address;
use crate::connection::{Connection, TlsFiles};
use crate::retry::ATTEMPTS;
use crate::token::Token;

const DEFAULT_ADDRESS: &str = "127.0.0.1:7600";
const DEFAULT_DEADLINE: Duration = Duration::from_secs(10);

/// Error of [`ClientBuilder::build`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// An address is `host:port` or `unix:/path`.
    #[error("{0:?} is no address: give host:port or unix:/path")]
    BadAddress(String),
    /// Without TLS, the token would be sent in plaintext to another machine.
    #[error("a token would go to {0} in the clear: use TLS, or allow_token_in_clear")]
    TokenInClear(String),
    /// Both a token and a token file are given.
    #[error("give a token or a token file, not both")]
    TwoTokens,
    /// A token is printable ASCII.
    #[error("the token has characters that no token has")]
    BadToken,
    /// The token file has no token.
    #[error("there is no token in {}", .0.display())]
    NoToken(PathBuf),
    /// A file cannot be read.
    #[error("cannot read {}", path.display())]
    UnreadableFile {
        /// The path of the file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The CA file has no certificate.
    #[error("there is no certificate in {}", .0.display())]
    NoCertificate(PathBuf),
    /// The client's certificate and its key belong together.
    #[error("a certificate file and a key file belong together")]
    CertificateWithoutKey,
    /// Files for TLS are given, and TLS is turned off.
    #[error("certificates are given, and TLS is turned off")]
    CertificatesWithoutTls,
    /// `MEMSIDECAR_TLS` is neither `true` nor `false`.
    #[error("MEMSIDECAR_TLS is neither true nor false")]
    NeitherTrueNorFalse,
    /// TLS is enabled, and the feature `tls` of this crate is off.
    #[error("this program was built without the feature `tls` of memsidecar-client")]
    TlsNotBuilt,
    /// A call is sent at least once.
    #[error("a call needs at least one attempt")]
    NoAttempts,
    /// A deadline must be positive; `None` means no deadline.
    #[error("the deadline must be more than 0; None means that there is none")]
    ZeroDeadline,
    /// The transport library rejects the settings, for example an invalid key.
    #[error("the transport cannot be set up")]
    Transport(#[source] Box<dyn StdError + Send + Sync>),
}

/// Builds a [`Client`]. Unset values are read from the environment, or have a default.
///
/// ```no_run
/// # use std::time::Duration;
/// # use memsidecar_client::{BuildError, Client};
/// # fn example() -> Result<(), BuildError> {
/// let memory = Client::builder()
///     .address("memory.example:7600")
///     .ca_file("/etc/memory/ca.crt")
///     .token_file("/run/secrets/memory-token")
///     .deadline(Duration::from_secs(3))
///     .build()?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[must_use = "it does nothing before `build`"]
pub struct ClientBuilder {
    address: Option<String>,
    token: Option<String>,
    token_file: Option<PathBuf>,
    tls: Option<bool>,
    files: TlsFiles,
    deadline: Option<Duration>,
    attempts: u32,
    allow_token_in_clear: bool,
}

impl ClientBuilder {
    pub(crate) fn new() -> Self {
        Self {
            address: None,
            token: None,
            token_file: None,
            tls: None,
            files: TlsFiles::default(),
            deadline: Some(DEFAULT_DEADLINE),
            attempts: ATTEMPTS,
            allow_token_in_clear: false,
        }
    }

    /// `host:port` or `unix:/path`. Not given: `MEMSIDECAR_ADDRESS`, else `127.0.0.1:7600`.
    pub fn address(mut self, address: impl Into<String>) -> Self {
        self.address = Some(address.into());
        self
    }

    /// The bearer token. Without this and a file: `MEMSIDECAR_TOKEN`, else the file `MEMSIDECAR_TOKEN_FILE`, else
    /// none.
    pub fn token(mut self, token: impl Into<String>) -> Self {
        self.token = Some(token.into());
        self
    }

    /// A file with the token, which is read again when it changes. While it has none, the last token stays.
    pub fn token_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.token_file = Some(path.into());
        self
    }

    /// Whether to use TLS. Without a CA file, the system's authorities are trusted.
    ///
    /// Without this and TLS files: `MEMSIDECAR_TLS` (`true` or `false`), `MEMSIDECAR_CA_FILE`,
    /// `MEMSIDECAR_CLIENT_CERTIFICATE_FILE` and `MEMSIDECAR_CLIENT_KEY_FILE`, else no TLS.
    pub fn tls(mut self, tls: bool) -> Self {
        self.tls = Some(tls);
        self
    }

    /// A PEM file with the authorities that are trusted to sign the sidecar's certificate. Implies TLS.
    pub fn ca_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.files.ca = Some(path.into());
        self
    }

    /// A PEM file with the client's own certificate, if the sidecar requires one. Implies TLS, and needs a
    /// [`key_file`](Self::key_file).
    pub fn certificate_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.files.certificate = Some(path.into());
        self
    }

    /// A PEM file with the key of the client's certificate.
    pub fn key_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.files.key = Some(path.into());
        self
    }

    /// The deadline of a call, including retries: more than 0. Default: 10 seconds; `None`: no deadline.
    ///
    /// Streams have none, except that of [`Client::with_deadline`].
    pub fn deadline(mut self, deadline: impl Into<Option<Duration>>) -> Self {
        self.deadline = deadline.into();
        self
    }

    /// The maximum number of attempts of a call. Default: 4; 1: no retries.
    pub fn attempts(mut self, attempts: u32) -> Self {
        self.attempts = attempts;
        self
    }

    /// Whether a token may be sent to another machine without TLS.
    pub fn allow_token_in_clear(mut self, allow: bool) -> Self {
        self.allow_token_in_clear = allow;
        self
    }

    /// The client. It connects with its first call.
    ///
    /// # Errors
    ///
    /// If the settings are inconsistent, or a file cannot be read.
    pub fn build(self) -> Result<Client, BuildError> {
        if self.attempts == 0 {
            return Err(BuildError::NoAttempts);
        }
        if self.deadline.is_some_and(|deadline| deadline.is_zero()) {
            return Err(BuildError::ZeroDeadline);
        }
        let address = self.address.clone().or_else(|| variable("MEMSIDECAR_ADDRESS"));
        let address = Address::parse(address.as_deref().unwrap_or(DEFAULT_ADDRESS))?;
        let token = self.read_token()?;
        let tls = self.tls_files()?;
        if !matches!(token, Token::None) && tls.is_none() && !self.allow_token_in_clear && !address.stays_here() {
            return Err(BuildError::TokenInClear(address.to_string()));
        }
        let connection = Connection::new(address, tls, token)?;
        Ok(Client::new(connection, self.deadline, self.attempts))
    }

    fn read_token(&self) -> Result<Token, BuildError> {
        let (token, file) = match (&self.token, &self.token_file) {
            (None, None) => (variable("MEMSIDECAR_TOKEN"), file_variable("MEMSIDECAR_TOKEN_FILE")),
            given => (given.0.clone(), given.1.clone()),
        };
        match (token, file) {
            (Some(_), Some(_)) if self.token.is_some() => Err(BuildError::TwoTokens),
            (Some(token), _) => Token::given(&token),
            (None, Some(file)) => Token::in_file(&file),
            (None, None) => Ok(Token::None),
        }
    }

    /// None: no TLS.
    fn tls_files(&self) -> Result<Option<TlsFiles>, BuildError> {
        let mut tls = self.tls;
        let mut files = self.files.clone();
        if tls.is_none() && files.is_empty() {
            tls = variable("MEMSIDECAR_TLS").map(|text| truth_of(&text)).transpose()?;
            files = TlsFiles {
                ca: file_variable("MEMSIDECAR_CA_FILE"),
                certificate: file_variable("MEMSIDECAR_CLIENT_CERTIFICATE_FILE"),
                key: file_variable("MEMSIDECAR_CLIENT_KEY_FILE"),
            };
        }
        match tls {
            Some(false) if !files.is_empty() => Err(BuildError::CertificatesWithoutTls),
            Some(true) => Ok(Some(files)),
            _ if files.is_empty() => Ok(None),
            _ => Ok(Some(files)),
        }
    }
}

impl fmt::Debug for ClientBuilder {
    /// Without the token.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ClientBuilder")
            .field("address", &self.address)
            .field("token_file", &self.token_file)
            .field("tls", &self.tls)
            .field("files", &self.files)
            .field("deadline", &self.deadline)
            .field("attempts", &self.attempts)
            .finish_non_exhaustive()
    }
}

/// A blank variable is unset. Invalid Unicode is replaced, and rejected later for its characters.
fn variable(name: &str) -> Option<String> {
    let value = env::var_os(name)?.to_string_lossy().into_owned();
    Some(value).filter(|value| !value.trim().is_empty())
}

fn file_variable(name: &str) -> Option<PathBuf> {
    variable(name).and_then(|_| env::var_os(name)).map(PathBuf::from)
}

fn truth_of(text: &str) -> Result<bool, BuildError> {
    match text.trim().to_ascii_lowercase().as_str() {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(BuildError::NeitherTrueNorFalse),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_says_true_or_false() {
        assert!(truth_of(" TRUE\n").unwrap());
        assert!(!truth_of("False").unwrap());
        for other in ["yes", "1", "perhaps"] {
            assert!(
                matches!(truth_of(other), Err(BuildError::NeitherTrueNorFalse)),
                "{other}"
            );
        }
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let builder = || ClientBuilder::new().address("localhost:1");
        assert!(matches!(builder().attempts(0).build(), Err(BuildError::NoAttempts)));
        assert!(matches!(
            builder().tls(false).ca_file("ca.pem").build(),
            Err(BuildError::CertificatesWithoutTls)
        ));
        assert!(matches!(
            builder().token("one").token_file("two").build(),
            Err(BuildError::TwoTokens)
        ));
    }

    #[test]
    fn a_deadline_is_more_than_nothing_or_none() {
        let builder = |deadline: Option<Duration>| ClientBuilder::new().address("localhost:1").deadline(deadline);
        let refused = builder(Some(Duration::ZERO)).build();
        assert!(matches!(refused, Err(BuildError::ZeroDeadline)), "{refused:?}");
        assert!(refused.unwrap_err().to_string().contains("deadline"));
        for good in [None, Some(Duration::from_nanos(1)), Some(Duration::MAX)] {
            assert!(builder(good).build().is_ok(), "{good:?}");
        }
    }

    #[cfg(feature = "tls")]
    #[test]
    fn files_of_tls_are_looked_at() {
        let builder = || ClientBuilder::new().address("localhost:1");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ca.pem");
        std::fs::write(&path, "nothing of the kind").unwrap();
        assert!(matches!(
            builder().ca_file(&path).build(),
            Err(BuildError::NoCertificate(_))
        ));
        for half in [builder().certificate_file(&path), builder().key_file(&path)] {
            assert!(matches!(half.build(), Err(BuildError::CertificateWithoutKey)));
        }
    }
}
