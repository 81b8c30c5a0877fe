// Made by ./generate.sh out of the contract; do not edit.

use super::messages::*;
use prost_types::{Struct, Timestamp, Value};

impl AddBatchRequest {
    /// With what is required; the rest is the server's default.
    #[must_use]
    pub fn new(session_id: impl Into<String>, messages: impl IntoIterator<Item = Message>) -> Self {
        Self::default().with_session_id(session_id).with_messages(messages)
    }

    /// Sets `namespace`.
    ///
    /// Empty means "default".
    #[must_use]
    pub fn with_namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = namespace.into();
        self
    }

    /// Sets `user_id`.
    ///
    /// Optional, as in AddRequest.
    #[must_use]
    pub fn with_user_id(mut self, user_id: impl Into<String>) -> Self {
        self.user_id = user_id.into();
        self
    }

    /// Sets `session_id`.
    ///
    /// Required.
    #[must_use]
    pub fn with_session_id(mut self, session_id: impl Into<String>) -> Self {
        self.session_id = session_id.into();
        self
    }

    /// Sets `messages`.
    ///
    /// In the order in which they were said; 1 to 10,000, and at most 4 MiB together. Known ones are reported as
    /// duplicates, the others appended; one conflict or one invalid message refuses the batch.
    #[must_use]
    pub fn with_messages(mut self, messages: impl IntoIterator<Item = Message>) -> Self {
        self.messages = messages.into_iter().collect();
        self
    }

    /// Sets `expected_sequence`.
    ///
    /// As in AddRequest; compared once, before the first message that is new.
    #[must_use]
    pub fn with_expected_sequence(mut self, expected_sequence: i64) -> Self {
        self.expected_sequence = Some(expected_sequence);
        self
    }
}

impl AddRequest {
    /// With what is required; the rest is the server's default.
    #[must_use]
    pub fn new(session_id: impl Into<String>, message: Message) -> Self {
        Self::default().with_session_id(session_id).with_message(message)
    }

    /// Sets `namespace`.
    ///
    /// Empty means "default".
    #[must_use]
    pub fn with_namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = namespace.into();
        self
    }

    /// Sets `user_id`.
    ///
    /// Optional. The first request that names a user makes the session theirs; a later one that names another is
    /// refused.
    #[must_use]
    pub fn with_user_id(mut self, user_id: impl Into<String>) -> Self {
        self.user_id = user_id.into();
        self
    }

    /// Sets `session_id`.
    ///
    /// Required. The session comes into being with its first message.
    #[must_use]
    pub fn with_session_id(mut self, session_id: impl Into<String>) -> Self {
        self.session_id = session_id.into();
        self
    }

    /// Sets `message`.
    ///
    /// Required. With an id of the caller's own, the request is safe to retry.
    #[must_use]
    pub fn with_message(mut self, message: Message) -> Self {
        self.message = Some(message);
        self
    }

    /// Sets `expected_sequence`.
    ///
    /// The session's last sequence as the caller knows it, 0 for a new session. Checked after the duplicate
    /// check; a mismatch is ABORTED. Absent: not checked.
    #[must_use]
    pub fn with_expected_sequence(mut self, expected_sequence: i64) -> Self {
        self.expected_sequence = Some(expected_sequence);
        self
    }

    /// Sets `return_session`.
    ///
    /// Answer with `session`, too.
    #[must_use]
    pub fn with_return_session(mut self, return_session: bool) -> Self {
        self.return_session = return_session;
        self
    }
}

impl AddStreamRequest {
    /// With what is required; the rest is the server's default.
    #[must_use]
    pub fn new(session_id: impl Into<String>, message: Message) -> Self {
        Self::default().with_session_id(session_id).with_message(message)
    }

    /// Sets `namespace`.
    ///
    /// Empty means "default".
    #[must_use]
    pub fn with_namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = namespace.into();
        self
    }

    /// Sets `user_id`.
    ///
    /// Optional, as in AddRequest.
    #[must_use]
    pub fn with_user_id(mut self, user_id: impl Into<String>) -> Self {
        self.user_id = user_id.into();
        self
    }

    /// Sets `session_id`.
    ///
    /// Required.
    #[must_use]
    pub fn with_session_id(mut self, session_id: impl Into<String>) -> Self {
        self.session_id = session_id.into();
        self
    }

    /// Sets `message`.
    ///
    /// Required. Give ids, so that an interrupted stream can be sent again.
    #[must_use]
    pub fn with_message(mut self, message: Message) -> Self {
        self.message = Some(message);
        self
    }
}

impl AnnotateRequest {
    /// With what is required; the rest is the server's default.
    #[must_use]
    pub fn new(session_id: impl Into<String>, message_id: impl Into<String>) -> Self {
        Self::default().with_session_id(session_id).with_message_id(message_id)
    }

    /// Sets `namespace`.
    ///
    /// Empty means "default".
    #[must_use]
    pub fn with_namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = namespace.into();
        self
    }

    /// Sets `user_id`.
    ///
    /// Optional; a user other than the session's is refused.
    #[must_use]
    pub fn with_user_id(mut self, user_id: impl Into<String>) -> Self {
        self.user_id = user_id.into();
        self
    }

    /// Sets `session_id`.
    ///
    /// Required.
    #[must_use]
    pub fn with_session_id(mut self, session_id: impl Into<String>) -> Self {
        self.session_id = session_id.into();
        self
    }

    /// Sets `message_id`.
    ///
    /// Required. Pruned messages can be annotated, too.
    #[must_use]
    pub fn with_message_id(mut self, message_id: impl Into<String>) -> Self {
        self.message_id = message_id.into();
        self
    }

    /// Sets `evaluation_score`.
    ///
    /// 0 to 10. Absent: left as it is.
    #[must_use]
    pub fn with_evaluation_score(mut self, evaluation_score: f64) -> Self {
        self.evaluation_score = Some(evaluation_score);
        self
    }

    /// Sets `metadata`.
    ///
    /// Merged into the message's metadata; a null value removes its key. The result may have at most 16 KiB.
    #[must_use]
    pub fn with_metadata(mut self, metadata: impl IntoIterator<Item = (impl Into<String>, impl Into<Value>)>) -> Self {
        self.metadata = Some(Struct {
            fields: metadata
                .into_iter()
                .map(|(key, value)| (key.into(), value.into()))
                .collect(),
        });
        self
    }
}

impl ArchiveRecord {
    /// Sets `user_id`.
    ///
    /// Empty for what belongs to the namespace.
    #[must_use]
    pub fn with_user_id(mut self, user_id: impl Into<String>) -> Self {
        self.user_id = user_id.into();
        self
    }

    /// Sets `session_id`.
    ///
    /// Empty for what belongs to the user or to the namespace.
    #[must_use]
    pub fn with_session_id(mut self, session_id: impl Into<String>) -> Self {
        self.session_id = session_id.into();
        self
    }

    /// Sets `message`.
    ///
    /// A message, at its place in the session.
    #[must_use]
    pub fn with_message(mut self, message: Message) -> Self {
        self.record = Some(archive_record::Record::Message(message));
        self
    }

    /// Sets `fact`.
    ///
    /// A fact, current or superseded.
    #[must_use]
    pub fn with_fact(mut self, fact: Fact) -> Self {
        self.record = Some(archive_record::Record::Fact(fact));
        self
    }

    /// Sets `summary`.
    ///
    /// A rolling summary.
    #[must_use]
    pub fn with_summary(mut self, summary: Summary) -> Self {
        self.record = Some(archive_record::Record::Summary(summary));
        self
    }

    /// Sets `artifact`.
    ///
    /// A tool artifact.
    #[must_use]
    pub fn with_artifact(mut self, artifact: Artifact) -> Self {
        self.record = Some(archive_record::Record::Artifact(artifact));
        self
    }

    /// Sets `document`.
    ///
    /// A document with its text; its chunks are made anew on import.
    #[must_use]
    pub fn with_document(mut self, document: Document) -> Self {
        self.record = Some(archive_record::Record::Document(document));
        self
    }

    /// Sets `policy`.
    ///
    /// The policy of the session, or without session_id of the namespace.
    #[must_use]
    pub fn with_policy(mut self, policy: SessionPolicy) -> Self {
        self.record = Some(archive_record::Record::Policy(policy));
        self
    }

    /// Sets `pruned`.
    ///
    /// The message is out of the window.
    #[must_use]
    pub fn with_pruned(mut self, pruned: bool) -> Self {
        self.pruned = pruned;
        self
    }
}

impl Artifact {
    /// With what is required; the rest is the server's default.
    #[must_use]
    pub fn new(content: impl Into<String>) -> Self {
        Self::default().with_content(content)
    }

