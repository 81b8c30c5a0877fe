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
    /// In conversation order; 1 to 10,000 messages, at most 4 MiB together. Messages that exist already are reported as
    /// duplicates, the others are appended. One conflict or one invalid message rejects the batch.
    #[must_use]
    pub fn with_messages(mut self, messages: impl IntoIterator<Item = Message>) -> Self {
        self.messages = messages.into_iter().collect();
        self
    }

    /// Sets `expected_sequence`.
    ///
    /// As in AddRequest; compared once, before the first new message.
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
    /// Optional. The first request that names a user makes that user the owner of the session. A later request that
    /// names another user is rejected.
    #[must_use]
    pub fn with_user_id(mut self, user_id: impl Into<String>) -> Self {
        self.user_id = user_id.into();
        self
    }

    /// Sets `session_id`.
    ///
    /// Required. The first message creates the session.
    #[must_use]
    pub fn with_session_id(mut self, session_id: impl Into<String>) -> Self {
        self.session_id = session_id.into();
        self
    }

    /// Sets `message`.
    ///
    /// Required. With a caller-supplied id, the request is safe to retry.
    #[must_use]
    pub fn with_message(mut self, message: Message) -> Self {
        self.message = Some(message);
        self
    }

    /// Sets `expected_sequence`.
    ///
    /// The session's last sequence that the caller expects, 0 for a new session. Compared after the duplicate check; a
    /// mismatch is ABORTED. Absent: not compared.
    #[must_use]
    pub fn with_expected_sequence(mut self, expected_sequence: i64) -> Self {
        self.expected_sequence = Some(expected_sequence);
        self
    }

    /// Sets `return_session`.
    ///
    /// Return `session` as well.
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
    /// Required. Supply ids, so that an interrupted stream can be resent.
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
    /// Optional. A user other than the session's owner is rejected.
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
    /// Required. May name a pruned message.
    #[must_use]
    pub fn with_message_id(mut self, message_id: impl Into<String>) -> Self {
        self.message_id = message_id.into();
        self
    }

    /// Sets `evaluation_score`.
    ///
    /// 0 to 10. Absent: unchanged.
    #[must_use]
    pub fn with_evaluation_score(mut self, evaluation_score: f64) -> Self {
        self.evaluation_score = Some(evaluation_score);
        self
    }

    /// Sets `metadata`.
    ///
    /// Merged into the message's metadata. A null value removes its key. The merged metadata may have at most 16 KiB.
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
    /// Empty for a record of the namespace.
    #[must_use]
    pub fn with_user_id(mut self, user_id: impl Into<String>) -> Self {
        self.user_id = user_id.into();
        self
    }

    /// Sets `session_id`.
    ///
    /// Empty for a record of the user or of the namespace.
    #[must_use]
    pub fn with_session_id(mut self, session_id: impl Into<String>) -> Self {
        self.session_id = session_id.into();
        self
    }

    /// Sets `message`.
    ///
    /// A message, in sequence order, with the vector that the caller sent, if any. Its id is required. Import keeps the
    /// sequence if it is above the session's last one, and else, or if it is 0, adds the message at the end.
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
    /// A document with its text. Import makes its chunks again.
    #[must_use]
    pub fn with_document(mut self, document: Document) -> Self {
        self.record = Some(archive_record::Record::Document(document));
        self
    }

    /// Sets `policy`.
    ///
    /// The policy of the session; without session_id, of the namespace.
    #[must_use]
    pub fn with_policy(mut self, policy: SessionPolicy) -> Self {
        self.record = Some(archive_record::Record::Policy(policy));
        self
    }

    /// Sets `calibration`.
    ///
    /// The token calibration of a model, of the namespace.
    #[must_use]
    pub fn with_calibration(mut self, calibration: Calibration) -> Self {
        self.record = Some(archive_record::Record::Calibration(calibration));
        self
    }

    /// Sets `session`.
    ///
    /// The session; precedes its messages.
    #[must_use]
    pub fn with_session(mut self, session: ArchivedSession) -> Self {
        self.record = Some(archive_record::Record::Session(session));
        self
    }

    /// Sets `pruned`.
    ///
    /// The message is pruned.
    #[must_use]
    pub fn with_pruned(mut self, pruned: bool) -> Self {
        self.pruned = pruned;
        self
    }

    /// Sets `version`.
    ///
    /// The version of the record format, 1. 0 means 1. Import rejects versions that it does not know.
    #[must_use]
    pub fn with_version(mut self, version: i32) -> Self {
        self.version = version;
        self
    }

    /// Sets `displayed`.
    ///
    /// The content of the message in the window, if it was offloaded or shortened. `message` is the original.
    #[must_use]
    pub fn with_displayed(mut self, displayed: Message) -> Self {
        self.displayed = Some(displayed);
        self
    }

    /// Sets `learned`.
    ///
    /// The facts of this message were learned already: Import does not learn them again.
    #[must_use]
    pub fn with_learned(mut self, learned: bool) -> Self {
        self.learned = learned;
        self
    }
}

impl ArchivedSession {
    /// Sets `create_time`.
    ///
    /// Time of the first write.
    #[must_use]
    pub fn with_create_time(mut self, create_time: impl Into<Timestamp>) -> Self {
        self.create_time = Some(create_time.into());
        self
    }

