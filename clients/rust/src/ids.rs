//! Ids that the client generates, so that a retried write is stored once.

use uuid::Uuid;

use crate::v1::{AddBatchRequest, AddRequest, AddStreamRequest, Message, PutArtifactRequest, StoreInteractionRequest};

/// A UUID of version 7: the time in milliseconds, a counter, then random bits. The ids of a process sort by their time of
/// creation.
///
/// The client generates an id if a write has none. Generate it yourself to find out whether a timed-out write was
/// stored: sent again with the same id, it is answered as a duplicate if it was.
#[must_use]
pub fn new_id() -> String {
    Uuid::now_v7().to_string()
}

fn identify(id: &mut String) {
    if id.is_empty() {
        *id = new_id();
    }
}

/// The sidecar rejects a request without a message, with a better error than the client's.
fn identify_message(message: &mut Option<Message>) {
    if let Some(message) = message {
        identify(&mut message.id);
    }
}

impl AddRequest {
    pub(crate) fn identify(&mut self) {
        identify_message(&mut self.message);
    }
}

impl AddStreamRequest {
    pub(crate) fn identify(&mut self) {
        identify_message(&mut self.message);
    }
}

impl AddBatchRequest {
    pub(crate) fn identify(&mut self) {
        for message in &mut self.messages {
            identify(&mut message.id);
        }
    }
}

impl StoreInteractionRequest {
    pub(crate) fn identify(&mut self) {
        identify(&mut self.interaction_id);
    }
}

impl PutArtifactRequest {
    /// Add an id, except for an offloaded message, whose artifact id the server derives.
    pub(crate) fn identify(&mut self) {
        if let (true, Some(artifact)) = (self.offload_message_id.is_empty(), &mut self.artifact) {
            identify(&mut artifact.id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_of_version_7_and_sort_by_when_they_were_made() {
        // One thread after the other: all ids of a process share one counter.
        let made = || (0..20_000).map(|_| new_id()).collect::<Vec<String>>();
        let mut ids = made();
        ids.extend(std::thread::spawn(made).join().unwrap());
        assert!(ids.is_sorted_by(|one, next| one < next));
        assert!(ids.iter().all(|id| Uuid::parse_str(id).unwrap().get_version_num() == 7));
    }
}