    /// Sets `id`.
    ///
    /// Unique in its session. Empty in a request: made by the server; of an offloaded message always the same.
    /// Given: putting it again replaces it.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<String>) -> Self {
        self.id = id.into();
        self
    }

    /// Sets `source`.
    ///
    /// Where it came from: a tool's name, a URL. At most 1,024 bytes. Of an offloaded message, its name if empty.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<String>) -> Self {
        self.source = source.into();
        self
    }

    /// Sets `content`.
    ///
    /// The text, at most 1 MiB (setting max_message_bytes). Required, unless a message is offloaded: then it must
    /// be empty, and becomes the message's whole content.
    #[must_use]
    pub fn with_content(mut self, content: impl Into<String>) -> Self {
        self.content = content.into();
        self
    }

    /// Sets `create_time`.
    ///
    /// Set by the server when absent. As long as the content stays the same, so does this.
    #[must_use]
    pub fn with_create_time(mut self, create_time: impl Into<Timestamp>) -> Self {
        self.create_time = Some(create_time.into());
        self
    }

    /// Sets `expire_time`.
    ///
    /// After this it is neither listed nor put into a context. Must be after create_time. Absent: never.
    #[must_use]
    pub fn with_expire_time(mut self, expire_time: impl Into<Timestamp>) -> Self {
        self.expire_time = Some(expire_time.into());
        self
    }

    /// Sets `metadata`.
    ///
    /// Tags: at most 16 KiB, 8 levels deep.
    #[must_use]
    pub fn with_metadata(mut self, metadata: impl IntoIterator<Item = (impl Into<String>, impl Into<Value>)>) -> Self {
        self.metadata = Some(Struct {
            fields: metadata
                .into_iter()
                .map(|(key, value)| (key.into(), value.into()))
                .collect(),
        });
        self
    }
}

impl BuildContextRequest {
    /// With what is required; the rest is the server's default.
    #[must_use]
    pub fn new(session_id: impl Into<String>) -> Self {
        Self::default().with_session_id(session_id)
    }

    /// Sets `namespace`.
    ///
    /// Empty means "default".
    #[must_use]
    pub fn with_namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = namespace.into();
        self
    }

    /// Sets `user_id`.
    ///
    /// Optional; a user other than the session's is refused.
    #[must_use]
    pub fn with_user_id(mut self, user_id: impl Into<String>) -> Self {
        self.user_id = user_id.into();
        self
    }

    /// Sets `session_id`.
    ///
    /// Required. An unknown session gives a context from the rest.
    #[must_use]
    pub fn with_session_id(mut self, session_id: impl Into<String>) -> Self {
        self.session_id = session_id.into();
        self
    }

    /// Sets `query`.
    ///
    /// What to retrieve for; empty: the newest user message.
    #[must_use]
    pub fn with_query(mut self, query: impl Into<String>) -> Self {
        self.query = query.into();
        self
    }

    /// Sets `model`.
    ///
    /// Chooses tokenizer, calibration and default budget. Optional; an unknown one is counted by an estimate.
    #[must_use]
    pub fn with_model(mut self, model: impl Into<String>) -> Self {
        self.model = model.into();
        self
    }

    /// Sets `max_tokens`.
    ///
    /// The hard limit for everything; 0: the model's recommended budget, else 8,000 (setting context_budget). What must
    /// stay (system prompt, chosen facts, the last 2 messages with their exchanges, schemas, reserve, framing) and does
    /// not fit is FAILED_PRECONDITION, reason BUDGET_TOO_SMALL, with required_tokens in the metadata.
    #[must_use]
    pub fn with_max_tokens(mut self, max_tokens: i32) -> Self {
        self.max_tokens = max_tokens;
        self
    }

    /// Sets `system_prompt`.
    ///
    /// Empty: the session's system messages.
    #[must_use]
    pub fn with_system_prompt(mut self, system_prompt: impl Into<String>) -> Self {
        self.system_prompt = system_prompt.into();
        self
    }

    /// Sets `profile`.
    ///
    /// A text about the user, from the caller. Empty: none.
    #[must_use]
    pub fn with_profile(mut self, profile: impl Into<String>) -> Self {
        self.profile = profile.into();
        self
    }

    /// Sets `tool_schemas_json`.
    ///
    /// The schemas of the tools that the model will be offered. Counted as the text that they are, not read as JSON, not
    /// rendered.
    #[must_use]
    pub fn with_tool_schemas_json(mut self, tool_schemas_json: impl Into<String>) -> Self {
        self.tool_schemas_json = tool_schemas_json.into();
        self
    }

    /// Sets `reserve_output_tokens`.
    ///
    /// Tokens kept free for the model's answer, out of max_tokens. 0: none. From 0 on.
    #[must_use]
    pub fn with_reserve_output_tokens(mut self, reserve_output_tokens: i32) -> Self {
        self.reserve_output_tokens = reserve_output_tokens;
        self
    }

    /// Sets `documents`.
    ///
    /// Chunks from the caller, best first, before what is retrieved: they share the documents section. At most 1,000;
    /// empty ones are passed over.
    #[must_use]
    pub fn with_documents(mut self, documents: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.documents = documents.into_iter().map(Into::into).collect();
        self
    }

    /// Sets `sections`.
    ///
    /// What differs from the defaults, each section at most once.
    #[must_use]
    pub fn with_sections(mut self, sections: impl IntoIterator<Item = SectionBudget>) -> Self {
        self.sections = sections.into_iter().collect();
        self
    }

    /// Sets `scope`.
    ///
    /// For what is retrieved of conversations. Unspecified: the user's, where there is one; else the session's. The user's
    /// where neither the request nor the session names one is INVALID_ARGUMENT.
    #[must_use]
    pub fn with_scope(mut self, scope: Scope) -> Self {
        self.scope = scope.into();
        self
    }

    /// Sets `append_query`.
    ///
    /// Render `query`, which is then required, as the last user message.
    #[must_use]
    pub fn with_append_query(mut self, append_query: bool) -> Self {
        self.append_query = append_query;
        self
    }

    /// Sets `debug`.
    ///
    /// List what was considered and left out, too.
    #[must_use]
    pub fn with_debug(mut self, debug: bool) -> Self {
        self.debug = debug;
        self
    }

    /// Sets `query_vector`.
    ///
    /// In place of embedding the query: of the configured dimensions (setting embedder_dimensions), each number finite,
    /// else INVALID_ARGUMENT. Need not have length 1. Empty: the server embeds the query.
    #[must_use]
    pub fn with_query_vector(mut self, query_vector: impl IntoIterator<Item = f32>) -> Self {
        self.query_vector = query_vector.into_iter().collect();
        self
    }

    /// Sets `include_reasoning`.
    ///
    /// Render the assistant's thinking, too.
    #[must_use]
    pub fn with_include_reasoning(mut self, include_reasoning: bool) -> Self {
        self.include_reasoning = include_reasoning;
        self
    }
}

impl ClearRequest {
    /// With what is required; the rest is the server's default.
    #[must_use]
    pub fn new(session_id: impl Into<String>) -> Self {
        Self::default().with_session_id(session_id)
    }

    /// Sets `namespace`.
    ///
    /// Empty means "default".
    #[must_use]
    pub fn with_namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = namespace.into();
        self
    }

    /// Sets `user_id`.
    ///
    /// Optional; a user other than the session's is refused.
    #[must_use]
    pub fn with_user_id(mut self, user_id: impl Into<String>) -> Self {
        self.user_id = user_id.into();
        self
    }

    /// Sets `session_id`.
    ///
    /// Required.
    #[must_use]
    pub fn with_session_id(mut self, session_id: impl Into<String>) -> Self {
        self.session_id = session_id.into();
        self
    }
}

impl CountRequest {
    /// With what is required; the rest is the server's default.
    #[must_use]
    pub fn new(session_id: impl Into<String>) -> Self {
        Self::default().with_session_id(session_id)
    }

    /// Sets `namespace`.
    ///
    /// Empty means "default".
    #[must_use]
    pub fn with_namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = namespace.into();
        self
    }

    /// Sets `user_id`.
    ///
    /// Optional; a user other than the session's is refused.
    #[must_use]
    pub fn with_user_id(mut self, user_id: impl Into<String>) -> Self {
        self.user_id = user_id.into();
        self
    }

    /// Sets `session_id`.
    ///
    /// Required.
    #[must_use]
    pub fn with_session_id(mut self, session_id: impl Into<String>) -> Self {
        self.session_id = session_id.into();
        self
    }

    /// Sets `model`.
    ///
    /// Count by this model's tokenizer instead of the server's default.
    #[must_use]
    pub fn with_model(mut self, model: impl Into<String>) -> Self {
        self.model = model.into();
        self
    }
}

impl DeleteArtifactRequest {
    /// With what is required; the rest is the server's default.
    #[must_use]
    pub fn new(session_id: impl Into<String>, artifact_id: impl Into<String>) -> Self {
        Self::default()
            .with_session_id(session_id)
            .with_artifact_id(artifact_id)
    }

    /// Sets `namespace`.
    ///
    /// Empty means "default".
    #[must_use]
    pub fn with_namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = namespace.into();
        self
    }

    /// Sets `user_id`.
    ///
    /// Optional; a user other than the session's is refused.
    #[must_use]
    pub fn with_user_id(mut self, user_id: impl Into<String>) -> Self {
        self.user_id = user_id.into();
        self
    }

    /// Sets `session_id`.
    ///
    /// Required.
    #[must_use]
    pub fn with_session_id(mut self, session_id: impl Into<String>) -> Self {
        self.session_id = session_id.into();
        self
    }

    /// Sets `artifact_id`.
    ///
    /// Required.
    #[must_use]
    pub fn with_artifact_id(mut self, artifact_id: impl Into<String>) -> Self {
        self.artifact_id = artifact_id.into();
        self
    }
}