    /// Sets `last_active`.
    ///
    /// Time of the last write.
    #[must_use]
    pub fn with_last_active(mut self, last_active: impl Into<Timestamp>) -> Self {
        self.last_active = Some(last_active.into());
        self
    }

    /// Sets `last_sequence`.
    ///
    /// The highest assigned sequence, if no message has it: then a second record of the session, after its messages,
    /// carries it. Else 0.
    #[must_use]
    pub fn with_last_sequence(mut self, last_sequence: i64) -> Self {
        self.last_sequence = last_sequence;
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
    /// Unique in its session. Empty in a request: made by the server; for an offloaded message, derived from the
    /// message. A stored artifact with the same id is replaced.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<String>) -> Self {
        self.id = id.into();
        self
    }

    /// Sets `source`.
    ///
    /// The origin: a tool's name, a URL. At most 1,024 bytes. Empty for an offloaded message: the message's name.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<String>) -> Self {
        self.source = source.into();
        self
    }

    /// Sets `content`.
    ///
    /// The text, at most 1 MiB (setting max_message_bytes). Required, unless a message is offloaded: then it must be
    /// empty, and the server copies the message's whole content.
    #[must_use]
    pub fn with_content(mut self, content: impl Into<String>) -> Self {
        self.content = content.into();
        self
    }

    /// Sets `create_time`.
    ///
    /// Set by the server when absent. Unchanged as long as the content is unchanged.
    #[must_use]
    pub fn with_create_time(mut self, create_time: impl Into<Timestamp>) -> Self {
        self.create_time = Some(create_time.into());
        self
    }

    /// Sets `expire_time`.
    ///
    /// After this time the artifact is neither listed nor put into a context. Must be after create_time. Absent: never
    /// expires.
    #[must_use]
    pub fn with_expire_time(mut self, expire_time: impl Into<Timestamp>) -> Self {
        self.expire_time = Some(expire_time.into());
        self
    }

    /// Sets `metadata`.
    ///
    /// At most 16 KiB, 8 levels deep.
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
    /// Optional. A user other than the session's owner is rejected.
    #[must_use]
    pub fn with_user_id(mut self, user_id: impl Into<String>) -> Self {
        self.user_id = user_id.into();
        self
    }

    /// Sets `session_id`.
    ///
    /// Required. For an unknown session the context is built from the other sources.
    #[must_use]
    pub fn with_session_id(mut self, session_id: impl Into<String>) -> Self {
        self.session_id = session_id.into();
        self
    }

    /// Sets `query`.
    ///
    /// The query for retrieval, at most 1 MiB. Empty: the newest user message.
    #[must_use]
    pub fn with_query(mut self, query: impl Into<String>) -> Self {
        self.query = query.into();
        self
    }

    /// Sets `model`.
    ///
    /// Determines tokenizer, calibration and default budget. Optional; an unknown model is counted as o200k_base, has the
    /// default budget, and is answered with a warning in the receipt.
    #[must_use]
    pub fn with_model(mut self, model: impl Into<String>) -> Self {
        self.model = model.into();
        self
    }

    /// Sets `max_tokens`.
    ///
    /// The hard limit of the whole context. 0: the model's recommended budget, else 8,000 (setting context_budget). What
    /// is never left out: system prompt, newest user message, pinned facts, previews of the newest tool exchange or
    /// message, tool schemas, output reserve. If these do not fit, the call is FAILED_PRECONDITION, reason
    /// BUDGET_TOO_SMALL, with required_tokens and the largest of these parts (item) in the metadata.
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
    /// A text about the user, supplied by the caller. Empty: none.
    #[must_use]
    pub fn with_profile(mut self, profile: impl Into<String>) -> Self {
        self.profile = profile.into();
        self
    }

    /// Sets `tool_schemas_json`.
    ///
    /// The tool schemas that the caller sends to the model. Counted as text; neither parsed nor rendered.
    #[must_use]
    pub fn with_tool_schemas_json(mut self, tool_schemas_json: impl Into<String>) -> Self {
        self.tool_schemas_json = tool_schemas_json.into();
        self
    }

    /// Sets `reserve_output_tokens`.
    ///
    /// Tokens reserved for the model's output, part of max_tokens. 0 or more; 0: no reserve.
    #[must_use]
    pub fn with_reserve_output_tokens(mut self, reserve_output_tokens: i32) -> Self {
        self.reserve_output_tokens = reserve_output_tokens;
        self
    }

    /// Sets `documents`.
    ///
    /// Chunks supplied by the caller, best first. They precede retrieved chunks in the documents section. At most 1,000;
    /// empty chunks are ignored.
    #[must_use]
    pub fn with_documents(mut self, documents: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.documents = documents.into_iter().map(Into::into).collect();
        self
    }

    /// Sets `sections`.
    ///
    /// Deviations from the defaults, each section at most once.
    #[must_use]
    pub fn with_sections(mut self, sections: impl IntoIterator<Item = SectionBudget>) -> Self {
        self.sections = sections.into_iter().collect();
        self
    }

    /// Sets `scope`.
    ///
    /// The scope for retrieving messages. Unspecified: SCOPE_USER if a user is known, else SCOPE_SESSION. SCOPE_USER
    /// without a user in the request or the session is INVALID_ARGUMENT.
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
    /// List rejected items in the receipt as well.
    #[must_use]
    pub fn with_debug(mut self, debug: bool) -> Self {
        self.debug = debug;
        self
    }

    /// Sets `query_vector`.
    ///
    /// The vector of the query. Must have the configured dimensions (setting embedder_dimensions) and finite numbers,
    /// else INVALID_ARGUMENT. Need not be normalised. Empty: the server embeds the query.
    #[must_use]
    pub fn with_query_vector(mut self, query_vector: impl IntoIterator<Item = f32>) -> Self {
        self.query_vector = query_vector.into_iter().collect();
        self
    }

    /// Sets `include_reasoning`.
    ///
    /// Render the assistant's reasoning as well.
    #[must_use]
    pub fn with_include_reasoning(mut self, include_reasoning: bool) -> Self {
        self.include_reasoning = include_reasoning;
        self
    }

    /// Sets `context_fill`.
    ///
    /// How far sections may grow beyond their shares with tokens that others leave, 0 to 1: 0 not at all, 1 up to their
    /// ceilings. Absent: setting context_fill, 1 by default.
    #[must_use]
    pub fn with_context_fill(mut self, context_fill: f64) -> Self {
        self.context_fill = Some(context_fill);
        self
    }

    /// Sets `dry_run`.
    ///
    /// Build the context and its receipt without a side effect, for tools that show what an agent would get. The text does
    /// not count as injected, so facts are still learned from messages that repeat it; a summary that is due is shown but
    /// not stored, so GetSummary does not return it; the context is not in the metrics of contexts. The response is that of
    /// the same call without dry_run.
    #[must_use]
    pub fn with_dry_run(mut self, dry_run: bool) -> Self {
        self.dry_run = dry_run;
        self
    }
}

