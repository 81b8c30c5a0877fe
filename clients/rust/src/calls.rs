//! Calls with deadlines, tokens, retries, pages and streams.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use async_stream::try_stream;
use futures_core::Stream;
use http::uri::PathAndQuery;
use prost::Message;
use tokio::time::{Instant, sleep, sleep_until};
use tokio_stream::StreamExt;
use tonic::client::Grpc;
use tonic::transport::Channel;
use tonic::{Request, Status, Streaming};

use crate::codec::SharedCodec;
use crate::error::OVER;
use crate::health::{self, HealthCheckRequest, HealthCheckResponse};
use crate::replay::Replay;
use crate::retry::Attempts;
use crate::v1::{AddStreamRequest, AddStreamResponse};
use crate::{Client, Error, ResultStream};

/// The sidecar's deadline may end this much before the client's; the call then ends like a broken one.
const CLOCKS_DIFFER: Duration = Duration::from_millis(3);
/// Upper bound of the timeout that is sent: gRPC cannot encode much more.
const MAX_DEADLINE: Duration = Duration::from_secs(10_000 * 24 * 3600);

impl Client {
    /// Returns as soon as the health service reports SERVING.
    ///
    /// # Errors
    ///
    /// [`Error::DeadlineExceeded`] if it does not in time. Errors that waiting does not resolve (an invalid
    /// token, for example) are returned at once.
    pub async fn wait_until_ready(&self, timeout: Duration) -> Result<(), Error> {
        let end = Instant::now().checked_add(timeout);
        let request = Arc::new(HealthCheckRequest {});
        let mut last = "it does not serve yet".to_owned();
        loop {
            match self
                .sent::<_, HealthCheckResponse>(health::CHECK, Arc::clone(&request), end)
                .await
            {
                Ok(answer) if answer.serves() => return Ok(()),
                Ok(_) => {}
                Err(Error::DeadlineExceeded(_)) => return Err(self.not_ready(timeout, &last)),
                Err(error) if health::is_worth_waiting(&error) => last.clone_from(&error.details().message),
                Err(error) => return Err(error),
            }
            self.wait(health::POLL_INTERVAL).await?;
        }
    }

    fn not_ready(&self, timeout: Duration, last: &str) -> Error {
        let address = &self.shared.connection.address;
        Error::deadline_exceeded(format!(
            "the sidecar at {address} was not ready within {timeout:?}: {last}"
        ))
    }