impl DeleteDocumentRequest {
    /// With what is required; the rest is the server's default.
    #[must_use]
    pub fn new(document_id: impl Into<String>) -> Self {
        Self::default().with_document_id(document_id)
    }

    /// Sets `namespace`.
    ///
    /// Empty means "default".
    #[must_use]
    pub fn with_namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = namespace.into();
        self
    }

    /// Sets `user_id`.
    ///
    /// Without a session: the user that it was put for. With one: a user other than the session's is refused.
    #[must_use]
    pub fn with_user_id(mut self, user_id: impl Into<String>) -> Self {
        self.user_id = user_id.into();
        self
    }

    /// Sets `session_id`.
    ///
    /// The session that it was put for. With neither: it was put for the namespace.
    #[must_use]
    pub fn with_session_id(mut self, session_id: impl Into<String>) -> Self {
        self.session_id = session_id.into();
        self
    }

    /// Sets `document_id`.
    ///
    /// Required.
    #[must_use]
    pub fn with_document_id(mut self, document_id: impl Into<String>) -> Self {
        self.document_id = document_id.into();
        self
    }
}

impl DeleteFactRequest {
    /// With what is required; the rest is the server's default.
    #[must_use]
    pub fn new(fact_id: impl Into<String>) -> Self {
        Self::default().with_fact_id(fact_id)
    }

    /// Sets `namespace`.
    ///
    /// Empty means "default".
    #[must_use]
    pub fn with_namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = namespace.into();
        self
    }

    /// Sets `user_id`.
    ///
    /// Whose fact. Optional where session_id is given: the session's user then.
    #[must_use]
    pub fn with_user_id(mut self, user_id: impl Into<String>) -> Self {
        self.user_id = user_id.into();
        self
    }

    /// Sets `session_id`.
    ///
    /// For a session without a user, whose fact.
    #[must_use]
    pub fn with_session_id(mut self, session_id: impl Into<String>) -> Self {
        self.session_id = session_id.into();
        self
    }

    /// Sets `fact_id`.
    ///
    /// Required.
    #[must_use]
    pub fn with_fact_id(mut self, fact_id: impl Into<String>) -> Self {
        self.fact_id = fact_id.into();
        self
    }
}

impl DeleteSessionRequest {
    /// With what is required; the rest is the server's default.
    #[must_use]
    pub fn new(session_id: impl Into<String>) -> Self {
        Self::default().with_session_id(session_id)
    }

    /// Sets `namespace`.
    ///
    /// Empty means "default".
    #[must_use]
    pub fn with_namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = namespace.into();
        self
    }

    /// Sets `user_id`.
    ///
    /// Optional; a user other than the session's is refused.
    #[must_use]
    pub fn with_user_id(mut self, user_id: impl Into<String>) -> Self {
        self.user_id = user_id.into();
        self
    }

    /// Sets `session_id`.
    ///
    /// Required.
    #[must_use]
    pub fn with_session_id(mut self, session_id: impl Into<String>) -> Self {
        self.session_id = session_id.into();
        self
    }

    /// Sets `dry_run`.
    ///
    /// Answer what would be erased, change nothing.
    #[must_use]
    pub fn with_dry_run(mut self, dry_run: bool) -> Self {
        self.dry_run = dry_run;
        self
    }
}

impl Document {
    /// With what is required; the rest is the server's default.
    #[must_use]
    pub fn new(id: impl Into<String>, text: impl Into<String>) -> Self {
        Self::default().with_id(id).with_text(text)
    }

    /// Sets `id`.
    ///
    /// Required, 1 to 256 bytes without control characters. Chosen by the caller; putting it again replaces it.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<String>) -> Self {
        self.id = id.into();
        self
    }

    /// Sets `title`.
    ///
    /// For people; not required, not searched. At most 1,024 bytes.
    #[must_use]
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }

    /// Sets `text`.
    ///
    /// Input only. Required, not only white space, at most 3 MiB (setting max_document_bytes).
    #[must_use]
    pub fn with_text(mut self, text: impl Into<String>) -> Self {
        self.text = text.into();
        self
    }

    /// Sets `source`.
    ///
    /// Where it came from: a file name, a URL. At most 1,024 bytes.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<String>) -> Self {
        self.source = source.into();
        self
    }

    /// Sets `metadata`.
    ///
    /// Tags: at most 16 KiB, 8 levels deep.
    #[must_use]
    pub fn with_metadata(mut self, metadata: impl IntoIterator<Item = (impl Into<String>, impl Into<Value>)>) -> Self {
        self.metadata = Some(Struct {
            fields: metadata
                .into_iter()
                .map(|(key, value)| (key.into(), value.into()))
                .collect(),
        });
        self
    }

    /// Sets `create_time`.
    ///
    /// When it was written, or put. Set by the server when absent. As long as the text stays the same, so does
    /// this.
    #[must_use]
    pub fn with_create_time(mut self, create_time: impl Into<Timestamp>) -> Self {
        self.create_time = Some(create_time.into());
        self
    }
}

impl ExportRequest {
    /// Sets `namespace`.
    ///
    /// Empty means "default".
    #[must_use]
    pub fn with_namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = namespace.into();
        self
    }

    /// Sets `user_id`.
    ///
    /// Empty: all.
    #[must_use]
    pub fn with_user_id(mut self, user_id: impl Into<String>) -> Self {
        self.user_id = user_id.into();
        self
    }

    /// Sets `session_id`.
    ///
    /// Empty: all sessions of the user or of the namespace.
    #[must_use]
    pub fn with_session_id(mut self, session_id: impl Into<String>) -> Self {
        self.session_id = session_id.into();
        self
    }

    /// Sets `cursor`.
    ///
    /// Go on after this cursor. Empty: from the beginning. Opaque, bound to the request's other fields.
    #[must_use]
    pub fn with_cursor(mut self, cursor: impl Into<String>) -> Self {
        self.cursor = cursor.into();
        self
    }
}

impl Fact {
    /// With what is required; the rest is the server's default.
    #[must_use]
    pub fn new(r#type: FactType, key: impl Into<String>, value: impl Into<String>) -> Self {
        Self::default().with_type(r#type).with_key(key).with_value(value)
    }

    /// Sets `type`.
    ///
    /// Required.
    #[must_use]
    pub fn with_type(mut self, r#type: FactType) -> Self {
        self.r#type = r#type.into();
        self
    }

    /// Sets `key`.
    ///
    /// For example "name", "company", "likes". A key holds one current value, unless the fact's type is a list
    /// by nature (interests, action items, questions). Required, 1 to 256 bytes without control characters.
    #[must_use]
    pub fn with_key(mut self, key: impl Into<String>) -> Self {
        self.key = key.into();
        self
    }

    /// Sets `value`.
    ///
    /// What is known. Required, not only white space, at most 16 KiB.
    #[must_use]
    pub fn with_value(mut self, value: impl Into<String>) -> Self {
        self.value = value.into();
        self
    }

    /// Sets `confidence`.
    ///
    /// 0 to 1. 0 in PutFacts means that nothing is said about it, and is taken as 1.
    #[must_use]
    pub fn with_confidence(mut self, confidence: f64) -> Self {
        self.confidence = confidence;
        self
    }

    /// Sets `valid_from`.
    ///
    /// Since when it holds. Absent in PutFacts: since it was first seen.
    #[must_use]
    pub fn with_valid_from(mut self, valid_from: impl Into<Timestamp>) -> Self {
        self.valid_from = Some(valid_from.into());
        self
    }

    /// Sets `extracted_at`.
    ///
    /// When it was first seen. Absent in PutFacts: now, or last_updated if that is earlier.
    #[must_use]
    pub fn with_extracted_at(mut self, extracted_at: impl Into<Timestamp>) -> Self {
        self.extracted_at = Some(extracted_at.into());
        self
    }

    /// Sets `last_updated`.
    ///
    /// When it was last seen. Absent in PutFacts: now.
    #[must_use]
    pub fn with_last_updated(mut self, last_updated: impl Into<Timestamp>) -> Self {
        self.last_updated = Some(last_updated.into());
        self
    }

    /// Sets `session_id`.
    ///
    /// The session that it first came from. Absent in PutFacts: the request's.
    #[must_use]
    pub fn with_session_id(mut self, session_id: impl Into<String>) -> Self {
        self.session_id = session_id.into();
        self
    }

    /// Sets `source_message_ids`.
    ///
    /// The messages that it first came from, in that session; at most 100. When all of them are erased, so is the
    /// fact: with DeleteSession, while Clear leaves it. Seen in another session since, it goes with that one; told
    /// by a caller without messages, with none.
    #[must_use]
    pub fn with_source_message_ids(mut self, source_message_ids: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.source_message_ids = source_message_ids.into_iter().map(Into::into).collect();
        self
    }

    /// Sets `pinned`.
    ///
    /// Always in the context, before the others.
    #[must_use]
    pub fn with_pinned(mut self, pinned: bool) -> Self {
        self.pinned = pinned;
        self
    }
}

impl ForgetMessageRequest {
    /// With what is required; the rest is the server's default.
    #[must_use]
    pub fn new(session_id: impl Into<String>, message_id: impl Into<String>) -> Self {
        Self::default().with_session_id(session_id).with_message_id(message_id)
    }