impl Calibration {
    /// Sets `model`.
    ///
    /// The model.
    #[must_use]
    pub fn with_model(mut self, model: impl Into<String>) -> Self {
        self.model = model.into();
        self
    }

    /// Sets `factor`.
    ///
    /// Reported tokens divided by counted tokens.
    #[must_use]
    pub fn with_factor(mut self, factor: f64) -> Self {
        self.factor = factor;
        self
    }

    /// Sets `reports`.
    ///
    /// The number of reports.
    #[must_use]
    pub fn with_reports(mut self, reports: i64) -> Self {
        self.reports = reports;
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
    /// Optional. A user other than the session's owner is rejected.
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
    /// Optional. A user other than the session's owner is rejected.
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
    /// Optional. A user other than the session's owner is rejected.
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
    /// Without session_id: the owner of the document. With session_id: a user other than the session's owner is
    /// rejected.
    #[must_use]
    pub fn with_user_id(mut self, user_id: impl Into<String>) -> Self {
        self.user_id = user_id.into();
        self
    }

    /// Sets `session_id`.
    ///
    /// The session that owns the document. With neither user_id nor session_id, the namespace owns it.
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
    /// The owner of the fact. Optional if session_id is given; the default is the session's owner.
    #[must_use]
    pub fn with_user_id(mut self, user_id: impl Into<String>) -> Self {
        self.user_id = user_id.into();
        self
    }

    /// Sets `session_id`.
    ///
    /// The owner of the fact, for a session without a user.
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
    /// Optional. A user other than the session's owner is rejected.
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
    /// Return the counts without erasing anything.
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
    /// Required, 1 to 256 bytes without control characters. Chosen by the caller. A stored document with the same id is
    /// replaced.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<String>) -> Self {
        self.id = id.into();
        self
    }

