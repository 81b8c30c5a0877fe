//! A buffer of the unacknowledged requests of a stream, to resume an interrupted stream.

use std::collections::VecDeque;
use std::future::pending;
use std::pin::{Pin, pin};
use std::sync::Arc;

use futures_core::Stream;
use tokio::sync::mpsc::{self, Sender};
use tokio_stream::StreamExt;
use tokio_stream::wrappers::ReceiverStream;

use crate::v1::AddStreamRequest;

/// Requests that are taken ahead of those which the connection accepts.
const AHEAD: usize = 16;

/// Requests from when they are taken until they are acknowledged, which happens in order. They are taken and sent
/// only while a caller waits for a response, by that caller.
pub(crate) struct Replay<S> {
    source: Pin<Box<S>>,
    ended: bool,
    unanswered: VecDeque<Arc<AddStreamRequest>>,
    /// How many of them were passed to the current stream.
    sent: usize,
    stream: Option<Sender<Arc<AddStreamRequest>>>,
}

impl<S: Stream<Item = AddStreamRequest>> Replay<S> {
    pub(crate) fn new(source: S) -> Self {
        Self {
            source: Box::pin(source),
            ended: false,
            unanswered: VecDeque::new(),
            sent: 0,
            stream: None,
        }
    }

    /// Returns the requests of a new stream: from the oldest unacknowledged one to the end of the source.
    pub(crate) fn begin(&mut self) -> ReceiverStream<Arc<AddStreamRequest>> {
        let (stream, requests) = mpsc::channel(AHEAD);
        self.stream = Some(stream);
        self.sent = 0;
        ReceiverStream::new(requests)
    }

    pub(crate) fn answered(&mut self) {
        self.unanswered.pop_front();
        self.sent = self.sent.saturating_sub(1);
    }

    pub(crate) fn is_done(&self) -> bool {
        self.ended && self.unanswered.is_empty()
    }

    /// Sends requests until there is a response.
    pub(crate) async fn send_until<T>(&mut self, answer: impl Future<Output = T>) -> T {
        let mut answer = pin!(answer);
        loop {
            tokio::select! {
                biased;
                found = &mut answer => return found,
                () = self.send_one() => {}
            }
        }
    }

    /// Safe to cancel: a request is buffered as soon as it is taken from the source.
    async fn send_one(&mut self) {
        let Some(stream) = &self.stream else {
            return pending().await;
        };
        let Ok(place) = stream.reserve().await else {
            // The stream broke; the waiting caller gets the error.
            return pending().await;
        };
        if self.sent == self.unanswered.len() && !self.ended {
            match self.source.next().await {
                Some(mut request) => {
                    request.identify();
                    self.unanswered.push_back(Arc::new(request));
                }
                None => self.ended = true,
            }
        }
        if let Some(request) = self.unanswered.get(self.sent) {
            place.send(Arc::clone(request));
            self.sent += 1;
        } else {
            drop(place);
            self.stream = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::ready;
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;
    use crate::v1::Message;

    type Sent = ReceiverStream<Arc<AddStreamRequest>>;

    fn said(content: &str) -> AddStreamRequest {
        AddStreamRequest::new("s", Message::user(content))
    }

    /// Returns the requests that are sent without a response. Paused time advances when all tasks are idle.
    async fn sent<S: Stream<Item = AddStreamRequest>>(replay: &mut Replay<S>, stream: &mut Sent) -> Vec<Message> {
        let silence = timeout(Duration::from_millis(20), pending::<()>());
        assert!(replay.send_until(silence).await.is_err());
        let mut found = Vec::new();
        while let Ok(Some(request)) = timeout(Duration::ZERO, stream.next()).await {
            found.extend(request.message.clone());
        }
        found
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_not_answered_is_sent_again_as_it_was() {
        let mut replay = Replay::new(tokio_stream::iter(["one", "two", "three"].map(said)));
        let mut stream = replay.begin();
        let first = sent(&mut replay, &mut stream).await;
        assert_eq!(first.len(), 3);
        assert!(first.iter().all(|message| !message.id.is_empty()));
        replay.answered();
        let mut stream = replay.begin();
        let again = sent(&mut replay, &mut stream).await;
        assert_eq!(again, first[1..], "with the same ids, and without what was answered");
        replay.answered();
        assert!(!replay.is_done());
        replay.answered();
        assert!(replay.is_done());
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_may_wait_for_the_answer_before_it() {
        let (source, requests) = mpsc::channel(1);
        let mut replay = Replay::new(ReceiverStream::new(requests));
        let mut stream = replay.begin();
        for content in ["one", "two"] {
            source.send(said(content)).await.unwrap();
            let found = sent(&mut replay, &mut stream).await;
            assert_eq!(
                found.len(),
                1,
                "an answer that comes while the source is waited for loses nothing"
            );
            assert_eq!(found[0].content, content);
            replay.answered();
        }
        drop(source);
        assert!(sent(&mut replay, &mut stream).await.is_empty());
        assert!(stream.next().await.is_none(), "the end of the source ends the stream");
        assert!(replay.is_done());
    }

    #[tokio::test]
    async fn nothing_is_taken_where_the_answer_is_there_already() {
        let mut replay = Replay::new(tokio_stream::iter([said("one")]));
        let _stream = replay.begin();
        replay.send_until(ready(())).await;
        assert!(replay.unanswered.is_empty());
    }
}