    /// Sets `namespace`.
    ///
    /// Empty means "default".
    #[must_use]
    pub fn with_namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = namespace.into();
        self
    }

    /// Sets `user_id`.
    ///
    /// Optional; a user other than the session's is refused.
    #[must_use]
    pub fn with_user_id(mut self, user_id: impl Into<String>) -> Self {
        self.user_id = user_id.into();
        self
    }

    /// Sets `session_id`.
    ///
    /// Required.
    #[must_use]
    pub fn with_session_id(mut self, session_id: impl Into<String>) -> Self {
        self.session_id = session_id.into();
        self
    }

    /// Sets `message_id`.
    ///
    /// Required.
    #[must_use]
    pub fn with_message_id(mut self, message_id: impl Into<String>) -> Self {
        self.message_id = message_id.into();
        self
    }

    /// Sets `dry_run`.
    ///
    /// Answer what would be erased, change nothing.
    #[must_use]
    pub fn with_dry_run(mut self, dry_run: bool) -> Self {
        self.dry_run = dry_run;
        self
    }
}

impl ForgetUserRequest {
    /// With what is required; the rest is the server's default.
    #[must_use]
    pub fn new(user_id: impl Into<String>) -> Self {
        Self::default().with_user_id(user_id)
    }

    /// Sets `namespace`.
    ///
    /// Empty means "default".
    #[must_use]
    pub fn with_namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = namespace.into();
        self
    }

    /// Sets `user_id`.
    ///
    /// Required.
    #[must_use]
    pub fn with_user_id(mut self, user_id: impl Into<String>) -> Self {
        self.user_id = user_id.into();
        self
    }

    /// Sets `dry_run`.
    ///
    /// Answer what would be erased, change nothing.
    #[must_use]
    pub fn with_dry_run(mut self, dry_run: bool) -> Self {
        self.dry_run = dry_run;
        self
    }
}

impl GetAllRequest {
    /// With what is required; the rest is the server's default.
    #[must_use]
    pub fn new(session_id: impl Into<String>) -> Self {
        Self::default().with_session_id(session_id)
    }

    /// Sets `namespace`.
    ///
    /// Empty means "default".
    #[must_use]
    pub fn with_namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = namespace.into();
        self
    }

    /// Sets `user_id`.
    ///
    /// Optional; a user other than the session's is refused.
    #[must_use]
    pub fn with_user_id(mut self, user_id: impl Into<String>) -> Self {
        self.user_id = user_id.into();
        self
    }

    /// Sets `session_id`.
    ///
    /// Required.
    #[must_use]
    pub fn with_session_id(mut self, session_id: impl Into<String>) -> Self {
        self.session_id = session_id.into();
        self
    }

    /// Sets `page_size`.
    ///
    /// 0: 100. More than 1,000 is taken as 1,000.
    #[must_use]
    pub fn with_page_size(mut self, page_size: i32) -> Self {
        self.page_size = page_size;
        self
    }

    /// Sets `page_token`.
    ///
    /// The next_page_token of the page before; empty: the first page. Opaque, bound to the request's other
    /// fields.
    #[must_use]
    pub fn with_page_token(mut self, page_token: impl Into<String>) -> Self {
        self.page_token = page_token.into();
        self
    }

    /// Sets `include_pruned`.
    ///
    /// Pruned messages, too, each at its place.
    #[must_use]
    pub fn with_include_pruned(mut self, include_pruned: bool) -> Self {
        self.include_pruned = include_pruned;
        self
    }

    /// Sets `metadata_filter`.
    ///
    /// Every given key must equal. Absent or empty: no filter.
    #[must_use]
    pub fn with_metadata_filter(
        mut self,
        metadata_filter: impl IntoIterator<Item = (impl Into<String>, impl Into<Value>)>,
    ) -> Self {
        self.metadata_filter = Some(Struct {
            fields: metadata_filter
                .into_iter()
                .map(|(key, value)| (key.into(), value.into()))
                .collect(),
        });
        self
    }
}

impl GetByRoleRequest {
    /// With what is required; the rest is the server's default.
    #[must_use]
    pub fn new(session_id: impl Into<String>, role: Role) -> Self {
        Self::default().with_session_id(session_id).with_role(role)
    }

    /// Sets `namespace`.
    ///
    /// Empty means "default".
    #[must_use]
    pub fn with_namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = namespace.into();
        self
    }

    /// Sets `user_id`.
    ///
    /// Optional; a user other than the session's is refused.
    #[must_use]
    pub fn with_user_id(mut self, user_id: impl Into<String>) -> Self {
        self.user_id = user_id.into();
        self
    }

    /// Sets `session_id`.
    ///
    /// Required.
    #[must_use]
    pub fn with_session_id(mut self, session_id: impl Into<String>) -> Self {
        self.session_id = session_id.into();
        self
    }

    /// Sets `role`.
    ///
    /// Required; ROLE_UNSPECIFIED is INVALID_ARGUMENT.
    #[must_use]
    pub fn with_role(mut self, role: Role) -> Self {
        self.role = role.into();
        self
    }

    /// Sets `limit`.
    ///
    /// 0: all. Keeps the newest.
    #[must_use]
    pub fn with_limit(mut self, limit: i32) -> Self {
        self.limit = limit;
        self
    }
}

impl GetPatternsRequest {
    /// Sets `namespace`.
    ///
    /// Empty means "default".
    #[must_use]
    pub fn with_namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = namespace.into();
        self
    }

    /// Sets `user_id`.
    ///
    /// Whose patterns. Optional where session_id is given: the session's user then.
    #[must_use]
    pub fn with_user_id(mut self, user_id: impl Into<String>) -> Self {
        self.user_id = user_id.into();
        self
    }

    /// Sets `session_id`.
    ///
    /// For a session without a user, whose patterns. Required where user_id is empty.
    #[must_use]
    pub fn with_session_id(mut self, session_id: impl Into<String>) -> Self {
        self.session_id = session_id.into();
        self
    }

    /// Sets `refresh`.
    ///
    /// Recompute now, out of everything up to now, and keep that. Else they are as old as computed_at says (setting
    /// patterns_every_conversations).
    #[must_use]
    pub fn with_refresh(mut self, refresh: bool) -> Self {
        self.refresh = refresh;
        self
    }
}

impl GetRecentRequest {
    /// With what is required; the rest is the server's default.
    #[must_use]
    pub fn new(session_id: impl Into<String>, n: i32) -> Self {
        Self::default().with_session_id(session_id).with_n(n)
    }

    /// Sets `namespace`.
    ///
    /// Empty means "default".
    #[must_use]
    pub fn with_namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = namespace.into();
        self
    }

    /// Sets `user_id`.
    ///
    /// Optional; a user other than the session's is refused.
    #[must_use]
    pub fn with_user_id(mut self, user_id: impl Into<String>) -> Self {
        self.user_id = user_id.into();
        self
    }

    /// Sets `session_id`.
    ///
    /// Required.
    #[must_use]
    pub fn with_session_id(mut self, session_id: impl Into<String>) -> Self {
        self.session_id = session_id.into();
        self
    }

    /// Sets `n`.
    ///
    /// 1 to 10,000; more is taken as 10,000. No default: 0 is INVALID_ARGUMENT. More than there are: all of
    /// them.
    #[must_use]
    pub fn with_n(mut self, n: i32) -> Self {
        self.n = n;
        self
    }

    /// Sets `max_tokens`.
    ///
    /// 0: no limit. Whole messages only, the newest first to be kept.
    #[must_use]
    pub fn with_max_tokens(mut self, max_tokens: i32) -> Self {
        self.max_tokens = max_tokens;
        self
    }
}

impl GetSessionRequest {
    /// With what is required; the rest is the server's default.
    #[must_use]
    pub fn new(session_id: impl Into<String>) -> Self {
        Self::default().with_session_id(session_id)
    }

    /// Sets `namespace`.
    ///
    /// Empty means "default".
    #[must_use]
    pub fn with_namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = namespace.into();
        self
    }

    /// Sets `user_id`.
    ///
    /// Optional; a user other than the session's is refused.
    #[must_use]
    pub fn with_user_id(mut self, user_id: impl Into<String>) -> Self {
        self.user_id = user_id.into();
        self
    }

    /// Sets `session_id`.
    ///
    /// Required.
    #[must_use]
    pub fn with_session_id(mut self, session_id: impl Into<String>) -> Self {
        self.session_id = session_id.into();
        self
    }
}

impl GetSummaryRequest {
    /// With what is required; the rest is the server's default.
    #[must_use]
    pub fn new(session_id: impl Into<String>) -> Self {
        Self::default().with_session_id(session_id)
    }