    /// Sets `title`.
    ///
    /// A display title, not searched. Optional, at most 1,024 bytes.
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
    /// The origin: a file name, a URL. At most 1,024 bytes.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<String>) -> Self {
        self.source = source.into();
        self
    }

    /// Sets `metadata`.
    ///
    /// At most 16 KiB, 8 levels deep.
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
    /// When the document was written or stored. Set by the server when absent. Unchanged as long as the text is
    /// unchanged.
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
    /// Empty: no filter.
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
    /// Resume after this cursor. Empty: from the beginning. Opaque, bound to the request's other fields.
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
    /// For example "name", "company", "likes". A key has one current value, except for the types interest, action item
    /// and question. Required, 1 to 256 bytes without control characters.
    #[must_use]
    pub fn with_key(mut self, key: impl Into<String>) -> Self {
        self.key = key.into();
        self
    }

    /// Sets `value`.
    ///
    /// The value. Required, not only white space, at most 16 KiB.
    #[must_use]
    pub fn with_value(mut self, value: impl Into<String>) -> Self {
        self.value = value.into();
        self
    }

    /// Sets `confidence`.
    ///
    /// 0 to 1. 0 in PutFacts means unspecified and is stored as 1.
    #[must_use]
    pub fn with_confidence(mut self, confidence: f64) -> Self {
        self.confidence = confidence;
        self
    }

    /// Sets `valid_from`.
    ///
    /// Start of validity. Absent in PutFacts: extracted_at.
    #[must_use]
    pub fn with_valid_from(mut self, valid_from: impl Into<Timestamp>) -> Self {
        self.valid_from = Some(valid_from.into());
        self
    }

    /// Sets `extracted_at`.
    ///
    /// Time of the first observation. Absent in PutFacts: now, or last_updated if that is earlier.
    #[must_use]
    pub fn with_extracted_at(mut self, extracted_at: impl Into<Timestamp>) -> Self {
        self.extracted_at = Some(extracted_at.into());
        self
    }

    /// Sets `last_updated`.
    ///
    /// Time of the last observation. Absent in PutFacts: now.
    #[must_use]
    pub fn with_last_updated(mut self, last_updated: impl Into<Timestamp>) -> Self {
        self.last_updated = Some(last_updated.into());
        self
    }

    /// Sets `session_id`.
    ///
    /// The session of the first observation. Empty in PutFacts: the request's session_id.
    #[must_use]
    pub fn with_session_id(mut self, session_id: impl Into<String>) -> Self {
        self.session_id = session_id.into();
        self
    }

    /// Sets `source_message_ids`.
    ///
    /// The messages of the first observation, in that session; at most 100. DeleteSession erases the fact together with
    /// these messages; Clear keeps it. A fact that was observed in another session since is erased with that session. A
    /// fact stored by a caller without messages is erased with no session.
    #[must_use]
    pub fn with_source_message_ids(mut self, source_message_ids: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.source_message_ids = source_message_ids.into_iter().map(Into::into).collect();
        self
    }

    /// Sets `pinned`.
    ///
    /// Always in the context, before other facts.
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
    /// Optional. A user other than the session's owner is rejected.
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
    /// Return the counts without erasing anything.
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
    /// Return the counts without erasing anything.
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
    /// Optional. A user other than the session's owner is rejected.
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
    /// 0 means 100. Values above 1,000 are lowered to 1,000.
    #[must_use]
    pub fn with_page_size(mut self, page_size: i32) -> Self {
        self.page_size = page_size;
        self
    }

    /// Sets `page_token`.
    ///
    /// The next_page_token of the previous page. Empty: the first page. Opaque, bound to the request's other fields.
    #[must_use]
    pub fn with_page_token(mut self, page_token: impl Into<String>) -> Self {
        self.page_token = page_token.into();
        self
    }

    /// Sets `include_pruned`.
    ///
    /// Include pruned messages, in sequence order.
    #[must_use]
    pub fn with_include_pruned(mut self, include_pruned: bool) -> Self {
        self.include_pruned = include_pruned;
        self
    }

    /// Sets `metadata_filter`.
    ///
    /// Every given key must be equal. Absent or empty: no filter.
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
    /// Optional. A user other than the session's owner is rejected.
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
    /// 0: no limit. Otherwise the newest are kept.
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
    /// The owner of the patterns. Optional if session_id is given; the default is the session's owner.
    #[must_use]
    pub fn with_user_id(mut self, user_id: impl Into<String>) -> Self {
        self.user_id = user_id.into();
        self
    }

    /// Sets `session_id`.
    ///
    /// The owner of the patterns, for a session without a user. Required if user_id is empty.
    #[must_use]
    pub fn with_session_id(mut self, session_id: impl Into<String>) -> Self {
        self.session_id = session_id.into();
        self
    }

    /// Sets `refresh`.
    ///
    /// Recompute the patterns now from all conversations, and store them. Otherwise the stored patterns are returned;
    /// computed_at is their age (setting patterns_every_conversations).
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
    /// Optional. A user other than the session's owner is rejected.
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
    /// 1 to 10,000; larger values are lowered to 10,000. No default: 0 is INVALID_ARGUMENT. If the window has fewer
    /// messages, all of them are returned.
    #[must_use]
    pub fn with_n(mut self, n: i32) -> Self {
        self.n = n;
        self
    }

    /// Sets `max_tokens`.
    ///
    /// 0: no limit. Whole messages only; the newest are kept first.
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
    /// Optional. A user other than the session's owner is rejected.
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
    /// Optional. A user other than the session's owner is rejected.
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

impl GetUsageRequest {
    /// Sets `namespace`.
    ///
    /// Empty means "default".
    #[must_use]
    pub fn with_namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = namespace.into();
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
    /// Empty means "default". May differ from the exported namespace.
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

