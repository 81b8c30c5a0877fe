//! What comes one after the other.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;

use crate::Error;

/// Responses of a streaming call, or the items of all pages of a paged one.
///
/// Nothing is requested before it is read, and dropping it ends the call. An error ends it.
///
/// ```no_run
/// # use memsidecar_client::{Client, Error, v1::GetAllRequest};
/// # async fn example(memory: Client) -> Result<(), Error> {
/// let mut messages = memory.messages(GetAllRequest::new("s1"));
/// while let Some(message) = messages.try_next().await? {
///     println!("{} {}", message.sequence, message.content);
/// }
/// # Ok(())
/// # }
/// ```
///
/// It is also a [`Stream`] of results.
#[must_use = "nothing is asked for before it is read"]
pub struct ResultStream<T> {
    inner: Pin<Box<dyn Stream<Item = Result<T, Error>> + Send>>,
}

impl<T> ResultStream<T> {
    pub(crate) fn new(inner: impl Stream<Item = Result<T, Error>> + Send + 'static) -> Self {
        Self { inner: Box::pin(inner) }
    }

    /// Returns the next item; `None` at the end. Dropping the future before it is ready loses nothing.
    ///
    /// # Errors
    ///
    /// The error that ended the call.
    pub async fn try_next(&mut self) -> Result<Option<T>, Error> {
        poll_fn(|context| self.inner.as_mut().poll_next(context))
            .await
            .transpose()
    }
}

impl<T> Stream for ResultStream<T> {
    type Item = Result<T, Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.inner.as_mut().poll_next(context)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.inner.size_hint()
    }
}

impl<T> fmt::Debug for ResultStream<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ResultStream").finish_non_exhaustive()
    }
}