    /// Sets `namespace`.
    ///
    /// Empty means "default".
    #[must_use]
    pub fn with_namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = namespace.into();
        self
    }

    /// Sets `user_id`.
    ///
    /// Optional; a user other than the session's is refused.
    #[must_use]
    pub fn with_user_id(mut self, user_id: impl Into<String>) -> Self {
        self.user_id = user_id.into();
        self
    }

    /// Sets `session_id`.
    ///
    /// Required.
    #[must_use]
    pub fn with_session_id(mut self, session_id: impl Into<String>) -> Self {
        self.session_id = session_id.into();
        self
    }
}

impl ImportRequest {
    /// With what is required; the rest is the server's default.
    #[must_use]
    pub fn new(record: ArchiveRecord) -> Self {
        Self::default().with_record(record)
    }

    /// Sets `namespace`.
    ///
    /// Empty means "default". May differ from the one that was exported.
    #[must_use]
    pub fn with_namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = namespace.into();
        self
    }

    /// Sets `record`.
    ///
    /// Required.
    #[must_use]
    pub fn with_record(mut self, record: ArchiveRecord) -> Self {
        self.record = Some(record);
        self
    }
}

impl ListArtifactsRequest {
    /// With what is required; the rest is the server's default.
    #[must_use]
    pub fn new(session_id: impl Into<String>) -> Self {
        Self::default().with_session_id(session_id)
    }

    /// Sets `namespace`.
    ///
    /// Empty means "default".
    #[must_use]
    pub fn with_namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = namespace.into();
        self
    }

    /// Sets `user_id`.
    ///
    /// Optional; a user other than the session's is refused.
    #[must_use]
    pub fn with_user_id(mut self, user_id: impl Into<String>) -> Self {
        self.user_id = user_id.into();
        self
    }

    /// Sets `session_id`.
    ///
    /// Required.
    #[must_use]
    pub fn with_session_id(mut self, session_id: impl Into<String>) -> Self {
        self.session_id = session_id.into();
        self
    }

    /// Sets `page_size`.
    ///
    /// 0: 100. More than 1,000 is taken as 1,000.
    #[must_use]
    pub fn with_page_size(mut self, page_size: i32) -> Self {
        self.page_size = page_size;
        self
    }

    /// Sets `page_token`.
    ///
    /// The next_page_token of the page before; empty: the first page. Opaque, bound to the request's other
    /// fields.
    #[must_use]
    pub fn with_page_token(mut self, page_token: impl Into<String>) -> Self {
        self.page_token = page_token.into();
        self
    }
}

impl ListDocumentsRequest {
    /// Sets `namespace`.
    ///
    /// Empty means "default".
    #[must_use]
    pub fn with_namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = namespace.into();
        self
    }

    /// Sets `user_id`.
    ///
    /// Without a session: this user's. With one: a user other than the session's is refused. With neither: the
    /// namespace's.
    #[must_use]
    pub fn with_user_id(mut self, user_id: impl Into<String>) -> Self {
        self.user_id = user_id.into();
        self
    }

    /// Sets `session_id`.
    ///
    /// Those of this session, and no others.
    #[must_use]
    pub fn with_session_id(mut self, session_id: impl Into<String>) -> Self {
        self.session_id = session_id.into();
        self
    }

    /// Sets `page_size`.
    ///
    /// 0: 100. More than 1,000 is taken as 1,000.
    #[must_use]
    pub fn with_page_size(mut self, page_size: i32) -> Self {
        self.page_size = page_size;
        self
    }

    /// Sets `page_token`.
    ///
    /// The next_page_token of the page before; empty: the first page. Opaque, bound to the request's other
    /// fields.
    #[must_use]
    pub fn with_page_token(mut self, page_token: impl Into<String>) -> Self {
        self.page_token = page_token.into();
        self
    }
}

impl ListFactsRequest {
    /// Sets `namespace`.
    ///
    /// Empty means "default".
    #[must_use]
    pub fn with_namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = namespace.into();
        self
    }

    /// Sets `user_id`.
    ///
    /// Whose facts. Optional where session_id is given: the session's user then.
    #[must_use]
    pub fn with_user_id(mut self, user_id: impl Into<String>) -> Self {
        self.user_id = user_id.into();
        self
    }

    /// Sets `session_id`.
    ///
    /// For a session without a user, whose facts.
    #[must_use]
    pub fn with_session_id(mut self, session_id: impl Into<String>) -> Self {
        self.session_id = session_id.into();
        self
    }

    /// Sets `types`.
    ///
    /// Empty: all.
    #[must_use]
    pub fn with_types(mut self, types: impl IntoIterator<Item = FactType>) -> Self {
        self.types = types.into_iter().map(i32::from).collect();
        self
    }

    /// Sets `include_history`.
    ///
    /// Superseded ones, too.
    #[must_use]
    pub fn with_include_history(mut self, include_history: bool) -> Self {
        self.include_history = include_history;
        self
    }

    /// Sets `page_size`.
    ///
    /// 0: 100. More than 1,000 is taken as 1,000.
    #[must_use]
    pub fn with_page_size(mut self, page_size: i32) -> Self {
        self.page_size = page_size;
        self
    }

    /// Sets `page_token`.
    ///
    /// The next_page_token of the page before; empty: the first page. Opaque, bound to the request's other
    /// fields.
    #[must_use]
    pub fn with_page_token(mut self, page_token: impl Into<String>) -> Self {
        self.page_token = page_token.into();
        self
    }
}

impl ListSessionsRequest {
    /// Sets `namespace`.
    ///
    /// Empty means "default".
    #[must_use]
    pub fn with_namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = namespace.into();
        self
    }

    /// Sets `user_id`.
    ///
    /// Empty: of every user.
    #[must_use]
    pub fn with_user_id(mut self, user_id: impl Into<String>) -> Self {
        self.user_id = user_id.into();
        self
    }

    /// Sets `page_size`.
    ///
    /// 0: 100. More than 1,000 is taken as 1,000.
    #[must_use]
    pub fn with_page_size(mut self, page_size: i32) -> Self {
        self.page_size = page_size;
        self
    }

    /// Sets `page_token`.
    ///
    /// The next_page_token of the page before; empty: the first page. Opaque, bound to the request's other
    /// fields.
    #[must_use]
    pub fn with_page_token(mut self, page_token: impl Into<String>) -> Self {
        self.page_token = page_token.into();
        self
    }
}

impl Message {
    /// Sets `id`.
    ///
    /// Unique in its session, 1 to 256 bytes without control characters. Empty in a request: the server makes a
    /// UUIDv7. Given: the idempotency key. The same id with the same role, content, name, tool calls and
    /// tool_call_id again is answered as a duplicate and changes nothing; with another body it is
    /// ALREADY_EXISTS, reason ID_CONFLICT.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<String>) -> Self {
        self.id = id.into();
        self
    }

    /// Sets `role`.
    ///
    /// Required.
    #[must_use]
    pub fn with_role(mut self, role: Role) -> Self {
        self.role = role.into();
        self
    }

    /// Sets `content`.
    ///
    /// Plain text; special-token text in it is text. May be empty only for an assistant message with tool calls.
    #[must_use]
    pub fn with_content(mut self, content: impl Into<String>) -> Self {
        self.content = content.into();
        self
    }

    /// Sets `name`.
    ///
    /// The speaker, where there are several. A query that names the speaker ranks what they said higher.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Sets `tool_calls`.
    ///
    /// Assistant messages only. Several calls in one message are parallel calls.
    #[must_use]
    pub fn with_tool_calls(mut self, tool_calls: impl IntoIterator<Item = ToolCall>) -> Self {
        self.tool_calls = tool_calls.into_iter().collect();
        self
    }

    /// Sets `tool_call_id`.
    ///
    /// Tool messages only: the call that this answers. A tool message may lack it; it is then an answer without
    /// a call, which is stored and leaves the window with its neighbours.
    #[must_use]
    pub fn with_tool_call_id(mut self, tool_call_id: impl Into<String>) -> Self {
        self.tool_call_id = tool_call_id.into();
        self
    }

    /// Sets `create_time`.
    ///
    /// When it was said. Set by the server when absent.
    #[must_use]
    pub fn with_create_time(mut self, create_time: impl Into<Timestamp>) -> Self {
        self.create_time = Some(create_time.into());
        self
    }

    /// Sets `metadata`.
    ///
    /// Tags: at most 16 KiB, 8 levels deep. Numbers are doubles, as in JSON.
    #[must_use]
    pub fn with_metadata(mut self, metadata: impl IntoIterator<Item = (impl Into<String>, impl Into<Value>)>) -> Self {
        self.metadata = Some(Struct {
            fields: metadata
                .into_iter()
                .map(|(key, value)| (key.into(), value.into()))
                .collect(),
        });
        self
    }

    /// Sets `evaluation_score`.
    ///
    /// How good the exchange was, 0 to 10. Usually set later, with Annotate. Absent means not judged, which is
    /// not 0: the quality filter of episodic retrieval looks only at messages that have a score.
    #[must_use]
    pub fn with_evaluation_score(mut self, evaluation_score: f64) -> Self {
        self.evaluation_score = Some(evaluation_score);
        self
    }

    /// Sets `reasoning`.
    ///
    /// The assistant's thinking. Stored and searchable on request; never rendered into a context unless asked
    /// for.
    #[must_use]
    pub fn with_reasoning(mut self, reasoning: impl Into<String>) -> Self {
        self.reasoning = reasoning.into();
        self
    }

    /// Sets `vector`.
    ///
    /// Input only: a vector for this message from the caller's own embedder, of the configured dimensions
    /// (setting embedder_dimensions), each number finite, else INVALID_ARGUMENT. Need not have length 1. Empty:
    /// the server embeds the content and the tool calls itself.
    #[must_use]
    pub fn with_vector(mut self, vector: impl IntoIterator<Item = f32>) -> Self {
        self.vector = vector.into_iter().collect();
        self
    }
}