    /// Sets `override_erasures`.
    ///
    /// Store the record even if its message, session or user was forgotten here.
    #[must_use]
    pub fn with_override_erasures(mut self, override_erasures: bool) -> Self {
        self.override_erasures = override_erasures;
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
    /// Optional. A user other than the session's owner is rejected.
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
    /// 0 means 100. Values above 1,000 are lowered to 1,000.
    #[must_use]
    pub fn with_page_size(mut self, page_size: i32) -> Self {
        self.page_size = page_size;
        self
    }

    /// Sets `page_token`.
    ///
    /// The next_page_token of the previous page. Empty: the first page. Opaque, bound to the request's other fields.
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
    /// Without session_id: this user's documents. With session_id: a user other than the session's owner is rejected.
    /// With neither: the namespace's documents.
    #[must_use]
    pub fn with_user_id(mut self, user_id: impl Into<String>) -> Self {
        self.user_id = user_id.into();
        self
    }

    /// Sets `session_id`.
    ///
    /// Only the documents of this session.
    #[must_use]
    pub fn with_session_id(mut self, session_id: impl Into<String>) -> Self {
        self.session_id = session_id.into();
        self
    }

    /// Sets `page_size`.
    ///
    /// 0 means 100. Values above 1,000 are lowered to 1,000.
    #[must_use]
    pub fn with_page_size(mut self, page_size: i32) -> Self {
        self.page_size = page_size;
        self
    }

    /// Sets `page_token`.
    ///
    /// The next_page_token of the previous page. Empty: the first page. Opaque, bound to the request's other fields.
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
    /// The owner of the facts. Optional if session_id is given; the default is the session's owner.
    #[must_use]
    pub fn with_user_id(mut self, user_id: impl Into<String>) -> Self {
        self.user_id = user_id.into();
        self
    }

    /// Sets `session_id`.
    ///
    /// The owner of the facts, for a session without a user.
    #[must_use]
    pub fn with_session_id(mut self, session_id: impl Into<String>) -> Self {
        self.session_id = session_id.into();
        self
    }

    /// Sets `types`.
    ///
    /// Empty: no filter.
    #[must_use]
    pub fn with_types(mut self, types: impl IntoIterator<Item = FactType>) -> Self {
        self.types = types.into_iter().map(i32::from).collect();
        self
    }

    /// Sets `include_history`.
    ///
    /// Include superseded facts.
    #[must_use]
    pub fn with_include_history(mut self, include_history: bool) -> Self {
        self.include_history = include_history;
        self
    }

    /// Sets `page_size`.
    ///
    /// 0 means 100. Values above 1,000 are lowered to 1,000.
    #[must_use]
    pub fn with_page_size(mut self, page_size: i32) -> Self {
        self.page_size = page_size;
        self
    }

    /// Sets `page_token`.
    ///
    /// The next_page_token of the previous page. Empty: the first page. Opaque, bound to the request's other fields.
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
    /// Empty: sessions of all users.
    #[must_use]
    pub fn with_user_id(mut self, user_id: impl Into<String>) -> Self {
        self.user_id = user_id.into();
        self
    }

    /// Sets `page_size`.
    ///
    /// 0 means 100. Values above 1,000 are lowered to 1,000.
    #[must_use]
    pub fn with_page_size(mut self, page_size: i32) -> Self {
        self.page_size = page_size;
        self
    }

    /// Sets `page_token`.
    ///
    /// The next_page_token of the previous page. Empty: the first page. Opaque, bound to the request's other fields.
    #[must_use]
    pub fn with_page_token(mut self, page_token: impl Into<String>) -> Self {
        self.page_token = page_token.into();
        self
    }
}

impl ListUsersRequest {
    /// Sets `namespace`.
    ///
    /// Empty means "default".
    #[must_use]
    pub fn with_namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = namespace.into();
        self
    }

    /// Sets `user_id_prefix`.
    ///
    /// Only users whose id begins with this. Empty: all users.
    #[must_use]
    pub fn with_user_id_prefix(mut self, user_id_prefix: impl Into<String>) -> Self {
        self.user_id_prefix = user_id_prefix.into();
        self
    }

    /// Sets `page_size`.
    ///
    /// 0 means 100. Values above 1,000 are lowered to 1,000.
    #[must_use]
    pub fn with_page_size(mut self, page_size: i32) -> Self {
        self.page_size = page_size;
        self
    }

    /// Sets `page_token`.
    ///
    /// The next_page_token of the previous page. Empty: the first page. Opaque, bound to the request's other fields.
    #[must_use]
    pub fn with_page_token(mut self, page_token: impl Into<String>) -> Self {
        self.page_token = page_token.into();
        self
    }
}

impl Message {
    /// Sets `id`.
    ///
    /// Unique in its session, 1 to 256 bytes without control characters. Empty in a request: the server makes a UUIDv7.
    /// The id is the idempotency key: a second message with the same id, role, content, name, tool calls and
    /// tool_call_id is reported as a duplicate and changes nothing; with a different body it is ALREADY_EXISTS, reason
    /// ID_CONFLICT.
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
    /// Plain text; the text of special tokens is treated as plain text. May be empty only for an assistant message with
    /// tool calls.
    #[must_use]
    pub fn with_content(mut self, content: impl Into<String>) -> Self {
        self.content = content.into();
        self
    }

    /// Sets `name`.
    ///
    /// The speaker, in a conversation with several. A query that contains the name ranks the speaker's messages higher.
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
    /// Tool messages only: the id of the call. If empty, the tool message is stored without a call and is pruned with
    /// its neighbours.
    #[must_use]
    pub fn with_tool_call_id(mut self, tool_call_id: impl Into<String>) -> Self {
        self.tool_call_id = tool_call_id.into();
        self
    }

    /// Sets `create_time`.
    ///
    /// When the message was written. Set by the server when absent.
    #[must_use]
    pub fn with_create_time(mut self, create_time: impl Into<Timestamp>) -> Self {
        self.create_time = Some(create_time.into());
        self
    }