    pub(crate) async fn call<Q, A>(&self, path: &'static str, request: Q) -> Result<A, Error>
    where
        Q: Message + 'static,
        A: Message + Default + 'static,
    {
        let request = Arc::new(request);
        let mut attempts = Attempts::new(path, self.shared.attempts, self.deadline);
        loop {
            match self.sent(path, Arc::clone(&request), attempts.begin()).await {
                Ok(answer) => return Ok(answer),
                Err(error) => self.wait(attempts.wait_after(error)?).await?,
            }
        }
    }

    pub(crate) fn pages<Q, A, T>(
        &self,
        path: &'static str,
        mut request: Q,
        turn: fn(&mut Q, String),
        opened: fn(A) -> (Vec<T>, String),
    ) -> ResultStream<T>
    where
        Q: Message + Clone + 'static,
        A: Message + Default + 'static,
        T: Send + 'static,
    {
        let client = self.clone();
        ResultStream::new(try_stream! {
            loop {
                let (items, next) = opened(client.call(path, request.clone()).await?);
                for item in items {
                    yield item;
                }
                if next.is_empty() {
                    break;
                }
                turn(&mut request, next);
            }
        })
    }

    /// Retries until the first response. After that the caller resumes from the last cursor.
    pub(crate) fn answers<Q, A>(&self, path: &'static str, request: Q) -> ResultStream<A>
    where
        Q: Message + 'static,
        A: Message + Default + 'static,
    {
        let (client, request) = (self.clone(), Arc::new(request));
        ResultStream::new(try_stream! {
            let mut attempts = client.stream_attempts(path);
            let (mut answers, first) = loop {
                let mut answers = client.opened(path, tokio_stream::once(Arc::clone(&request)), attempts.begin());
                match answers.try_next().await {
                    Ok(first) => break (answers, first),
                    Err(error) => client.wait(attempts.wait_after(error)?).await?,
                }
            };
            let mut next = first;
            while let Some(answer) = next {
                yield answer;
                next = answers.try_next().await?;
            }
        })
    }

    /// Resumes an interrupted stream with the unacknowledged messages.
    pub(crate) fn replayed<S>(&self, path: &'static str, requests: S) -> ResultStream<AddStreamResponse>
    where
        S: Stream<Item = AddStreamRequest> + Send + 'static,
    {
        let client = self.clone();
        ResultStream::new(try_stream! {
            let mut attempts = client.stream_attempts(path);
            let mut replay = Replay::new(requests);
            loop {
                let mut answers = client.opened(path, replay.begin(), attempts.begin());
                let failed = loop {
                    match replay.send_until(answers.try_next()).await {
                        Ok(Some(answer)) => {
                            replay.answered();
                            attempts.progressed();
                            yield answer;
                        }
                        Ok(None) if replay.is_done() => return,
                        Ok(None) => break Error::ended_early(),
                        Err(error) => break error,
                    }
                };
                client.wait(attempts.wait_after(failed)?).await?;
            }
        })
    }

    /// Sends the stream once: only the caller can resume it.
    pub(crate) fn exchanged<Q, A, S>(&self, path: &'static str, requests: S) -> ResultStream<A>
    where
        Q: Message + 'static,
        A: Message + Default + 'static,
        S: Stream<Item = Q> + Send + 'static,
    {
        let client = self.clone();
        ResultStream::new(try_stream! {
            let end = client.stream_attempts(path).begin();
            let mut answers = client.opened(path, requests.map(Arc::new), end);
            while let Some(answer) = answers.try_next().await? {
                yield answer;
            }
        })
    }

    fn stream_attempts(&self, path: &'static str) -> Attempts {
        Attempts::new(path, self.shared.attempts, self.stream_deadline)
    }

    /// Makes one attempt of a stream.
    fn opened<Q, A, S>(&self, path: &'static str, requests: S, end: Option<Instant>) -> ResultStream<A>
    where
        Q: Message + 'static,
        A: Message + Default + 'static,
        S: Stream<Item = Arc<Q>> + Send + 'static,
    {
        let client = self.clone();
        ResultStream::new(try_stream! {
            let mut grpc = client.grpc(end)?;
            let request = client.request(requests, end);
            let opening = async {
                ready(&mut grpc).await?;
                grpc.streaming(request, PathAndQuery::from_static(path), SharedCodec::new()).await
            };
            let mut answers: Streaming<A> = client.bounded(end, opening).await?.into_inner();
            client.shared.connection.note_answer();
            while let Some(answer) = client.bounded(end, answers.message()).await? {
                yield answer;
            }
        })
    }

    /// Make one attempt and convert gRPC's errors.
    async fn sent<Q, A>(&self, path: &'static str, request: Arc<Q>, end: Option<Instant>) -> Result<A, Error>
    where
        Q: Message + 'static,
        A: Message + Default + 'static,
    {
        let mut grpc = self.grpc(end)?;
        let request = self.request(request, end);
        let answering = async {
            ready(&mut grpc).await?;
            grpc.unary(request, PathAndQuery::from_static(path), SharedCodec::new())
                .await
        };
        let answer = self.bounded(end, answering).await?;
        self.shared.connection.note_answer();
        Ok(answer.into_inner())
    }

    /// Returns an error if the deadline has passed; nothing is sent then.
    fn grpc(&self, end: Option<Instant>) -> Result<Grpc<Channel>, Error> {
        if end.is_some_and(|end| end <= Instant::now()) {
            return Err(Error::deadline_exceeded(OVER));
        }
        Ok(Grpc::new(self.shared.channel()?))
    }

    /// Builds a request with its metadata and timeout.
    fn request<T>(&self, content: T, end: Option<Instant>) -> Request<T> {
        let mut request = Request::new(content);
        if let Some(end) = end {
            request.set_timeout(end.saturating_duration_since(Instant::now()).min(MAX_DEADLINE));
        }
        if let Some(token) = self.shared.connection.token.header() {
            request.metadata_mut().insert("authorization", token);
        }
        request
    }

    async fn wait(&self, duration: Duration) -> Result<(), Error> {
        let slept = async {
            sleep(duration).await;
            Ok(())
        };
        self.bounded(None, slept).await
    }

    /// Waits until the work is done, the deadline has passed, or the client is closed.
    async fn bounded<T>(
        &self,
        end: Option<Instant>,
        work: impl Future<Output = Result<T, Status>>,
    ) -> Result<T, Error> {
        tokio::select! {
            biased;
            done = work => done.map_err(|status| self.failure(&status, end)),
            () = over(end) => Err(Error::deadline_exceeded(OVER)),
            () = self.shared.closed.cancelled() => Err(Error::closed()),
        }
    }

    fn failure(&self, status: &Status, end: Option<Instant>) -> Error {
        if self.shared.closed.is_cancelled() {
            return Error::closed();
        }
        let error = Error::from_status(status, &self.shared.connection);
        let is_over = end.is_some_and(|end| Instant::now() + CLOCKS_DIFFER >= end);
        if is_over && matches!(error, Error::Cancelled(_) | Error::Unreachable(_)) {
            return Error::deadline_exceeded(OVER);
        }
        error
    }
}

async fn ready(grpc: &mut Grpc<Channel>) -> Result<(), Status> {
    grpc.ready().await.map_err(|error| Status::from_error(error.into()))
}

async fn over(end: Option<Instant>) {
    match end {
        Some(end) => sleep_until(end).await,
        None => pending().await,
    }
}