impl PruneRequest {
    /// With what is required; the rest is the server's default.
    #[must_use]
    pub fn new(session_id: impl Into<String>) -> Self {
        Self::default().with_session_id(session_id)
    }

    /// Sets `namespace`.
    ///
    /// Empty means "default".
    #[must_use]
    pub fn with_namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = namespace.into();
        self
    }

    /// Sets `user_id`.
    ///
    /// Optional; a user other than the session's is refused.
    #[must_use]
    pub fn with_user_id(mut self, user_id: impl Into<String>) -> Self {
        self.user_id = user_id.into();
        self
    }

    /// Sets `session_id`.
    ///
    /// Required.
    #[must_use]
    pub fn with_session_id(mut self, session_id: impl Into<String>) -> Self {
        self.session_id = session_id.into();
        self
    }

    /// Sets `max_tokens`.
    ///
    /// The budget in tokens. At least 1, except with the window strategy. No default: 0 is INVALID_ARGUMENT.
    #[must_use]
    pub fn with_max_tokens(mut self, max_tokens: i32) -> Self {
        self.max_tokens = max_tokens;
        self
    }

    /// Sets `strategy`.
    ///
    /// Unspecified: recency.
    #[must_use]
    pub fn with_strategy(mut self, strategy: PruneStrategy) -> Self {
        self.strategy = strategy.into();
        self
    }

    /// Sets `window`.
    ///
    /// For the window strategy, in messages; 0: 5 (setting prune_window).
    #[must_use]
    pub fn with_window(mut self, window: i32) -> Self {
        self.window = window;
        self
    }

    /// Sets `min_messages`.
    ///
    /// How many of the newest messages are kept whatever the budget; 0: 2 (setting prune_min_messages).
    #[must_use]
    pub fn with_min_messages(mut self, min_messages: i32) -> Self {
        self.min_messages = min_messages;
        self
    }

    /// Sets `dry_run`.
    ///
    /// Answer what would happen, change nothing. No summary is made then.
    #[must_use]
    pub fn with_dry_run(mut self, dry_run: bool) -> Self {
        self.dry_run = dry_run;
        self
    }

    /// Sets `summarize`.
    ///
    /// Bring the rolling summary up to the newest message that is pruned, before it is: nothing leaves the window that no
    /// summary speaks for. Without a model, whatever is configured: the caller waits.
    #[must_use]
    pub fn with_summarize(mut self, summarize: bool) -> Self {
        self.summarize = summarize;
        self
    }

    /// Sets `overflow`.
    ///
    /// The provider refused the context: shorten the oldest large tool results before anything is pruned. Head
    /// and tail of a result are kept and the cut is marked; it is then read with synthetic set, while the
    /// original stays stored and searchable.
    #[must_use]
    pub fn with_overflow(mut self, overflow: bool) -> Self {
        self.overflow = overflow;
        self
    }

    /// Sets `model`.
    ///
    /// Count by this model's tokenizer instead of the server's default.
    #[must_use]
    pub fn with_model(mut self, model: impl Into<String>) -> Self {
        self.model = model.into();
        self
    }
}

impl PutArtifactRequest {
    /// With what is required; the rest is the server's default.
    #[must_use]
    pub fn new(session_id: impl Into<String>, artifact: Artifact) -> Self {
        Self::default().with_session_id(session_id).with_artifact(artifact)
    }

    /// Sets `namespace`.
    ///
    /// Empty means "default".
    #[must_use]
    pub fn with_namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = namespace.into();
        self
    }

    /// Sets `user_id`.
    ///
    /// Optional; a user other than the session's is refused.
    #[must_use]
    pub fn with_user_id(mut self, user_id: impl Into<String>) -> Self {
        self.user_id = user_id.into();
        self
    }

    /// Sets `session_id`.
    ///
    /// Required. Need not exist yet, unless a message is offloaded.
    #[must_use]
    pub fn with_session_id(mut self, session_id: impl Into<String>) -> Self {
        self.session_id = session_id.into();
        self
    }

    /// Sets `artifact`.
    ///
    /// Required.
    #[must_use]
    pub fn with_artifact(mut self, artifact: Artifact) -> Self {
        self.artifact = Some(artifact);
        self
    }

    /// Sets `offload_message_id`.
    ///
    /// Replace this stored tool message in the window by a preview of at most `preview_tokens`; the artifact
    /// holds the whole. NOT_FOUND when the session has no such message; INVALID_ARGUMENT when its role is another.
    /// A message that is not longer stays as it is, and so does one that was pruned. The original stays stored and
    /// searchable. Empty: nothing is replaced.
    #[must_use]
    pub fn with_offload_message_id(mut self, offload_message_id: impl Into<String>) -> Self {
        self.offload_message_id = offload_message_id.into();
        self
    }

    /// Sets `preview_tokens`.
    ///
    /// Of the preview's content: its head, its tail, and a line that names the artifact, which is there however
    /// few these are. 0: 128 (setting overflow_keep_tokens).
    #[must_use]
    pub fn with_preview_tokens(mut self, preview_tokens: i32) -> Self {
        self.preview_tokens = preview_tokens;
        self
    }
}

impl PutDocumentRequest {
    /// With what is required; the rest is the server's default.
    #[must_use]
    pub fn new(document: Document) -> Self {
        Self::default().with_document(document)
    }

    /// Sets `namespace`.
    ///
    /// Empty means "default".
    #[must_use]
    pub fn with_namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = namespace.into();
        self
    }

    /// Sets `user_id`.
    ///
    /// Without a session: visible to this user only. With one: a user other than the session's is refused. With
    /// neither: visible to the namespace.
    #[must_use]
    pub fn with_user_id(mut self, user_id: impl Into<String>) -> Self {
        self.user_id = user_id.into();
        self
    }

    /// Sets `session_id`.
    ///
    /// Visible to this session only. Need not exist yet.
    #[must_use]
    pub fn with_session_id(mut self, session_id: impl Into<String>) -> Self {
        self.session_id = session_id.into();
        self
    }

    /// Sets `document`.
    ///
    /// Required.
    #[must_use]
    pub fn with_document(mut self, document: Document) -> Self {
        self.document = Some(document);
        self
    }
}

impl PutFactsRequest {
    /// With what is required; the rest is the server's default.
    #[must_use]
    pub fn new(facts: impl IntoIterator<Item = Fact>) -> Self {
        Self::default().with_facts(facts)
    }

    /// Sets `namespace`.
    ///
    /// Empty means "default".
    #[must_use]
    pub fn with_namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = namespace.into();
        self
    }

    /// Sets `user_id`.
    ///
    /// Whose facts. Optional where session_id is given: the session's user then.
    #[must_use]
    pub fn with_user_id(mut self, user_id: impl Into<String>) -> Self {
        self.user_id = user_id.into();
        self
    }

    /// Sets `session_id`.
    ///
    /// Where they came from; for a session without a user, whose they are. Need not exist yet. Required where
    /// user_id is empty.
    #[must_use]
    pub fn with_session_id(mut self, session_id: impl Into<String>) -> Self {
        self.session_id = session_id.into();
        self
    }

    /// Sets `facts`.
    ///
    /// 1 to 1,000, all or nothing. They are taken in their order.
    #[must_use]
    pub fn with_facts(mut self, facts: impl IntoIterator<Item = Fact>) -> Self {
        self.facts = facts.into_iter().collect();
        self
    }
}

impl ReportUsageRequest {
    /// With what is required; the rest is the server's default.
    #[must_use]
    pub fn new(model: impl Into<String>, estimated_tokens: i32, actual_tokens: i32) -> Self {
        Self::default()
            .with_model(model)
            .with_estimated_tokens(estimated_tokens)
            .with_actual_tokens(actual_tokens)
    }