    /// Sets `metadata`.
    ///
    /// At most 16 KiB, 8 levels deep. Numbers are doubles, as in JSON.
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
    /// Quality of the exchange, 0 to 10. Usually set later, with Annotate. Absent means not rated, which differs from 0:
    /// the quality filter of episodic retrieval applies only to messages with a score.
    #[must_use]
    pub fn with_evaluation_score(mut self, evaluation_score: f64) -> Self {
        self.evaluation_score = Some(evaluation_score);
        self
    }

    /// Sets `reasoning`.
    ///
    /// The assistant's reasoning. Stored, not searched, and rendered into a context only with include_reasoning.
    #[must_use]
    pub fn with_reasoning(mut self, reasoning: impl Into<String>) -> Self {
        self.reasoning = reasoning.into();
        self
    }

    /// Sets `vector`.
    ///
    /// Input only: the message's vector from the caller's own embedder. Must have the configured dimensions (setting
    /// embedder_dimensions) and finite numbers, else INVALID_ARGUMENT. Need not be normalised. Empty: the server embeds
    /// the content and the tool calls.
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
    /// Optional. A user other than the session's owner is rejected.
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
    /// The size of the window strategy, in messages. 0 means 5 (setting prune_window).
    #[must_use]
    pub fn with_window(mut self, window: i32) -> Self {
        self.window = window;
        self
    }

    /// Sets `min_messages`.
    ///
    /// The number of newest messages that are kept regardless of the budget. 0 means 2 (setting prune_min_messages).
    #[must_use]
    pub fn with_min_messages(mut self, min_messages: i32) -> Self {
        self.min_messages = min_messages;
        self
    }

    /// Sets `dry_run`.
    ///
    /// Return the result without changing anything. No summary is made.
    #[must_use]
    pub fn with_dry_run(mut self, dry_run: bool) -> Self {
        self.dry_run = dry_run;
        self
    }

    /// Sets `summarize`.
    ///
    /// Update the rolling summary through the newest pruned message before pruning, so that the summary covers every
    /// message that leaves the window. Always extractive, never by a configured model, because the caller waits.
    #[must_use]
    pub fn with_summarize(mut self, summarize: bool) -> Self {
        self.summarize = summarize;
        self
    }

    /// Sets `overflow`.
    ///
    /// The provider rejected the context as too long: shorten the oldest large tool results before pruning. The head and
    /// the tail of a result are kept, and the cut is marked. A shortened result is returned with `synthetic` set; the
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
    /// Optional. A user other than the session's owner is rejected.
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
    /// Replace this stored tool message in the window by a preview of at most `preview_tokens`; the artifact holds the
    /// whole content. NOT_FOUND when the session has no such message; INVALID_ARGUMENT when its role is not tool. A
    /// message that is not longer than the preview, or that is pruned, stays unchanged. The original stays stored and
    /// searchable. Empty: nothing is replaced.
    #[must_use]
    pub fn with_offload_message_id(mut self, offload_message_id: impl Into<String>) -> Self {
        self.offload_message_id = offload_message_id.into();
        self
    }

    /// Sets `preview_tokens`.
    ///
    /// Tokens of the preview: its head, its tail, and a line that names the artifact. The line is always included. 0
    /// means 128 (setting overflow_keep_tokens).
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
    /// Without session_id: visible to this user only. With session_id: a user other than the session's owner is
    /// rejected. With neither: visible to the namespace.
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
    /// The owner of the facts. Optional if session_id is given; the default is the session's owner.
    #[must_use]
    pub fn with_user_id(mut self, user_id: impl Into<String>) -> Self {
        self.user_id = user_id.into();
        self
    }

    /// Sets `session_id`.
    ///
    /// The session that the facts come from; for a session without a user, their owner. Need not exist yet. Required if
    /// user_id is empty.
    #[must_use]
    pub fn with_session_id(mut self, session_id: impl Into<String>) -> Self {
        self.session_id = session_id.into();
        self
    }

    /// Sets `facts`.
    ///
    /// 1 to 1,000, stored atomically and applied in order.
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
    /// Required: the model that was called. The server stores the correction under this name.
    #[must_use]
    pub fn with_model(mut self, model: impl Into<String>) -> Self {
        self.model = model.into();
        self
    }

    /// Sets `estimated_tokens`.
    ///
    /// The sidecar's count for this context: total_tokens without the reserve, with the factor of that time applied. At
    /// least 1.
    #[must_use]
    pub fn with_estimated_tokens(mut self, estimated_tokens: i32) -> Self {
        self.estimated_tokens = estimated_tokens;
        self
    }

    /// Sets `actual_tokens`.
    ///
    /// The tokens of the same input by the provider's count, with those that came from its cache. At least 1. A report of
    /// less than half of the tokens without a factor is ignored.
    #[must_use]
    pub fn with_actual_tokens(mut self, actual_tokens: i32) -> Self {
        self.actual_tokens = actual_tokens;
        self
    }
}

impl Retention {
    /// Sets `messages`.
    ///
    /// Messages of a session, pruned ones included. An exchange is erased as a whole, when its newest message exceeds the
    /// limit. Erased like with ForgetMessage. A message with the metadata of a legal hold (setting legal_hold_tag) stays.
    #[must_use]
    pub fn with_messages(mut self, messages: RetentionLimits) -> Self {
        self.messages = Some(messages);
        self
    }

