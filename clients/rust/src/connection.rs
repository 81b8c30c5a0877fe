//! The connection to one sidecar.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hyper_util::rt::TokioIo;
use tokio::net::UnixStream;
use tonic::transport::{Channel, Endpoint};
use tower::service_fn;

use crate::BuildError;
use crate::address::Address;
use crate::token::Token;

const USER_AGENT: &str = concat!("memsidecar-client-rust/", env!("CARGO_PKG_VERSION"));
/// Timeout of one attempt to connect; the next call makes another attempt at once.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
/// Keepalive detects a dead connection during a long call. Only during calls: servers close connections that ping
/// without calls, and the next call detects a dead idle connection.
const KEEPALIVE: Duration = Duration::from_secs(30);
const KEEPALIVE_TIMEOUT: Duration = Duration::from_secs(10);

/// Files of TLS, if given.
#[derive(Clone, Debug, Default)]
pub(crate) struct TlsFiles {
    pub(crate) ca: Option<PathBuf>,
    pub(crate) certificate: Option<PathBuf>,
    pub(crate) key: Option<PathBuf>,
}

impl TlsFiles {
    pub(crate) fn is_empty(&self) -> bool {
        self.ca.is_none() && self.certificate.is_none() && self.key.is_none()
    }
}

/// Validated settings of a connection to one sidecar.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) address: Address,
    pub(crate) tls: bool,
    pub(crate) token: Token,
    endpoint: Endpoint,
    answered: AtomicBool,
}

impl Connection {
    /// TLS without a CA file trusts the system's authorities; `None` means no TLS.
    pub(crate) fn new(address: Address, tls: Option<TlsFiles>, token: Token) -> Result<Self, BuildError> {
        let endpoint = Endpoint::from(address.uri(tls.is_some())?)
            .user_agent(USER_AGENT)
            .map_err(|error| BuildError::Transport(error.into()))?
            .connect_timeout(CONNECT_TIMEOUT)
            .http2_keep_alive_interval(KEEPALIVE)
            .keep_alive_timeout(KEEPALIVE_TIMEOUT)
            .keep_alive_while_idle(false);
        let secure = tls.is_some();
        let endpoint = match tls {
            Some(files) => tls::secured(endpoint, &files)?,
            None => endpoint,
        };
        Ok(Self {
            address,
            tls: secure,
            token,
            endpoint,
            answered: AtomicBool::new(false),
        })
    }

    /// Whether a call has succeeded, and so the client and the server agree on TLS.
    pub(crate) fn has_answered(&self) -> bool {
        self.answered.load(Ordering::Relaxed)
    }

    pub(crate) fn note_answer(&self) {
        self.answered.store(true, Ordering::Relaxed);
    }

    /// Connects with the first call, and again with the first call after a failure; there is no backoff except that of
    /// retries. It uses no proxy, regardless of the environment.
    pub(crate) fn channel(&self) -> Channel {
        match &self.address {
            Address::Host(_) => self.endpoint.connect_lazy(),
            Address::Unix(path) => {
                let path = path.clone();
                self.endpoint.connect_with_connector_lazy(service_fn(move |_| {
                    let path = path.clone();
                    async move { UnixStream::connect(path).await.map(TokioIo::new) }
                }))
            }
        }
    }
}

#[cfg(feature = "tls")]
mod tls {
    use std::fs;
    use std::path::Path;

    use tonic::transport::{Certificate, ClientTlsConfig, Endpoint, Identity};

    use super::{CONNECT_TIMEOUT, TlsFiles};
    use crate::BuildError;

    pub(super) fn secured(endpoint: Endpoint, files: &TlsFiles) -> Result<Endpoint, BuildError> {
        let mut config = ClientTlsConfig::new().timeout(CONNECT_TIMEOUT);
        config = match &files.ca {
            Some(file) => config.ca_certificate(Certificate::from_pem(authorities(file)?)),
            None => config.with_native_roots(),
        };
        config = match (&files.certificate, &files.key) {
            (Some(certificate), Some(key)) => config.identity(Identity::from_pem(read(certificate)?, read(key)?)),
            (None, None) => config,
            _ => return Err(BuildError::CertificateWithoutKey),
        };
        endpoint
            .tls_config(config)
            .map_err(|error| BuildError::Transport(error.into()))
    }

    /// Without a certificate in the file no server would be trusted, and the error would not name the cause.
    fn authorities(file: &Path) -> Result<Vec<u8>, BuildError> {
        let pem = read(file)?;
        let begin = b"-----BEGIN CERTIFICATE-----";
        if pem.windows(begin.len()).any(|part| part == begin) {
            Ok(pem)
        } else {
            Err(BuildError::NoCertificate(file.into()))
        }
    }

    fn read(file: &Path) -> Result<Vec<u8>, BuildError> {
        fs::read(file).map_err(|source| BuildError::UnreadableFile {
            path: file.into(),
            source,
        })
    }
}

#[cfg(not(feature = "tls"))]
mod tls {
    use tonic::transport::Endpoint;

    use super::TlsFiles;
    use crate::BuildError;

    pub(super) fn secured(_: Endpoint, _: &TlsFiles) -> Result<Endpoint, BuildError> {
        Err(BuildError::TlsNotBuilt)
    }
}