    /// Sets `namespace`.
    ///
    /// Empty means "default".
    #[must_use]
    pub fn with_namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = namespace.into();
        self
    }

    /// Sets `user_id`.
    ///
    /// Optional.
    #[must_use]
    pub fn with_user_id(mut self, user_id: impl Into<String>) -> Self {
        self.user_id = user_id.into();
        self
    }

    /// Sets `session_id`.
    ///
    /// Optional.
    #[must_use]
    pub fn with_session_id(mut self, session_id: impl Into<String>) -> Self {
        self.session_id = session_id.into();
        self
    }

    /// Sets `model`.
    ///
    /// Required: the model that was called. The correction is kept for this name.
    #[must_use]
    pub fn with_model(mut self, model: impl Into<String>) -> Self {
        self.model = model.into();
        self
    }

    /// Sets `estimated_tokens`.
    ///
    /// What the sidecar had answered for this context (total_tokens, without what was only reserved), with the
    /// factor of that time already applied. At least 1.
    #[must_use]
    pub fn with_estimated_tokens(mut self, estimated_tokens: i32) -> Self {
        self.estimated_tokens = estimated_tokens;
        self
    }

    /// Sets `actual_tokens`.
    ///
    /// What the provider charged for the same input. At least 1.
    #[must_use]
    pub fn with_actual_tokens(mut self, actual_tokens: i32) -> Self {
        self.actual_tokens = actual_tokens;
        self
    }
}

impl SearchDocumentsRequest {
    /// With what is required; the rest is the server's default.
    #[must_use]
    pub fn new(query: impl Into<String>) -> Self {
        Self::default().with_query(query)
    }

    /// Sets `namespace`.
    ///
    /// Empty means "default".
    #[must_use]
    pub fn with_namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = namespace.into();
        self
    }

    /// Sets `user_id`.
    ///
    /// The user's documents are searched, too, besides the namespace's. Where only a session is named: its
    /// user's.
    #[must_use]
    pub fn with_user_id(mut self, user_id: impl Into<String>) -> Self {
        self.user_id = user_id.into();
        self
    }

    /// Sets `session_id`.
    ///
    /// The session's documents are searched, too, besides the namespace's. Another user's session is refused.
    #[must_use]
    pub fn with_session_id(mut self, session_id: impl Into<String>) -> Self {
        self.session_id = session_id.into();
        self
    }

    /// Sets `query`.
    ///
    /// Required. Compared as in the hybrid mode of Search.
    #[must_use]
    pub fn with_query(mut self, query: impl Into<String>) -> Self {
        self.query = query.into();
        self
    }

    /// Sets `limit`.
    ///
    /// 0: 3 (setting documents_top_k). More than 5 (setting documents_top_k_max) is taken as that.
    #[must_use]
    pub fn with_limit(mut self, limit: i32) -> Self {
        self.limit = limit;
        self
    }

    /// Sets `min_score`.
    ///
    /// Compared with `score`; from 0 on. 0: no hit is left out for its score.
    #[must_use]
    pub fn with_min_score(mut self, min_score: f64) -> Self {
        self.min_score = min_score;
        self
    }
}

impl SearchRequest {
    /// With what is required; the rest is the server's default.
    #[must_use]
    pub fn new(query: impl Into<String>) -> Self {
        Self::default().with_query(query)
    }

    /// Sets `namespace`.
    ///
    /// Empty means "default".
    #[must_use]
    pub fn with_namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = namespace.into();
        self
    }

    /// Sets `user_id`.
    ///
    /// Whose memory, for the user's scope. Optional where session_id is given: the session's user then.
    #[must_use]
    pub fn with_user_id(mut self, user_id: impl Into<String>) -> Self {
        self.user_id = user_id.into();
        self
    }

    /// Sets `session_id`.
    ///
    /// The session, for the session's scope. Optional where user_id is given.
    #[must_use]
    pub fn with_session_id(mut self, session_id: impl Into<String>) -> Self {
        self.session_id = session_id.into();
        self
    }

    /// Sets `query`.
    ///
    /// What to look for. Required, unless query_vector is given and the mode is semantic.
    #[must_use]
    pub fn with_query(mut self, query: impl Into<String>) -> Self {
        self.query = query.into();
        self
    }

    /// Sets `mode`.
    ///
    /// Unspecified: hybrid.
    #[must_use]
    pub fn with_mode(mut self, mode: SearchMode) -> Self {
        self.mode = mode.into();
        self
    }

    /// Sets `scope`.
    ///
    /// Unspecified: the user's, where there is one; else the session's.
    #[must_use]
    pub fn with_scope(mut self, scope: Scope) -> Self {
        self.scope = scope.into();
        self
    }

    /// Sets `limit`.
    ///
    /// 0: 10. More than 1,000 is taken as 1,000.
    ///
    /// In a whole namespace, and for a user with more than fits into memory (setting episodic_memory_bytes) and
    /// their sessions, candidates are ranked, and not all messages: the best 200 by words and the nearest 200 by
    /// meaning, or as many as the limit where it is above 200, and what stands around them. The pages end there;
    /// a larger limit looks at more. The substring mode has no such bound.
    #[must_use]
    pub fn with_limit(mut self, limit: i32) -> Self {
        self.limit = limit;
        self
    }

    /// Sets `min_score`.
    ///
    /// Compared with `score`; from 0 on. 0: no hit is left out for its score. A threshold for every query is
    /// meant for the semantic mode: in the others the best hit scores high however well it matches.
    #[must_use]
    pub fn with_min_score(mut self, min_score: f64) -> Self {
        self.min_score = min_score;
        self
    }

    /// Sets `roles`.
    ///
    /// Empty: all. Messages of other roles are no hits, and still count as neighbours of those that are; so with
    /// `after` and `before`.
    #[must_use]
    pub fn with_roles(mut self, roles: impl IntoIterator<Item = Role>) -> Self {
        self.roles = roles.into_iter().map(i32::from).collect();
        self
    }

    /// Sets `metadata_filter`.
    ///
    /// Every given key must equal. Absent or empty: no filter. Where candidates are ranked (`limit`), the filter
    /// looks only through them, so it can miss messages that match. In the substring mode it misses none.
    #[must_use]
    pub fn with_metadata_filter(
        mut self,
        metadata_filter: impl IntoIterator<Item = (impl Into<String>, impl Into<Value>)>,
    ) -> Self {
        self.metadata_filter = Some(Struct {
            fields: metadata_filter
                .into_iter()
                .map(|(key, value)| (key.into(), value.into()))
                .collect(),
        });
        self
    }

    /// Sets `after`.
    ///
    /// Only messages with a create_time later than this, in whole microseconds. Absent: no limit.
    #[must_use]
    pub fn with_after(mut self, after: impl Into<Timestamp>) -> Self {
        self.after = Some(after.into());
        self
    }

    /// Sets `before`.
    ///
    /// Only messages with a create_time earlier than this, in whole microseconds. Absent: no limit.
    #[must_use]
    pub fn with_before(mut self, before: impl Into<Timestamp>) -> Self {
        self.before = Some(before.into());
        self
    }

    /// Sets `page_token`.
    ///
    /// The next_page_token of the page before; empty: the first page. Opaque, bound to the request's other
    /// fields. Where candidates are ranked (`limit`), the pages end with the last of them.
    #[must_use]
    pub fn with_page_token(mut self, page_token: impl Into<String>) -> Self {
        self.page_token = page_token.into();
        self
    }

    /// Sets `query_vector`.
    ///
    /// In place of embedding the query, for the semantic and the hybrid mode: of the configured dimensions
    /// (setting embedder_dimensions), each number finite, else INVALID_ARGUMENT. Need not have length 1. Empty:
    /// the server embeds the query.
    #[must_use]
    pub fn with_query_vector(mut self, query_vector: impl IntoIterator<Item = f32>) -> Self {
        self.query_vector = query_vector.into_iter().collect();
        self
    }
}

impl SectionBudget {
    /// With what is required; the rest is the server's default.
    #[must_use]
    pub fn new(section: Section) -> Self {
        Self::default().with_section(section)
    }

    /// Sets `section`.
    ///
    /// Required, and each section at most once. Tool schemas, output reserve and framing have no budget of their own: they
    /// are INVALID_ARGUMENT.
    #[must_use]
    pub fn with_section(mut self, section: Section) -> Self {
        self.section = section.into();
        self
    }

    /// Sets `max_tokens`.
    ///
    /// In place of the scaled default cap. From 0 on; 0 leaves no room. The system section is never cut: of it the log
    /// warns above this.
    #[must_use]
    pub fn with_max_tokens(mut self, max_tokens: i32) -> Self {
        self.max_tokens = Some(max_tokens);
        self
    }

    /// Sets `top_k`.
    ///
    /// In place of the default number of items (turns, for the working section). From 0 on. Of retrieved chunks there are
    /// never more than 5 (setting documents_top_k_max).
    #[must_use]
    pub fn with_top_k(mut self, top_k: i32) -> Self {
        self.top_k = Some(top_k);
        self
    }

    /// Sets `min_tokens`.
    ///
    /// Reductions stop here; 0 where not given. From 0 on.
    #[must_use]
    pub fn with_min_tokens(mut self, min_tokens: i32) -> Self {
        self.min_tokens = Some(min_tokens);
        self
    }

    /// Sets `disabled`.
    ///
    /// The section is not filled at all.
    #[must_use]
    pub fn with_disabled(mut self, disabled: bool) -> Self {
        self.disabled = disabled;
        self
    }
}

impl SessionPolicy {
    /// Sets `auto_prune_tokens`.
    ///
    /// 0: never prune by itself. Else, when the window passes this many tokens, it is pruned to 80 % of them, so
    /// that the prefix stays the same for many turns and not for one.
    #[must_use]
    pub fn with_auto_prune_tokens(mut self, auto_prune_tokens: i32) -> Self {
        self.auto_prune_tokens = auto_prune_tokens;
        self
    }

