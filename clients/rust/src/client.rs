//! The client, and what all its calls have in common.

use std::fmt;
use std::future::pending;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::runtime::{Handle, Id};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tonic::transport::Channel;

use crate::connection::Connection;
use crate::{BuildError, ClientBuilder, Error};

/// A client of a sidecar. One is enough for a process: cloning is cheap, and clones share the connection.
///
/// It runs within tokio. It has its own connection in each runtime that it is used in, so it may
/// outlive them. To cancel a call, drop its future.
#[derive(Clone)]
pub struct Client {
    pub(crate) shared: Arc<Shared>,
    pub(crate) deadline: Option<Duration>,
    pub(crate) stream_deadline: Option<Duration>,
}

/// The shared state of the clones of a client.
pub(crate) struct Shared {
    pub(crate) connection: Connection,
    pub(crate) attempts: u32,
    pub(crate) closed: CancellationToken,
    /// Each opened by the first call in its runtime.
    channels: Mutex<Vec<Opened>>,
}

/// A channel, driven by tasks of one runtime. When the runtime ends, the channel no longer works.
struct Opened {
    runtime: Id,
    channel: Channel,
    /// A task that does nothing, and ends with its runtime.
    canary: JoinHandle<()>,
}

impl Opened {
    fn is_of(&self, runtime: Id) -> bool {
        self.runtime == runtime && !self.canary.is_finished()
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        self.canary.abort();
    }
}

impl Client {
    pub(crate) fn new(connection: Connection, deadline: Option<Duration>, attempts: u32) -> Self {
        let shared = Shared {
            connection,
            attempts,
            closed: CancellationToken::new(),
            channels: Mutex::new(Vec::new()),
        };
        Self {
            shared: Arc::new(shared),
            deadline,
            stream_deadline: None,
        }
    }

    /// Settings of the builder take precedence over the environment.
    pub fn builder() -> ClientBuilder {
        ClientBuilder::new()
    }

    /// Reads the environment (`MEMSIDECAR_ADDRESS`, `MEMSIDECAR_TOKEN` and so on; see [`ClientBuilder`]). Default: the
    /// sidecar at `127.0.0.1:7600`. It connects with its first call.
    ///
    /// # Errors
    ///
    /// If the environment is inconsistent.
    pub fn from_env() -> Result<Self, BuildError> {
        Self::builder().build()
    }

    /// The same client with another deadline, which its streams have, too; for a call that needs one of its own. `None`:
    /// no deadline. With [`Duration::ZERO`] nothing is sent, and the call ends with
    /// [`Error::DeadlineExceeded`].
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
    /// close again has no effect. Dropping the last clone ends the connection.
    pub fn close(&self) {
        self.shared.closed.cancel();
        self.shared.lock().clear();
    }
}

impl Shared {
    /// Returns the channel of the current runtime.
    pub(crate) fn channel(&self) -> Result<Channel, Error> {
        let mut channels = self.lock();
        if self.closed.is_cancelled() {
            return Err(Error::closed());
        }
        let here = Handle::current();
        if let Some(opened) = channels.iter().find(|opened| opened.is_of(here.id())) {
            return Ok(opened.channel.clone());
        }
        channels.retain(|opened| !opened.canary.is_finished());
        let channel = self.connection.channel();
        channels.push(Opened {
            runtime: here.id(),
            channel: channel.clone(),
            canary: here.spawn(pending()),
        });
        Ok(channel)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Opened>> {
        self.channels.lock().unwrap_or_else(PoisonError::into_inner)
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
    use crate::v1::{CountRequest, ExportRequest, GetAllRequest};

    fn goes_between_threads<T: Send>(_: T) {}

    /// The first call connects, so this needs no runtime.
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

    #[tokio::test]
    async fn nothing_is_sent_where_no_time_is_left() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let client = Client::builder().address(listener.local_addr().unwrap().to_string());
        let late = client.build().unwrap().with_deadline(Duration::ZERO);
        let refused = late.count(CountRequest::new("s")).await;
        assert!(matches!(refused, Err(Error::DeadlineExceeded(_))), "{refused:?}");
        let refused = late.export(ExportRequest::default()).try_next().await;
        assert!(matches!(refused, Err(Error::DeadlineExceeded(_))), "{refused:?}");
        let called = tokio::time::timeout(Duration::from_millis(100), listener.accept()).await;
        assert!(called.is_err(), "{called:?}");
    }

    #[test]
    fn a_client_outlives_its_runtimes() {
        let client = Client::builder().address("127.0.0.1:1").attempts(1).build().unwrap();
        for _ in 0..3 {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            for _ in 0..2 {
                let refused = runtime.block_on(client.count(CountRequest::new("s"))).unwrap_err();
                assert!(refused.to_string().starts_with("cannot connect to"), "{refused}");
            }
            assert_eq!(
                client.shared.lock().len(),
                1,
                "one for the runtime of now, none for those that ended"
            );
        }
        client.close();
        assert!(client.shared.lock().is_empty());
    }

    #[test]
    fn runtimes_have_connections_of_their_own() {
        let client = Client::builder().address("127.0.0.1:1").attempts(1).build().unwrap();
        let runtimes = [(); 2].map(|()| tokio::runtime::Runtime::new().unwrap());
        for runtime in runtimes.iter().chain(&runtimes) {
            runtime.block_on(client.count(CountRequest::new("s"))).unwrap_err();
        }
        assert_eq!(client.shared.lock().len(), 2);
    }

    #[test]
    fn a_client_does_not_tell_its_token() {
        let builder = Client::builder().address("localhost:1").token("secret");
        assert!(!format!("{builder:?} {:?}", builder.clone().build().unwrap()).contains("secret"));
    }
}
