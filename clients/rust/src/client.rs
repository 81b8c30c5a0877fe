//! The client, and what all its calls have in common.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use tonic::transport::Channel;

use crate::connection::Connection;
use crate::{BuildError, ClientBuilder, Error};

/// A sidecar. One is enough for a process: to clone it is cheap, and its clones share the connection.
///
/// Whatever it does it does within tokio, in the runtime of its first call. To give a call up, drop its future.
#[derive(Clone)]
pub struct Client {
    pub(crate) shared: Arc<Shared>,
    pub(crate) deadline: Option<Duration>,
    pub(crate) stream_deadline: Option<Duration>,
}

/// What clones of a client have together.
pub(crate) struct Shared {
    pub(crate) connection: Connection,
    pub(crate) attempts: u32,
    pub(crate) closed: CancellationToken,
    /// Opened by the first call, because before it there may be no runtime.
    channel: Mutex<Option<Channel>>,
}

impl Client {
    pub(crate) fn new(connection: Connection, deadline: Option<Duration>, attempts: u32) -> Self {
        let shared = Shared {
            connection,
            attempts,
            closed: CancellationToken::new(),
            channel: Mutex::new(None),
        };
        Self {
            shared: Arc::new(shared),
            deadline,
            stream_deadline: None,
        }
    }

    /// What is said to the builder wins over the environment.
    pub fn builder() -> ClientBuilder {
        ClientBuilder::new()
    }

    /// As the environment says (`MEMSIDECAR_ADDRESS`, `MEMSIDECAR_TOKEN` and so on; see [`ClientBuilder`]), else the
    /// sidecar at `127.0.0.1:7600`. It connects with its first call.
    ///
    /// # Errors
    ///
    /// Where the environment does not go together.
    pub fn from_env() -> Result<Self, BuildError> {
        Self::builder().build()
    }

    /// The same client with another deadline, which its streams have, too; for a call that needs one of its own:
    ///
    /// ```no_run
    /// # use std::time::Duration;
    /// # use memsidecar_client::{Client, Error, v1::CountRequest};
    /// # async fn example(memory: Client) -> Result<(), Error> {
    /// memory.with_deadline(Duration::from_secs(1)).count(CountRequest::new("s1")).await?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn with_deadline(&self, deadline: impl Into<Option<Duration>>) -> Self {
        let deadline = deadline.into();
        Self {
            shared: Arc::clone(&self.shared),
            deadline,
            stream_deadline: deadline,
        }
    }

    /// Ends the connection, also of all clones; calls in progress end with [`Error::Closed`], and so do later ones. To
    /// close again is harmless. When the last clone is dropped, the connection ends by itself.
    pub fn close(&self) {
        self.shared.closed.cancel();
        self.shared.lock().take();
    }
}

impl Shared {
    pub(crate) fn channel(&self) -> Result<Channel, Error> {
        let mut channel = self.lock();
        if self.closed.is_cancelled() {
            return Err(Error::closed());
        }
        Ok(channel.get_or_insert_with(|| self.connection.channel()).clone())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Channel>> {
        self.channel.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Client")
            .field("address", &self.shared.connection.address)
            .field("deadline", &self.deadline)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::v1::{CountRequest, GetAllRequest};

    fn goes_between_threads<T: Send>(_: T) {}

    /// Nothing is connected before the first call, so none of this needs a runtime.
    #[test]
    fn a_client_its_calls_and_its_streams_go_between_threads() {
        let client = Client::builder().address("127.0.0.1:1").build().unwrap();
        goes_between_threads(&client);
        goes_between_threads(client.count(CountRequest::new("s")));
        goes_between_threads(client.messages(GetAllRequest::new("s")));
        goes_between_threads(client);
    }

    #[tokio::test]
    async fn a_closed_client_stays_closed_and_so_do_its_clones() {
        let client = Client::builder().address("127.0.0.1:1").build().unwrap();
        client.clone().close();
        client.close();
        let refused = client.count(CountRequest::new("s")).await;
        assert!(matches!(refused, Err(Error::Closed(_))), "{refused:?}");
        let refused = client.messages(GetAllRequest::new("s")).try_next().await;
        assert!(matches!(refused, Err(Error::Closed(_))), "{refused:?}");
    }

    #[test]
    fn a_client_does_not_tell_its_token() {
        let builder = Client::builder().address("localhost:1").token("secret");
        assert!(!format!("{builder:?} {:?}", builder.clone().build().unwrap()).contains("secret"));
    }
}