    /// Sets `strategy`.
    ///
    /// For automatic pruning. Unspecified: recency.
    #[must_use]
    pub fn with_strategy(mut self, strategy: PruneStrategy) -> Self {
        self.strategy = strategy.into();
        self
    }

    /// Sets `summarize`.
    ///
    /// Bring the rolling summary up to what is pruned first, as with Prune. Of no effect where nothing is pruned
    /// automatically; a session is summarised in the background all the same (setting summary_every_messages).
    #[must_use]
    pub fn with_summarize(mut self, summarize: bool) -> Self {
        self.summarize = summarize;
        self
    }

    /// Sets `model`.
    ///
    /// The model that the session talks to, for counting and its budget. Empty: the server's default tokenizer. "short",
    /// "normal" and "long" stand for budgets of 4,000, 16,000 and 32,000 tokens with the default tokenizer.
    #[must_use]
    pub fn with_model(mut self, model: impl Into<String>) -> Self {
        self.model = model.into();
        self
    }
}

impl SetPolicyRequest {
    /// Sets `namespace`.
    ///
    /// Empty means "default".
    #[must_use]
    pub fn with_namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = namespace.into();
        self
    }

    /// Sets `user_id`.
    ///
    /// Optional, as in AddRequest.
    #[must_use]
    pub fn with_user_id(mut self, user_id: impl Into<String>) -> Self {
        self.user_id = user_id.into();
        self
    }

    /// Sets `session_id`.
    ///
    /// Empty: the default of the namespace, for sessions without a policy of their own.
    #[must_use]
    pub fn with_session_id(mut self, session_id: impl Into<String>) -> Self {
        self.session_id = session_id.into();
        self
    }

    /// Sets `policy`.
    ///
    /// Replaces the one before as a whole. Absent: back to the default.
    #[must_use]
    pub fn with_policy(mut self, policy: SessionPolicy) -> Self {
        self.policy = Some(policy);
        self
    }
}

impl StoreInteractionRequest {
    /// Sets `namespace`.
    ///
    /// Empty means "default".
    #[must_use]
    pub fn with_namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = namespace.into();
        self
    }

    /// Sets `user_id`.
    ///
    /// Optional, as in AddRequest.
    #[must_use]
    pub fn with_user_id(mut self, user_id: impl Into<String>) -> Self {
        self.user_id = user_id.into();
        self
    }

    /// Sets `session_id`.
    ///
    /// Required.
    #[must_use]
    pub fn with_session_id(mut self, session_id: impl Into<String>) -> Self {
        self.session_id = session_id.into();
        self
    }

    /// Sets `user_message`.
    ///
    /// What the user said. Required, not empty.
    #[must_use]
    pub fn with_user_message(mut self, user_message: impl Into<String>) -> Self {
        self.user_message = user_message.into();
        self
    }

    /// Sets `assistant_message`.
    ///
    /// What the assistant answered. Required, not empty.
    #[must_use]
    pub fn with_assistant_message(mut self, assistant_message: impl Into<String>) -> Self {
        self.assistant_message = assistant_message.into();
        self
    }

    /// Sets `interaction_id`.
    ///
    /// The idempotency key of the turn; the two messages get the ids "\<interaction_id>/user" and
    /// "\<interaction_id>/assistant", which count against the 256 bytes of an id. Empty: made by the server.
    #[must_use]
    pub fn with_interaction_id(mut self, interaction_id: impl Into<String>) -> Self {
        self.interaction_id = interaction_id.into();
        self
    }

    /// Sets `create_time`.
    ///
    /// Of both messages. Set by the server when absent.
    #[must_use]
    pub fn with_create_time(mut self, create_time: impl Into<Timestamp>) -> Self {
        self.create_time = Some(create_time.into());
        self
    }

    /// Sets `metadata`.
    ///
    /// Tags of both messages: at most 16 KiB, 8 levels deep.
    #[must_use]
    pub fn with_metadata(mut self, metadata: impl IntoIterator<Item = (impl Into<String>, impl Into<Value>)>) -> Self {
        self.metadata = Some(Struct {
            fields: metadata
                .into_iter()
                .map(|(key, value)| (key.into(), value.into()))
                .collect(),
        });
        self
    }

    /// Sets `evaluation_score`.
    ///
    /// How good the exchange was, 0 to 10; of both messages.
    #[must_use]
    pub fn with_evaluation_score(mut self, evaluation_score: f64) -> Self {
        self.evaluation_score = Some(evaluation_score);
        self
    }
}

impl SummarizeRequest {
    /// With what is required; the rest is the server's default.
    #[must_use]
    pub fn new(session_id: impl Into<String>) -> Self {
        Self::default().with_session_id(session_id)
    }

    /// Sets `namespace`.
    ///
    /// Empty means "default".
    #[must_use]
    pub fn with_namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = namespace.into();
        self
    }

    /// Sets `user_id`.
    ///
    /// Optional; a user other than the session's is refused.
    #[must_use]
    pub fn with_user_id(mut self, user_id: impl Into<String>) -> Self {
        self.user_id = user_id.into();
        self
    }

    /// Sets `session_id`.
    ///
    /// Required.
    #[must_use]
    pub fn with_session_id(mut self, session_id: impl Into<String>) -> Self {
        self.session_id = session_id.into();
        self
    }

    /// Sets `max_tokens`.
    ///
    /// Most tokens of the summary, by the server's default tokenizer. 0: 400 (setting summary_budget). More than 10,000 is
    /// taken as 10,000. A summary that covers everything already is made shorter if it must be, and never longer.
    #[must_use]
    pub fn with_max_tokens(mut self, max_tokens: i32) -> Self {
        self.max_tokens = max_tokens;
        self
    }
}

impl Summary {
    /// Sets `id`.
    ///
    /// Made by the server.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<String>) -> Self {
        self.id = id.into();
        self
    }

    /// Sets `text`.
    ///
    /// The summary.
    #[must_use]
    pub fn with_text(mut self, text: impl Into<String>) -> Self {
        self.text = text.into();
        self
    }

    /// Sets `tokens`.
    ///
    /// Of the text, by the server's default tokenizer; at most 400 by default (setting summary_budget).
    #[must_use]
    pub fn with_tokens(mut self, tokens: i32) -> Self {
        self.tokens = tokens;
        self
    }

    /// Sets `first_sequence`.
    ///
    /// The messages it covers.
    #[must_use]
    pub fn with_first_sequence(mut self, first_sequence: i64) -> Self {
        self.first_sequence = first_sequence;
        self
    }

    /// Sets `last_sequence`.
    ///
    /// The newest message that it covers, itself included.
    #[must_use]
    pub fn with_last_sequence(mut self, last_sequence: i64) -> Self {
        self.last_sequence = last_sequence;
        self
    }

    /// Sets `create_time`.
    ///
    /// When it was made.
    #[must_use]
    pub fn with_create_time(mut self, create_time: impl Into<Timestamp>) -> Self {
        self.create_time = Some(create_time.into());
        self
    }

    /// Sets `origin`.
    ///
    /// "extractive" or the model's name.
    #[must_use]
    pub fn with_origin(mut self, origin: impl Into<String>) -> Self {
        self.origin = origin.into();
        self
    }
}

impl ToolCall {
    /// With what is required; the rest is the server's default.
    #[must_use]
    pub fn new(id: impl Into<String>, name: impl Into<String>, arguments_json: impl Into<String>) -> Self {
        Self::default()
            .with_id(id)
            .with_name(name)
            .with_arguments_json(arguments_json)
    }

    /// Sets `id`.
    ///
    /// As the provider gave it, 1 to 256 bytes. Need not be unique in the session.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<String>) -> Self {
        self.id = id.into();
        self
    }

    /// Sets `name`.
    ///
    /// The tool's name, 1 to 256 bytes.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Sets `arguments_json`.
    ///
    /// The arguments as the model wrote them; stored as text, valid JSON or not.
    #[must_use]
    pub fn with_arguments_json(mut self, arguments_json: impl Into<String>) -> Self {
        self.arguments_json = arguments_json.into();
        self
    }
}

impl WatchRequest {
    /// Sets `namespace`.
    ///
    /// Empty means "default".
    #[must_use]
    pub fn with_namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = namespace.into();
        self
    }

    /// Sets `user_id`.
    ///
    /// Empty: every user.
    #[must_use]
    pub fn with_user_id(mut self, user_id: impl Into<String>) -> Self {
        self.user_id = user_id.into();
        self
    }

    /// Sets `session_id`.
    ///
    /// Empty: every session in the scope.
    #[must_use]
    pub fn with_session_id(mut self, session_id: impl Into<String>) -> Self {
        self.session_id = session_id.into();
        self
    }

    /// Sets `cursor`.
    ///
    /// Empty: from now on. Else the cursor of the last event that was received; what happened since comes first.
    #[must_use]
    pub fn with_cursor(mut self, cursor: impl Into<String>) -> Self {
        self.cursor = cursor.into();
        self
    }
}