    /// Sets `facts`.
    ///
    /// Facts of an owner, by last_updated. Pinned facts stay.
    #[must_use]
    pub fn with_facts(mut self, facts: RetentionLimits) -> Self {
        self.facts = Some(facts);
        self
    }

    /// Sets `artifacts`.
    ///
    /// Artifacts of a session, by create_time.
    #[must_use]
    pub fn with_artifacts(mut self, artifacts: RetentionLimits) -> Self {
        self.artifacts = Some(artifacts);
        self
    }

    /// Sets `documents`.
    ///
    /// Documents of an owner, by create_time.
    #[must_use]
    pub fn with_documents(mut self, documents: RetentionLimits) -> Self {
        self.documents = Some(documents);
        self
    }
}

impl RetentionLimits {
    /// Sets `max_age_seconds`.
    ///
    /// Items older than this are erased. 0: no limit.
    #[must_use]
    pub fn with_max_age_seconds(mut self, max_age_seconds: i64) -> Self {
        self.max_age_seconds = max_age_seconds;
        self
    }

    /// Sets `max_count`.
    ///
    /// The newest ones are kept. 0: no limit.
    #[must_use]
    pub fn with_max_count(mut self, max_count: i32) -> Self {
        self.max_count = max_count;
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
    /// The user's documents are searched in addition to the namespace's. If only session_id is given, the user is the
    /// session's owner.
    #[must_use]
    pub fn with_user_id(mut self, user_id: impl Into<String>) -> Self {
        self.user_id = user_id.into();
        self
    }

    /// Sets `session_id`.
    ///
    /// The session's documents are searched in addition to the namespace's. A session of another user is rejected.
    #[must_use]
    pub fn with_session_id(mut self, session_id: impl Into<String>) -> Self {
        self.session_id = session_id.into();
        self
    }

    /// Sets `query`.
    ///
    /// Required, at most 1 MiB. Matched as in the hybrid mode of Search.
    #[must_use]
    pub fn with_query(mut self, query: impl Into<String>) -> Self {
        self.query = query.into();
        self
    }

    /// Sets `limit`.
    ///
    /// 0 means 3 (setting documents_top_k). Values above 20 are lowered to 20 (setting documents_top_k_max).
    #[must_use]
    pub fn with_limit(mut self, limit: i32) -> Self {
        self.limit = limit;
        self
    }

    /// Sets `min_score`.
    ///
    /// The lowest `score` of a hit, 0 or more. 0: no threshold.
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
    /// The user, for SCOPE_USER. Optional if session_id is given; the default is the session's owner.
    #[must_use]
    pub fn with_user_id(mut self, user_id: impl Into<String>) -> Self {
        self.user_id = user_id.into();
        self
    }

    /// Sets `session_id`.
    ///
    /// The session, for SCOPE_SESSION. Optional if user_id is given.
    #[must_use]
    pub fn with_session_id(mut self, session_id: impl Into<String>) -> Self {
        self.session_id = session_id.into();
        self
    }

    /// Sets `query`.
    ///
    /// The text to search for, at most 1 MiB. Required, unless query_vector is given and the mode is semantic.
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
    /// Unspecified: SCOPE_USER if a user is known, else SCOPE_SESSION.
    #[must_use]
    pub fn with_scope(mut self, scope: Scope) -> Self {
        self.scope = scope.into();
        self
    }

    /// Sets `limit`.
    ///
    /// 0 means 10. Values above 1,000 are lowered to 1,000.
    ///
    /// In the scope of a whole namespace, and for a user whose messages do not fit into memory (setting
    /// episodic_memory_bytes) and that user's sessions, the search ranks candidates instead of all messages: the best
    /// 200 by keywords and the nearest 200 by vector (`limit` of each if it is above 200), and their neighbours. Paging
    /// ends with the last candidate; a larger limit ranks more. The substring mode has no such bound.
    #[must_use]
    pub fn with_limit(mut self, limit: i32) -> Self {
        self.limit = limit;
        self
    }

    /// Sets `min_score`.
    ///
    /// The lowest `score` of a hit, 0 or more. 0: no threshold. A fixed threshold is meaningful in the semantic mode
    /// only: in the other modes the best hit scores high even if it matches poorly. SearchHit.relevance tells that.
    #[must_use]
    pub fn with_min_score(mut self, min_score: f64) -> Self {
        self.min_score = min_score;
        self
    }

    /// Sets `roles`.
    ///
    /// Empty: all roles. Messages of other roles are not returned, but count as neighbours of hits. The same holds for
    /// `after` and `before`.
    #[must_use]
    pub fn with_roles(mut self, roles: impl IntoIterator<Item = Role>) -> Self {
        self.roles = roles.into_iter().map(i32::from).collect();
        self
    }

    /// Sets `metadata_filter`.
    ///
    /// Every given key must be equal. Absent or empty: no filter. Where the search ranks candidates (`limit`), the
    /// filter applies to the candidates only, so it can miss messages that match. In the substring mode it misses none.
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
    /// The next_page_token of the previous page. Empty: the first page. Opaque, bound to the request's other fields.
    /// Where the search ranks candidates (`limit`), paging ends with the last candidate.
    #[must_use]
    pub fn with_page_token(mut self, page_token: impl Into<String>) -> Self {
        self.page_token = page_token.into();
        self
    }

    /// Sets `query_vector`.
    ///
    /// The vector of the query, for the semantic and the hybrid mode. Must have the configured dimensions (setting
    /// embedder_dimensions) and finite numbers, else INVALID_ARGUMENT. Need not be normalised. Empty: the server embeds
    /// the query.
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
    /// Replaces share and ceiling. 0 or more; 0 leaves no room. The system section is never truncated: above this limit
    /// the server logs a warning.
    #[must_use]
    pub fn with_max_tokens(mut self, max_tokens: i32) -> Self {
        self.max_tokens = Some(max_tokens);
        self
    }

    /// Sets `top_k`.
    ///
    /// Replaces the number of items (turns, for the working section). 0 or more. At most 20 chunks are retrieved
    /// (setting documents_top_k_max).
    #[must_use]
    pub fn with_top_k(mut self, top_k: i32) -> Self {
        self.top_k = Some(top_k);
        self
    }

    /// Sets `min_tokens`.
    ///
    /// The lower bound for reductions of the section. 0 or more; absent means 0.
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
    /// 0: no automatic pruning. Otherwise the window is pruned to 80 % of this number when it exceeds it, so that the
    /// prefix stays stable for many turns.
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
    /// Update the rolling summary before automatic pruning, as with Prune. No effect without automatic pruning. The
    /// background task summarises sessions regardless of this field (setting summary_every_messages).
    #[must_use]
    pub fn with_summarize(mut self, summarize: bool) -> Self {
        self.summarize = summarize;
        self
    }

    /// Sets `model`.
    ///
    /// The model of the session, which determines tokenizer and budget. Empty: the server's default tokenizer. "short",
    /// "normal" and "long" mean budgets of 4,000, 16,000 and 32,000 tokens with the default tokenizer.
    #[must_use]
    pub fn with_model(mut self, model: impl Into<String>) -> Self {
        self.model = model.into();
        self
    }

    /// Sets `retention`.
    ///
    /// What is kept, and for how long. Absent in a session's policy: the namespace's; absent there, too: the settings
    /// retention_*. Only the admin role sets, replaces or removes it if roles are configured.
    #[must_use]
    pub fn with_retention(mut self, retention: Retention) -> Self {
        self.retention = Some(retention);
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
    /// Replaces the previous policy as a whole. Absent: the default is restored.
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
    /// The user's message. Required, not empty.
    #[must_use]
    pub fn with_user_message(mut self, user_message: impl Into<String>) -> Self {
        self.user_message = user_message.into();
        self
    }

    /// Sets `assistant_message`.
    ///
    /// The assistant's reply. Required, not empty.
    #[must_use]
    pub fn with_assistant_message(mut self, assistant_message: impl Into<String>) -> Self {
        self.assistant_message = assistant_message.into();
        self
    }

    /// Sets `interaction_id`.
    ///
    /// The idempotency key of the turn. The two messages get the ids "\<interaction_id>/user" and
    /// "\<interaction_id>/assistant", which count against the 256 bytes of an id. Empty: made by the server.
    #[must_use]
    pub fn with_interaction_id(mut self, interaction_id: impl Into<String>) -> Self {
        self.interaction_id = interaction_id.into();
        self
    }

    /// Sets `create_time`.
    ///
    /// Applies to both messages. Set by the server when absent.
    #[must_use]
    pub fn with_create_time(mut self, create_time: impl Into<Timestamp>) -> Self {
        self.create_time = Some(create_time.into());
        self
    }

    /// Sets `metadata`.
    ///
    /// Metadata of both messages: at most 16 KiB, 8 levels deep.
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
    /// Quality of the exchange, 0 to 10. Applies to both messages.
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
    /// Optional. A user other than the session's owner is rejected.
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
    /// The maximum tokens of the summary, by the server's default tokenizer. 0 means 400 (setting summary_budget).
    /// Values above 10,000 are lowered to 10,000. A summary that covers all messages already is shortened if necessary,
    /// never extended.
    #[must_use]
    pub fn with_max_tokens(mut self, max_tokens: i32) -> Self {
        self.max_tokens = max_tokens;
        self
    }
}

impl Summary {
    /// Sets `id`.
    ///
    /// Generated by the server.
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
    /// Tokens of the text, by the server's default tokenizer; at most 400 by default (setting summary_budget).
    #[must_use]
    pub fn with_tokens(mut self, tokens: i32) -> Self {
        self.tokens = tokens;
        self
    }

    /// Sets `first_sequence`.
    ///
    /// The oldest message that the summary covers.
    #[must_use]
    pub fn with_first_sequence(mut self, first_sequence: i64) -> Self {
        self.first_sequence = first_sequence;
        self
    }

    /// Sets `last_sequence`.
    ///
    /// The newest message that the summary covers, inclusive.
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
    /// The provider's id, 1 to 256 bytes. Need not be unique in the session.
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
    /// The arguments as the model wrote them. Stored as text, whether or not it is valid JSON.
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
    /// Empty: all users.
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
    /// Empty: from now on. Otherwise the cursor of the last received event; the events since then come first.
    #[must_use]
    pub fn with_cursor(mut self, cursor: impl Into<String>) -> Self {
        self.cursor = cursor.into();
        self
    }
}
