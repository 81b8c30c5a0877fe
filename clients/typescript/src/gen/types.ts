// Made by generate.mjs out of the contract; do not edit.

import type { JsonObject } from "@bufbuild/protobuf";

export type { JsonObject, JsonValue } from "@bufbuild/protobuf";

/**
 * The author of a message.
 * - `"unspecified"`: Not a role: INVALID_ARGUMENT wherever a role is required.
 * - `"system"`: Instructions to the model. Belongs to no turn, and is never pruned.
 * - `"user"`: The user, a person or a program. A user message starts a turn.
 * - `"assistant"`: The model: its text, its tool calls, or both.
 * - `"tool"`: The result of one tool call of an earlier assistant message.
 */
export type Role = "unspecified" | "system" | "user" | "assistant" | "tool";

/**
 * The set of messages that a request covers.
 * - `"unspecified"`: "user" if the request or the session has a user, else "session".
 * - `"session"`: This session only.
 * - `"user"`: All sessions of the user in this namespace.
 * - `"namespace"`: All users of the namespace. Requires the admin role if roles are configured, else
 * PERMISSION_DENIED with reason PERMISSION_DENIED.
 */
export type Scope = "unspecified" | "session" | "user" | "namespace";

/**
 * The sections of a context. The limits given here are the defaults at a budget of 8,000 tokens and scale with the
 * budget. Tokens that a section does not use go to the working section, up to its own maximum.
 * - `"unspecified"`: Not a section: INVALID_ARGUMENT in a request.
 * - `"system"`: The system prompt. 1,000 tokens, a soft limit: counted in full and never truncated.
 * - `"profile"`: The caller's profile text. 2,000 tokens; truncated at the end of a sentence.
 * - `"facts"`: Facts about the user. 200 tokens, 8 facts, pinned facts first. Selected facts are not removed
 * later.
 * - `"hints"`: Style hints from the user's patterns. 100 tokens.
 * - `"summary"`: The rolling summary of the session. 400 tokens.
 * - `"documents"`: Document chunks, from the caller and from retrieval, best first. 800 tokens, 3 chunks.
 * - `"episodic"`: Earlier messages, retrieved for the query. 400 tokens, 3 items.
 * - `"artifacts"`: Tool artifacts that are relevant to the query. 200 tokens, 3 artifacts. Facts, hints, summary
 * and artifacts together never exceed 800 tokens.
 * - `"working"`: The conversation in whole turns; the newest are kept first. The remaining budget, at most 4,000
 * tokens, 10 turns.
 * - `"tool_schemas"`: The caller's tool schemas: counted, not rendered.
 * - `"output_reserve"`: The reserve for the model's output: counted, not rendered.
 * - `"framing"`: Role markers, headings and wrappers of all sections together.
 */
export type Section =
    | "unspecified"
    | "system"
    | "profile"
    | "facts"
    | "hints"
    | "summary"
    | "documents"
    | "episodic"
    | "artifacts"
    | "working"
    | "tool_schemas"
    | "output_reserve"
    | "framing";

/**
 * Why an item is included or rejected.
 * - `"unspecified"`: Never sent.
 * - `"included"`: Included unchanged.
 * - `"shortened"`: Included, truncated at a boundary to fit its section.
 * - `"over_section"`: Rejected: it exceeds the limit of its section.
 * - `"over_total"`: Rejected: the whole context exceeded maxTokens.
 * - `"beyond_top_k"`: Rejected: enough items with a higher score were found.
 * - `"below_threshold"`: Rejected: its score is below the threshold (setting similarity_threshold).
 * - `"low_quality"`: Rejected: its evaluation score is too low (setting episodic_min_quality).
 * - `"duplicate"`: Rejected: a near-duplicate of an included item, or an earlier occurrence of the query.
 * - `"in_window"`: Rejected: the working section contains it already.
 * - `"expired"`: Rejected: it has expired.
 * - `"disabled"`: Rejected: the request disabled the section.
 */
export type Inclusion =
    | "unspecified"
    | "included"
    | "shortened"
    | "over_section"
    | "over_total"
    | "beyond_top_k"
    | "below_threshold"
    | "low_quality"
    | "duplicate"
    | "in_window"
    | "expired"
    | "disabled";

/**
 * A component that was unavailable. The response was made without it.
 * - `"unspecified"`: Never sent.
 * - `"index_unavailable"`: The index is not open or disabled (setting index): only the newest 2,000 messages of
 * the scope were ranked.
 * - `"embedder_unavailable"`: The query or recent messages have no vector: ranked by keywords only.
 * - `"deadline"`: The deadline left no time for retrieval.
 * - `"stale"`: Background tasks lag: facts or the summary may be out of date. In Search: the unindexed part of the
 * log was too long to scan, so the newest messages may be missing.
 */
export type Degradation = "unspecified" | "index_unavailable" | "embedder_unavailable" | "deadline" | "stale";

/**
 * The subject of a fact.
 * - `"unspecified"`: Not a type: INVALID_ARGUMENT in PutFacts.
 * - `"user_profile"`: Identity of the user: name, company, role, place.
 * - `"interest"`: An interest of the user. A key may have several current values.
 * - `"preference"`: A preference of the user.
 * - `"action_item"`: A task to be done. A key may have several current values.
 * - `"sentiment"`: The user's sentiment about something.
 * - `"question"`: A question that the user asked and may return to. A key may have several current values.
 * - `"domain"`: The domain of the conversation.
 */
export type FactType =
    | "unspecified"
    | "user_profile"
    | "interest"
    | "preference"
    | "action_item"
    | "sentiment"
    | "question"
    | "domain";

/**
 * How a query is matched.
 *
 * A word is a run of letters and digits in any script, compared without case. English words are stemmed (walk,
 * walks and walking are equal). Arabic and Hebrew vowel marks are ignored. In Chinese, Japanese, Korean, Thai,
 * Lao, Khmer and Burmese, which do not separate words, every character and every pair of adjacent characters is a
 * word. So any part of a sentence finds it, and messages with the characters in sequence rank before messages with
 * only some of them. Stop words (the, is, what, you ...) count only if the query has no other words. A word that
 * is the name of a speaker (Message.name) is compared with speakers and not with texts, unless the query has no
 * other words. Of a long query, the first 64 distinct words count (for scripts without word boundaries, the first
 * 64 pairs).
 * - `"unspecified"`: Hybrid.
 * - `"substring"`: The query as a substring of the content, case-insensitive, newest first. Every score is 1, and
 * `scores` is absent.
 * - `"keyword"`: Keywords, ranked by BM25 over the scope. Finds messages with at least one of the words. Messages
 * that contain every word of the query exactly as written come first.
 * - `"semantic"`: Meaning: the score is the cosine of the query's vector and the message's vector, so a minScore
 * means the same for every query. Finds messages whose cosine is above 0.
 * - `"hybrid"`: Keywords and meaning combined with a message's neighbours, its speaker and its session
 * (ScoreParts). Finds messages that match by any of these signals. Messages that contain every word of the query
 * exactly as written, stop words included, come first regardless of the other signals. The settings rank_* are the
 * weights of the signals.
 */
export type SearchMode = "unspecified" | "substring" | "keyword" | "semantic" | "hybrid";

/**
 * Selects the messages that pruning keeps. Every strategy keeps all system messages, keeps tool calls together
 * with their results, and keeps the newest minMessages.
 * - `"unspecified"`: Recency.
 * - `"recency"`: System messages and as many of the newest messages as fit.
 * - `"turns"`: System messages and as many of the newest whole turns as fit.
 * - `"window"`: System messages and the newest `window` messages, regardless of tokens.
 * - `"importance"`: Recency combined with importance: metadata, evaluation score, the user's questions and recent
 * tool results. Prune also uses relevance to the newest turn; a policy does not.
 */
export type PruneStrategy = "unspecified" | "recency" | "turns" | "window" | "importance";

/**
 * The kind of an event.
 * - `"unspecified"`: Never sent.
 * - `"added"`: A message was added; `id` is the message's.
 * - `"pruned"`: Messages were pruned; `sequence` is the newest of them.
 * - `"cleared"`: The session was cleared.
 * - `"annotated"`: A score or metadata was set; `id` is the message's.
 * - `"indexed"`: The index contains all messages through `sequence`.
 * - `"fact"`: A fact was stored, superseded or deleted; `id` is the fact's.
 * - `"summary"`: The rolling summary was updated through `sequence`; `id` is the summary's.
 * - `"forgotten"`: A message, a session or a user was erased; `id` is the message's if it was a message.
 */
export type EventKind =
    | "unspecified"
    | "added"
    | "pruned"
    | "cleared"
    | "annotated"
    | "indexed"
    | "fact"
    | "summary"
    | "forgotten";

/** The acknowledgement of a durable message. */
export interface AddResponse {
    /** The id from the request, or the id that the server generated. */
    messageId: string;
    /** The message's sequence number in the session. */
    sequence: number;
    /** The message's tokens, by the server's default tokenizer. */
    tokens: number;
    /**
     * The id existed with the same role, content, name, tool calls and toolCallId. Nothing was added, and this
     * response repeats the first one.
     */
    duplicate: boolean;
    /** Set only if the request sets `returnSession`. */
    session?: SessionStats;
}

/**
 * Statistics of a session. `tokens` and the counts cover the messages that are not pruned. All zero for an unknown
 * session.
 */
export interface SessionStats {
    /** Messages in the window. */
    messageCount: number;
    /** Pruned messages: outside the window, still found by Search and episodic retrieval. */
    prunedCount: number;
    /** Tokens of the messages in the window, by the server's default tokenizer or by the model that Count named. */
    tokens: number;
    /** Messages in the window, by role. Adds up to messageCount. */
    countByRole?: RoleNumbers;
    /** Tokens in the window, by role. Adds up to tokens. */
    tokensByRole?: RoleNumbers;
    /**
     * The highest assigned sequence; 0 for an unknown session. Clear does not reset it, so it can serve as
     * expectedSequence.
     */
    lastSequence: number;
    /** The budget of the session's policy or of the model, in tokens; 0 if there is none. */
    budgetTokens: number;
    /**
     * The used share of budgetTokens: 0.5 is half, more than 1 is over budget. 0 without a budget. Counted with
     * the tokenizer of the budget, which may differ from that of `tokens`: the policy's model, or the default
     * tokenizer for a policy without a model, or the model in CountRequest if the policy sets no budget.
     */
    budgetUsed: number;
}

/** One number for each role. */
export interface RoleNumbers {
    /** Of system messages. */
    system: number;
    /** Of user messages. */
    user: number;
    /** Of assistant messages. */
    assistant: number;
    /** Of tool messages. */
    tool: number;
}

/** The acknowledgement of the whole batch. */
export interface AddBatchResponse {
    /** In the order of the request. */
    results: Added[];
    /** The session after the batch. */
    session?: SessionStats;
}

/** The result for one message. */
export interface Added {
    /** The id from the request, or the id that the server generated. */
    messageId: string;
    /** The message's sequence number in the session. */
    sequence: number;
    /** The message's tokens, by the server's default tokenizer. */
    tokens: number;
    /** The message existed already. Nothing was added, and this result repeats the first one. */
    duplicate: boolean;
}

/** The acknowledgement of one message of a stream. */
export interface AddStreamResponse {
    /** The result for the request at the same position in the stream. */
    result?: Added;
}

/** The acknowledgement of both messages. */
export interface StoreInteractionResponse {
    /** The user's, then the assistant's. */
    results: Added[];
    /** The session after the turn. */
    session?: SessionStats;
}

/** The annotated message. */
export interface AnnotateResponse {
    /** The current state. */
    message?: Message;
}

/**
 * One message of a conversation. Every text must be valid UTF-8. A whole message may have at most 1 MiB (setting
 * max_message_bytes), else RESOURCE_EXHAUSTED with reason TOO_LARGE.
 */
export interface Message {
    /**
     * Unique in its session, 1 to 256 bytes without control characters. Empty in a request: the client makes a
     * UUIDv7. The id is the idempotency key: a second message with the same id, role, content, name, tool calls
     * and toolCallId is reported as a duplicate and changes nothing; with a different body it is ALREADY_EXISTS,
     * reason ID_CONFLICT.
     */
    id: string;
    /** Required. */
    role: Role;
    /**
     * Plain text; the text of special tokens is treated as plain text. May be empty only for an assistant message
     * with tool calls.
     */
    content: string;
    /**
     * The speaker, in a conversation with several. A query that contains the name ranks the speaker's messages
     * higher.
     */
    name: string;
    /** Assistant messages only. Several calls in one message are parallel calls. */
    toolCalls: ToolCall[];
    /**
     * Tool messages only: the id of the call. If empty, the tool message is stored without a call and is pruned
     * with its neighbours.
     */
    toolCallId: string;
    /** When the message was written. Set by the server when absent. */
    createTime?: string;
    /** At most 16 KiB, 8 levels deep. Numbers are doubles, as in JSON. */
    metadata?: JsonObject;
    /**
     * Quality of the exchange, 0 to 10. Usually set later, with Annotate. Absent means not rated, which differs
     * from 0: the quality filter of episodic retrieval applies only to messages with a score.
     */
    evaluationScore?: number;
    /** Output only. 1, 2, 3 ... in each session, in commit order; never reused, not even after Clear. */
    sequence: number;
    /**
     * Output only. Tokens of content, tool calls and role marker, as a provider counts them, by the server's
     * default tokenizer.
     */
    tokens: number;
    /** The assistant's reasoning. Stored, not searched, and rendered into a context only with includeReasoning. */
    reasoning: string;
    /**
     * Input only: the message's vector from the caller's own embedder. Must have the configured dimensions
     * (setting embedder_dimensions) and finite numbers, else INVALID_ARGUMENT. Need not be normalised. Empty: the
     * server embeds the content and the tool calls.
     */
    vector: number[];
    /**
     * Output only: this message was composed by the sidecar (a memory block, a shortened tool result), not stored.
     * The original of a shortened tool result stays stored and searchable.
     */
    synthetic: boolean;
}

/**
 * One tool call by the assistant. Providers reuse ids, so a result belongs to the nearest earlier open call with
 * its id. A call and its results form an exchange, which is never split: all of it is in the window, or none of
 * it. A result that arrives after its call was pruned returns the call to the window. A call without a result is
 * open.
 */
export interface ToolCall {
    /** The provider's id, 1 to 256 bytes. Need not be unique in the session. */
    id: string;
    /** The tool's name, 1 to 256 bytes. */
    name: string;
    /** The arguments as the model wrote them. Stored as text, whether or not it is valid JSON. */
    argumentsJson: string;
}

/** One page. */
export interface GetAllResponse {
    /** Oldest first. */
    messages: Message[];
    /** Empty on the last page. A page also ends at 3 MiB. */
    nextPageToken: string;
}

/** The newest messages. */
export interface GetRecentResponse {
    /** Oldest first. */
    messages: Message[];
    /** Fewer messages than requested, because of maxTokens or the limit of 3 MiB. GetAll returns the rest. */
    truncated: boolean;
}

/** The messages of the role. */
export interface GetByRoleResponse {
    /** Oldest first. */
    messages: Message[];
    /** Older messages were omitted because of the limit of 3 MiB. GetAll returns them. */
    truncated: boolean;
}

/** One page of hits. */
export interface SearchResponse {
    /** Best first; newest first in the substring mode. */
    hits: SearchHit[];
    /**
     * Empty on the last page, which may end with the last candidate (SearchRequest.limit). A page also ends at 3
     * MiB. The next pages show the state at this page.
     */
    nextPageToken: string;
    /**
     * The components that were unavailable. Always empty in the substring mode, which needs neither index nor
     * vectors.
     */
    degraded: Degradation[];
}

/** One message that matches. */
export interface SearchHit {
    /** As it is stored. */
    message?: Message;
    /** The message's session. */
    sessionId: string;
    /**
     * Above 0, at most 1. Comparable within the pages of one search, in the semantic mode also between searches.
     * Equal scores are ordered newest first. In the keyword and hybrid modes, if any message contains every word
     * of the query exactly as written, those messages score 0.5 or more, and all others less.
     */
    score: number;
    /** The parts of the score; they add up to it. Absent in the substring mode. */
    scores?: ScoreParts;
}

/**
 * The weighted contributions of the ranking signals. They add up to the score, except for rounding.
 *
 * In the hybrid ranking each signal is divided by its maximum over the messages (or chunks) that the request
 * admits, multiplied by its weight (settings rank_*), and the sum is scaled to 0 to 1. A signal that is 0 for all
 * of them gets no weight. If some contain every word of the query exactly as written, all sums are scaled to 0 to
 * 0.5, and those get 0.5 more. In the keyword mode the whole score is `keyword`; in the semantic mode the whole
 * score is `semantic`, the cosine.
 */
export interface ScoreParts {
    /**
     * Keyword match of the message itself (BM25), plus 0.5 if it contains every word of the query exactly as
     * written.
     */
    keyword: number;
    /** Semantic similarity of the message itself (the cosine of the vectors, 0 if negative). */
    semantic: number;
    /**
     * Keyword and semantic match of the message with the two before and the two after it in its session (or
     * document), with decreasing weight by distance; and the keyword match of the question directly before it.
     */
    neighbours: number;
    /** The query names the speaker (Message.name). */
    speaker: number;
    /** The best score by the signals above within the same session (or document). */
    session: number;
    /** Recency. Always 0 in Search and SearchDocuments, which do not use it. */
    recency: number;
}

/** The statistics of the session. */
export interface CountResponse {
    /** All zero for an unknown session. */
    stats?: SessionStats;
}

/** The result of pruning, or of a dry run. */
export interface PruneResponse {
    /** Messages that left the window. */
    removedCount: number;
    /** At most the first 1,000, oldest first. */
    removedIds: string[];
    /** Tokens of the window before. */
    tokensBefore: number;
    /** Tokens of the window after. */
    tokensAfter: number;
    /** Messages in the window after. */
    remainingCount: number;
    /** The messages that must be kept exceed maxTokens. */
    overBudget: boolean;
    /** Tool messages that were shortened because of `overflow`, oldest first. */
    shortenedIds: string[];
    /**
     * The summary that covers the pruned messages (GetSummary). Empty if none was requested, nothing was pruned,
     * or the pruned messages have no text to summarise.
     */
    summaryId: string;
}

/** The number of erased messages. */
export interface ClearResponse {
    /** Erased messages, pruned messages included. */
    removedCount: number;
}

/** The context and its receipt. */
export interface BuildContextResponse {
    /**
     * Ready to send, in order: one system message with the content that changes rarely, the conversation, one
     * system message with the content retrieved for this turn, and the newest user message with the messages after
     * it. Messages that the sidecar composed have `synthetic` set.
     */
    messages: Message[];
    /** The memory sections as one text, for callers that place it themselves. */
    memoryText: string;
    /** Equals the sum of usedTokens over the receipt's sections; never more than maxTokens. */
    totalTokens: number;
    /** The limit that was applied: the request's or the default. */
    maxTokens: number;
    /** The included and the rejected items, with reasons. */
    receipt?: Receipt;
    /**
     * The number of leading messages that stay the same in the next turn, unless facts, the summary or the window
     * change.
     */
    stablePrefixCount: number;
    /** Lower-case hex SHA-256 over role, name, content and tool calls of those messages. */
    stablePrefixSha256: string;
    /** The components that were unavailable. Empty if none. */
    degraded: Degradation[];
}

/** The receipt of a context. */
export interface Receipt {
    /** All sections. Their usedTokens add up to totalTokens. */
    sections: SectionReceipt[];
    /** For example "o200k_base", or "chars/4 x 1.08". */
    tokenizer: string;
    /** The tokenizer is the model's own, so the counts are exact and not estimates. */
    exact: boolean;
    /** The query that was used for retrieval. */
    query: string;
}

/** The receipt of one section. */
export interface SectionReceipt {
    /** The section. */
    section: Section;
    /** Its limit in this context; 0 if it has no limit of its own. */
    limitTokens: number;
    /** Tokens used, without framing. */
    usedTokens: number;
    /** Included items in order; with `debug` also rejected items. */
    items: ItemReceipt[];
    /** The number of rejected items, listed or not. */
    leftOutCount: number;
}

/** The receipt of one candidate item. */
export interface ItemReceipt {
    /** The id of the message, fact, summary, artifact or chunk. */
    id: string;
    /** All messages of the item, if it consists of messages. */
    messageIds: string[];
    /** The session of the item; empty for an item without a session. */
    sessionId: string;
    /** Tokens of the item as rendered; for a rejected item, the tokens it would have used. */
    tokens: number;
    /** The item is in the context, whole or shortened. */
    included: boolean;
    /** The reason for inclusion or rejection. */
    reason: Inclusion;
    /** 0 to 1, comparable within one section; 0 for unranked items. */
    score: number;
    /** The parts of the score. */
    scores?: ScoreParts;
    /** The first 120 characters. */
    preview: string;
}

/** The resulting correction. */
export interface ReportUsageResponse {
    /**
     * The factor for later estimates of this model, between 0.5 and 2. Always 1 for a model with an exact
     * tokenizer.
     */
    factor: number;
}

/** One page of sessions. */
export interface ListSessionsResponse {
    /** The most recently active first. A session that is written to between two pages moves to the first page. */
    sessions: Session[];
    /** Empty: that was the last page. */
    nextPageToken: string;
}

/** One session. */
export interface Session {
    /** The namespace. */
    namespace: string;
    /** The owner. Empty until a request names a user. */
    userId: string;
    /** The id, unique in the namespace. */
    sessionId: string;
    /** Time of the first write. */
    createTime?: string;
    /** Time of the last write. */
    lastActive?: string;
    /** Counts and tokens. */
    stats?: SessionStats;
    /** The session's own policy, else the namespace's default. */
    policy?: SessionPolicy;
    /**
     * The last sequence that each background task has processed durably, keyed by task: "episodic" (the index),
     * "semantic.facts", "summaries" and "procedural" (patterns). A task whose watermark is stats.lastSequence has
     * no work left in the session. For "summaries" this means that every due summary is made, not that the summary
     * covers every message. "episodic" is absent without an index and until the index is open.
     */
    watermarks: Record<string, number>;
}

/** Policy for automatic pruning and summaries of a session. */
export interface SessionPolicy {
    /**
     * 0: no automatic pruning. Otherwise the window is pruned to 80 % of this number when it exceeds it, so that
     * the prefix stays stable for many turns.
     */
    autoPruneTokens: number;
    /** For automatic pruning. Unspecified: recency. */
    strategy: PruneStrategy;
    /**
     * Update the rolling summary before automatic pruning, as with Prune. No effect without automatic pruning. The
     * background task summarises sessions regardless of this field (setting summary_every_messages).
     */
    summarize: boolean;
    /**
     * The model of the session, which determines tokenizer and budget. Empty: the server's default tokenizer.
     * "short", "normal" and "long" mean budgets of 4,000, 16,000 and 32,000 tokens with the default tokenizer.
     */
    model: string;
}

/** The session. */
export interface GetSessionResponse {
    /** Absent for an unknown session. */
    session?: Session;
}

/** The policy in force. */
export interface SetPolicyResponse {
    /** The current state. */
    policy?: SessionPolicy;
}

/** The result of an erasure. */
export interface DeleteSessionResponse {
    /** Counts per layer. */
    receipt?: ErasureReceipt;
}

/**
 * Counts per layer of erased items, or in a dry run of the items that would be erased. Items that stay with the
 * user are not counted. The user's patterns are not counted either; they are recomputed from the remaining
 * conversations.
 */
export interface ErasureReceipt {
    /** Messages, pruned messages included. */
    messages: number;
    /**
     * Rows of the index: one for each message and for each document chunk, indexed already or not. 0 without an
     * index.
     */
    indexRows: number;
    /** Facts that come from erased messages only, superseded facts included. */
    facts: number;
    /** Rolling summaries. */
    summaries: number;
    /** Artifacts, including those of offloaded messages. */
    artifacts: number;
    /** Documents, with all their chunks. */
    documents: number;
    /** Sessions. */
    sessions: number;
    /** This is a dry run: nothing was erased. */
    dryRun: boolean;
}

/** The result of an erasure. */
export interface ForgetMessageResponse {
    /** Counts per layer. */
    receipt?: ErasureReceipt;
}

/** The result of an erasure. */
export interface ForgetUserResponse {
    /** Counts per layer; all zero for an unknown user. */
    receipt?: ErasureReceipt;
}

/** One record of the archive. */
export interface ExportResponse {
    /** The record. */
    record?: ArchiveRecord;
    /** Pass it to a new Export to resume after this record. */
    cursor: string;
}

/** One record of an archive. */
export interface ArchiveRecord {
    /** Empty for a record of the namespace. */
    userId: string;
    /** Empty for a record of the user or of the namespace. */
    sessionId: string;
    /** A message, in sequence order. */
    message?: Message;
    /** A fact, current or superseded. */
    fact?: Fact;
    /** A rolling summary. */
    summary?: Summary;
    /** A tool artifact. */
    artifact?: Artifact;
    /** A document with its text. Import makes its chunks again. */
    document?: Document;
    /** The policy of the session; without sessionId, of the namespace. */
    policy?: SessionPolicy;
    /** The message is pruned. */
    pruned: boolean;
}

/** One fact about a user. */
export interface Fact {
    /** Output only. */
    id: string;
    /** Required. */
    type: FactType;
    /**
     * For example "name", "company", "likes". A key has one current value, except for the types interest, action
     * item and question. Required, 1 to 256 bytes without control characters.
     */
    key: string;
    /** The value. Required, not only white space, at most 16 KiB. */
    value: string;
    /** 0 to 1. 0 in PutFacts means unspecified and is stored as 1. */
    confidence: number;
    /** Start of validity. Absent in PutFacts: extractedAt. */
    validFrom?: string;
    /** Output only; set when the fact is superseded. */
    validUntil?: string;
    /** Time of the first observation. Absent in PutFacts: now, or lastUpdated if that is earlier. */
    extractedAt?: string;
    /** Time of the last observation. Absent in PutFacts: now. */
    lastUpdated?: string;
    /** The session of the first observation. Empty in PutFacts: the request's sessionId. */
    sessionId: string;
    /**
     * The messages of the first observation, in that session; at most 100. DeleteSession erases the fact together
     * with these messages; Clear keeps it. A fact that was observed in another session since is erased with that
     * session. A fact stored by a caller without messages is erased with no session.
     */
    sourceMessageIds: string[];
    /** "client", "rules" or the model's name. Output only. */
    origin: string;
    /** Always in the context, before other facts. */
    pinned: boolean;
}

/** A rolling summary of a range of messages. The messages stay stored. */
export interface Summary {
    /** Generated by the server. */
    id: string;
    /** The summary. */
    text: string;
    /** Tokens of the text, by the server's default tokenizer; at most 400 by default (setting summary_budget). */
    tokens: number;
    /** The oldest message that the summary covers. */
    firstSequence: number;
    /** The newest message that the summary covers, inclusive. */
    lastSequence: number;
    /** When it was made. */
    createTime?: string;
    /** "extractive" or the model's name. */
    origin: string;
}

/**
 * A compact tool result, such as a snippet of a web search.
 *
 * DeleteSession erases artifacts. Clear erases the artifacts of offloaded messages and keeps the others.
 */
export interface Artifact {
    /**
     * Unique in its session. Empty in a request: made by the client; for an offloaded message, derived from the
     * message. A stored artifact with the same id is replaced.
     */
    id: string;
    /** The origin: a tool's name, a URL. At most 1,024 bytes. Empty for an offloaded message: the message's name. */
    source: string;
    /**
     * The text, at most 1 MiB (setting max_message_bytes). Required, unless a message is offloaded: then it must
     * be empty, and the server copies the message's whole content.
     */
    content: string;
    /** Set by the server when absent. Unchanged as long as the content is unchanged. */
    createTime?: string;
    /**
     * After this time the artifact is neither listed nor put into a context. Must be after createTime. Absent:
     * never expires.
     */
    expireTime?: string;
    /** At most 16 KiB, 8 levels deep. */
    metadata?: JsonObject;
    /** Output only. Tokens of the content, by the server's default tokenizer. */
    tokens: number;
    /** Output only. The offloaded tool message. Empty for other artifacts. */
    messageId: string;
}

/**
 * A text for retrieval, stored in chunks.
 *
 * A chunk is a span of the text of at most 300 tokens (setting chunk_size), counted exactly. It ends at the last
 * paragraph boundary in its second half, else at the last line, sentence or word boundary. A code block that fits
 * is not split, and a heading stays with the text that follows it. A chunk starts with an overlap: as many whole
 * sentences or lines from the end of the previous chunk as fit into 50 tokens (setting chunk_overlap). After a
 * change of these settings, a document is chunked again when it is stored again.
 *
 * A document is visible to its owner only: the session if the request names one, else the user if it names one,
 * else the whole namespace. The same id with another owner is another document. DeleteSession erases a session's
 * documents; Clear keeps them.
 */
export interface Document {
    /**
     * Required, 1 to 256 bytes without control characters. Chosen by the caller. A stored document with the same
     * id is replaced.
     */
    id: string;
    /** A display title, not searched. Optional, at most 1,024 bytes. */
    title: string;
    /** Input only. Required, not only white space, at most 3 MiB (setting max_document_bytes). */
    text: string;
    /** The origin: a file name, a URL. At most 1,024 bytes. */
    source: string;
    /** At most 16 KiB, 8 levels deep. */
    metadata?: JsonObject;
    /**
     * When the document was written or stored. Set by the server when absent. Unchanged as long as the text is
     * unchanged.
     */
    createTime?: string;
    /** Output only. The number of chunks. */
    chunkCount: number;
    /** Output only. Tokens of the text, by the server's default tokenizer. */
    tokens: number;
    /** Output only. Lower-case hex SHA-256 of the text. */
    sha256: string;
}

/** The progress of an import. */
export interface ImportResponse {
    /** Durable records of this stream. */
    durableCount: number;
    /** The number of those that existed already. */
    duplicateCount: number;
}

/** One event. */
export interface WatchResponse {
    /** The kind of an event. */
    kind: EventKind;
    /** The owner of the session; empty for a session without a user. */
    userId: string;
    /** The session; empty for an event of the user or of the namespace. */
    sessionId: string;
    /** The sequence, as the kind says; 0 if none applies. */
    sequence: number;
    /** The id, as the kind says; empty if none applies. */
    id: string;
    /** Pass it to a new Watch to resume after this event. */
    cursor: string;
    /** Time of the event. */
    time?: string;
}

/** The stored facts. */
export interface PutFactsResponse {
    /** The facts as stored, in the order of the request. */
    facts: Fact[];
}

/** One page of facts. */
export interface ListFactsResponse {
    /** Ordered by confidence (highest first), then lastUpdated (newest first), then id. */
    facts: Fact[];
    /** Empty on the last page. A page also ends at 3 MiB. */
    nextPageToken: string;
}

/** Empty: the fact is erased. */
export type DeleteFactResponse = Record<string, never>;

/** The stored artifact. */
export interface PutArtifactResponse {
    /** The current state. */
    artifact?: Artifact;
}

/** One page of artifacts. */
export interface ListArtifactsResponse {
    /**
     * Newest first. A page may be short or empty because artifacts have expired; nextPageToken says whether there
     * are more.
     */
    artifacts: Artifact[];
    /** Empty on the last page. A page also ends at 3 MiB. */
    nextPageToken: string;
}

/** Empty: the artifact is erased. */
export type DeleteArtifactResponse = Record<string, never>;

/** The stored document. */
export interface PutDocumentResponse {
    /** Without its text. */
    document?: Document;
    /** The document existed with the same text, title, source and metadata. Nothing was changed. */
    unchanged: boolean;
}

/** One page of documents. */
export interface ListDocumentsResponse {
    /** Without their text, ordered by id. */
    documents: Document[];
    /** Empty on the last page. A page also ends at 3 MiB. */
    nextPageToken: string;
}

/** The result of erasing a document. */
export interface DeleteDocumentResponse {
    /** The number of erased chunks. */
    removedChunks: number;
}

/** The chunks that match. */
export interface SearchDocumentsResponse {
    /** Best first, up to 3 MiB together. */
    hits: DocumentHit[];
    /** The components that were unavailable. */
    degraded: Degradation[];
}

/** One chunk that matches. */
export interface DocumentHit {
    /** The chunk. */
    chunk?: DocumentChunk;
    /**
     * Above 0, at most 1; comparable within one response. If any chunk contains every word of the query exactly as
     * written, those chunks score 0.5 or more, and all others less.
     */
    score: number;
    /** The parts of the score; they add up to it. */
    scores?: ScoreParts;
}

/** One chunk of a document. */
export interface DocumentChunk {
    /** The chunk's document. */
    documentId: string;
    /** The chunk's position in the document: 0, 1, 2 ... */
    chunkIndex: number;
    /** The text of the chunk as in the document, including the overlap with the previous chunk. */
    text: string;
    /** Tokens of the chunk, by the server's default tokenizer. */
    tokens: number;
}

/** The summary. */
export interface GetSummaryResponse {
    /** Absent when there is none yet. */
    summary?: Summary;
}

/** The summary. */
export interface SummarizeResponse {
    /** Absent when there is nothing to summarise. */
    summary?: Summary;
}

/** The patterns of a user. Empty without sufficient evidence. */
export interface GetPatternsResponse {
    /** Most evidence first. */
    patterns: Pattern[];
    /** The number of conversations analysed. */
    conversations: number;
    /** Mean number of turns in a conversation. */
    meanTurns: number;
    /** "concise", "detailed" or empty. */
    answerLength: string;
    /** "technical", "general" or empty. */
    technicalDepth: string;
    /** "daily", "weekly", "occasional" or empty. */
    frequency: string;
    /** The patterns as text, as rendered into a context. */
    hints: string;
    /** When the patterns were computed; absent if they never were. */
    computedAt?: string;
}

/** One recurring pattern in a user's conversations. */
export interface Pattern {
    /** For example "common_question", "topic", "question_kind", "active_hour". */
    kind: string;
    /** The question, the topic, the hour. */
    value: string;
    /** The number of observations. */
    evidence: number;
}

/** One message to append. */
export interface AddRequest {
    /** Empty means "default". */
    namespace?: string | undefined;
    /**
     * Optional. The first request that names a user makes that user the owner of the session. A later request that
     * names another user is rejected.
     */
    userId?: string | undefined;
    /** Required. The first message creates the session. */
    sessionId: string;
    /**
     * Unique in its session, 1 to 256 bytes without control characters. Empty in a request: the client makes a
     * UUIDv7. The id is the idempotency key: a second message with the same id, role, content, name, tool calls
     * and toolCallId is reported as a duplicate and changes nothing; with a different body it is ALREADY_EXISTS,
     * reason ID_CONFLICT.
     */
    messageId?: string | undefined;
    /** Required. */
    role: Role;
    /**
     * Plain text; the text of special tokens is treated as plain text. May be empty only for an assistant message
     * with tool calls.
     */
    content?: string | undefined;
    /**
     * The speaker, in a conversation with several. A query that contains the name ranks the speaker's messages
     * higher.
     */
    name?: string | undefined;
    /** Assistant messages only. Several calls in one message are parallel calls. */
    toolCalls?: readonly ToolCallInput[] | undefined;
    /**
     * Tool messages only: the id of the call. If empty, the tool message is stored without a call and is pruned
     * with its neighbours.
     */
    toolCallId?: string | undefined;
    /** When the message was written. Set by the server when absent. */
    createTime?: Date | string | undefined;
    /** At most 16 KiB, 8 levels deep. Numbers are doubles, as in JSON. */
    metadata?: JsonObject | undefined;
    /**
     * Quality of the exchange, 0 to 10. Usually set later, with Annotate. Absent means not rated, which differs
     * from 0: the quality filter of episodic retrieval applies only to messages with a score.
     */
    evaluationScore?: number | undefined;
    /** The assistant's reasoning. Stored, not searched, and rendered into a context only with includeReasoning. */
    reasoning?: string | undefined;
    /**
     * Input only: the message's vector from the caller's own embedder. Must have the configured dimensions
     * (setting embedder_dimensions) and finite numbers, else INVALID_ARGUMENT. Need not be normalised. Empty: the
     * server embeds the content and the tool calls.
     */
    vector?: readonly number[] | undefined;
    /**
     * The session's last sequence that the caller expects, 0 for a new session. Compared after the duplicate
     * check; a mismatch is ABORTED. Absent: not compared.
     */
    expectedSequence?: number | undefined;
    /** Return `session` as well. */
    returnSession?: boolean | undefined;
}

/**
 * One message of a conversation. Every text must be valid UTF-8. A whole message may have at most 1 MiB (setting
 * max_message_bytes), else RESOURCE_EXHAUSTED with reason TOO_LARGE.
 */
export interface MessageInput {
    /**
     * Unique in its session, 1 to 256 bytes without control characters. Empty in a request: the client makes a
     * UUIDv7. The id is the idempotency key: a second message with the same id, role, content, name, tool calls
     * and toolCallId is reported as a duplicate and changes nothing; with a different body it is ALREADY_EXISTS,
     * reason ID_CONFLICT.
     */
    id?: string | undefined;
    /** Required. */
    role: Role;
    /**
     * Plain text; the text of special tokens is treated as plain text. May be empty only for an assistant message
     * with tool calls.
     */
    content?: string | undefined;
    /**
     * The speaker, in a conversation with several. A query that contains the name ranks the speaker's messages
     * higher.
     */
    name?: string | undefined;
    /** Assistant messages only. Several calls in one message are parallel calls. */
    toolCalls?: readonly ToolCallInput[] | undefined;
    /**
     * Tool messages only: the id of the call. If empty, the tool message is stored without a call and is pruned
     * with its neighbours.
     */
    toolCallId?: string | undefined;
    /** When the message was written. Set by the server when absent. */
    createTime?: Date | string | undefined;
    /** At most 16 KiB, 8 levels deep. Numbers are doubles, as in JSON. */
    metadata?: JsonObject | undefined;
    /**
     * Quality of the exchange, 0 to 10. Usually set later, with Annotate. Absent means not rated, which differs
     * from 0: the quality filter of episodic retrieval applies only to messages with a score.
     */
    evaluationScore?: number | undefined;
    /** The assistant's reasoning. Stored, not searched, and rendered into a context only with includeReasoning. */
    reasoning?: string | undefined;
    /**
     * Input only: the message's vector from the caller's own embedder. Must have the configured dimensions
     * (setting embedder_dimensions) and finite numbers, else INVALID_ARGUMENT. Need not be normalised. Empty: the
     * server embeds the content and the tool calls.
     */
    vector?: readonly number[] | undefined;
}

/**
 * One tool call by the assistant. Providers reuse ids, so a result belongs to the nearest earlier open call with
 * its id. A call and its results form an exchange, which is never split: all of it is in the window, or none of
 * it. A result that arrives after its call was pruned returns the call to the window. A call without a result is
 * open.
 */
export interface ToolCallInput {
    /** The provider's id, 1 to 256 bytes. Need not be unique in the session. */
    id?: string | undefined;
    /** The tool's name, 1 to 256 bytes. */
    name?: string | undefined;
    /** The arguments as the model wrote them. Stored as text, whether or not it is valid JSON. */
    argumentsJson?: string | undefined;
}

/** Messages of one session to append together. */
export interface AddBatchRequest {
    /** Empty means "default". */
    namespace?: string | undefined;
    /** Optional, as in AddRequest. */
    userId?: string | undefined;
    /** Required. */
    sessionId: string;
    /**
     * In conversation order; 1 to 10,000 messages, at most 4 MiB together. Messages that exist already are
     * reported as duplicates, the others are appended. One conflict or one invalid message rejects the batch.
     */
    messages?: readonly MessageInput[] | undefined;
    /** As in AddRequest; compared once, before the first new message. */
    expectedSequence?: number | undefined;
}

/** One message of a stream. */
export interface AddStreamRequest {
    /** Empty means "default". */
    namespace?: string | undefined;
    /** Optional, as in AddRequest. */
    userId?: string | undefined;
    /** Required. */
    sessionId: string;
    /**
     * Unique in its session, 1 to 256 bytes without control characters. Empty in a request: the client makes a
     * UUIDv7. The id is the idempotency key: a second message with the same id, role, content, name, tool calls
     * and toolCallId is reported as a duplicate and changes nothing; with a different body it is ALREADY_EXISTS,
     * reason ID_CONFLICT.
     */
    messageId?: string | undefined;
    /** Required. */
    role: Role;
    /**
     * Plain text; the text of special tokens is treated as plain text. May be empty only for an assistant message
     * with tool calls.
     */
    content?: string | undefined;
    /**
     * The speaker, in a conversation with several. A query that contains the name ranks the speaker's messages
     * higher.
     */
    name?: string | undefined;
    /** Assistant messages only. Several calls in one message are parallel calls. */
    toolCalls?: readonly ToolCallInput[] | undefined;
    /**
     * Tool messages only: the id of the call. If empty, the tool message is stored without a call and is pruned
     * with its neighbours.
     */
    toolCallId?: string | undefined;
    /** When the message was written. Set by the server when absent. */
    createTime?: Date | string | undefined;
    /** At most 16 KiB, 8 levels deep. Numbers are doubles, as in JSON. */
    metadata?: JsonObject | undefined;
    /**
     * Quality of the exchange, 0 to 10. Usually set later, with Annotate. Absent means not rated, which differs
     * from 0: the quality filter of episodic retrieval applies only to messages with a score.
     */
    evaluationScore?: number | undefined;
    /** The assistant's reasoning. Stored, not searched, and rendered into a context only with includeReasoning. */
    reasoning?: string | undefined;
    /**
     * Input only: the message's vector from the caller's own embedder. Must have the configured dimensions
     * (setting embedder_dimensions) and finite numbers, else INVALID_ARGUMENT. Need not be normalised. Empty: the
     * server embeds the content and the tool calls.
     */
    vector?: readonly number[] | undefined;
}

/** One user message and the assistant's reply. */
export interface StoreInteractionRequest {
    /** Empty means "default". */
    namespace?: string | undefined;
    /** Optional, as in AddRequest. */
    userId?: string | undefined;
    /** Required. */
    sessionId: string;
    /** The user's message. Required, not empty. */
    userMessage: string;
    /** The assistant's reply. Required, not empty. */
    assistantMessage: string;
    /**
     * The idempotency key of the turn. The two messages get the ids "<interactionId>/user" and
     * "<interactionId>/assistant", which count against the 256 bytes of an id. Empty: made by the client.
     */
    interactionId?: string | undefined;
    /** Applies to both messages. Set by the server when absent. */
    createTime?: Date | string | undefined;
    /** Metadata of both messages: at most 16 KiB, 8 levels deep. */
    metadata?: JsonObject | undefined;
    /** Quality of the exchange, 0 to 10. Applies to both messages. */
    evaluationScore?: number | undefined;
}

/** The score and metadata to set on a stored message. */
export interface AnnotateRequest {
    /** Empty means "default". */
    namespace?: string | undefined;
    /** Optional. A user other than the session's owner is rejected. */
    userId?: string | undefined;
    /** Required. */
    sessionId: string;
    /** Required. May name a pruned message. */
    messageId: string;
    /** 0 to 10. Absent: unchanged. */
    evaluationScore?: number | undefined;
    /**
     * Merged into the message's metadata. A null value removes its key. The merged metadata may have at most 16
     * KiB.
     */
    metadata?: JsonObject | undefined;
}

/** Selects the messages of a session. */
export interface GetAllRequest {
    /** Empty means "default". */
    namespace?: string | undefined;
    /** Optional. A user other than the session's owner is rejected. */
    userId?: string | undefined;
    /** Required. */
    sessionId: string;
    /** 0 means 100. Values above 1,000 are lowered to 1,000. */
    pageSize?: number | undefined;
    /** The nextPageToken of the previous page. Empty: the first page. Opaque, bound to the request's other fields. */
    pageToken?: string | undefined;
    /** Include pruned messages, in sequence order. */
    includePruned?: boolean | undefined;
    /** Every given key must be equal. Absent or empty: no filter. */
    metadataFilter?: JsonObject | undefined;
}

/** Selects the newest messages of the window. */
export interface GetRecentRequest {
    /** Empty means "default". */
    namespace?: string | undefined;
    /** Optional. A user other than the session's owner is rejected. */
    userId?: string | undefined;
    /** Required. */
    sessionId: string;
    /**
     * 1 to 10,000; larger values are lowered to 10,000. No default: 0 is INVALID_ARGUMENT. If the window has fewer
     * messages, all of them are returned.
     */
    n: number;
    /** 0: no limit. Whole messages only; the newest are kept first. */
    maxTokens?: number | undefined;
}

/** Selects the messages of one role. */
export interface GetByRoleRequest {
    /** Empty means "default". */
    namespace?: string | undefined;
    /** Optional. A user other than the session's owner is rejected. */
    userId?: string | undefined;
    /** Required. */
    sessionId: string;
    /** Required; "unspecified" is INVALID_ARGUMENT. */
    role?: Role | undefined;
    /** 0: no limit. Otherwise the newest are kept. */
    limit?: number | undefined;
}

/** The query, the scope and the filters of a search. */
export interface SearchRequest {
    /** Empty means "default". */
    namespace?: string | undefined;
    /** The user, for "user". Optional if sessionId is given; the default is the session's owner. */
    userId?: string | undefined;
    /** The session, for "session". Optional if userId is given. */
    sessionId?: string | undefined;
    /** The text to search for. Required, unless queryVector is given and the mode is semantic. */
    query?: string | undefined;
    /** Unspecified: hybrid. */
    mode?: SearchMode | undefined;
    /** Unspecified: "user" if a user is known, else "session". */
    scope?: Scope | undefined;
    /**
     * 0 means 10. Values above 1,000 are lowered to 1,000.
     *
     * In the scope of a whole namespace, and for a user whose messages do not fit into memory (setting
     * episodic_memory_bytes) and that user's sessions, the search ranks candidates instead of all messages: the
     * best 200 by keywords and the nearest 200 by vector (`limit` of each if it is above 200), and their
     * neighbours. Paging ends with the last candidate; a larger limit ranks more. The substring mode has no such
     * bound.
     */
    limit?: number | undefined;
    /**
     * The lowest `score` of a hit, 0 or more. 0: no threshold. A fixed threshold is meaningful in the semantic
     * mode only: in the other modes the best hit scores high even if it matches poorly.
     */
    minScore?: number | undefined;
    /**
     * Empty: all roles. Messages of other roles are not returned, but count as neighbours of hits. The same holds
     * for `after` and `before`.
     */
    roles?: readonly Role[] | undefined;
    /**
     * Every given key must be equal. Absent or empty: no filter. Where the search ranks candidates (`limit`), the
     * filter applies to the candidates only, so it can miss messages that match. In the substring mode it misses
     * none.
     */
    metadataFilter?: JsonObject | undefined;
    /** Only messages with a createTime later than this, in whole microseconds. Absent: no limit. */
    after?: Date | string | undefined;
    /** Only messages with a createTime earlier than this, in whole microseconds. Absent: no limit. */
    before?: Date | string | undefined;
    /**
     * The nextPageToken of the previous page. Empty: the first page. Opaque, bound to the request's other fields.
     * Where the search ranks candidates (`limit`), paging ends with the last candidate.
     */
    pageToken?: string | undefined;
    /**
     * The vector of the query, for the semantic and the hybrid mode. Must have the configured dimensions (setting
     * embedder_dimensions) and finite numbers, else INVALID_ARGUMENT. Need not be normalised. Empty: the server
     * embeds the query.
     */
    queryVector?: readonly number[] | undefined;
}

/** Selects the session to count. */
export interface CountRequest {
    /** Empty means "default". */
    namespace?: string | undefined;
    /** Optional. A user other than the session's owner is rejected. */
    userId?: string | undefined;
    /** Required. */
    sessionId: string;
    /** Count by this model's tokenizer instead of the server's default. */
    model?: string | undefined;
}

/** The budget and the strategy of pruning. */
export interface PruneRequest {
    /** Empty means "default". */
    namespace?: string | undefined;
    /** Optional. A user other than the session's owner is rejected. */
    userId?: string | undefined;
    /** Required. */
    sessionId: string;
    /** The budget in tokens. At least 1, except with the window strategy. No default: 0 is INVALID_ARGUMENT. */
    maxTokens?: number | undefined;
    /** Unspecified: recency. */
    strategy?: PruneStrategy | undefined;
    /** The size of the window strategy, in messages. 0 means 5 (setting prune_window). */
    window?: number | undefined;
    /**
     * The number of newest messages that are kept regardless of the budget. 0 means 2 (setting
     * prune_min_messages).
     */
    minMessages?: number | undefined;
    /** Return the result without changing anything. No summary is made. */
    dryRun?: boolean | undefined;
    /**
     * Update the rolling summary through the newest pruned message before pruning, so that the summary covers
     * every message that leaves the window. Always extractive, never by a configured model, because the caller
     * waits.
     */
    summarize?: boolean | undefined;
    /**
     * The provider rejected the context as too long: shorten the oldest large tool results before pruning. The
     * head and the tail of a result are kept, and the cut is marked. A shortened result is returned with
     * `synthetic` set; the original stays stored and searchable.
     */
    overflow?: boolean | undefined;
    /** Count by this model's tokenizer instead of the server's default. */
    model?: string | undefined;
}

/** Selects the session to clear. */
export interface ClearRequest {
    /** Empty means "default". */
    namespace?: string | undefined;
    /** Optional. A user other than the session's owner is rejected. */
    userId?: string | undefined;
    /** Required. */
    sessionId: string;
}

/** The query, the budget and the content of a context. */
export interface BuildContextRequest {
    /** Empty means "default". */
    namespace?: string | undefined;
    /** Optional. A user other than the session's owner is rejected. */
    userId?: string | undefined;
    /** Required. For an unknown session the context is built from the other sources. */
    sessionId: string;
    /** The query for retrieval. Empty: the newest user message. */
    query?: string | undefined;
    /** Determines tokenizer, calibration and default budget. Optional; for an unknown model tokens are estimated. */
    model?: string | undefined;
    /**
     * The hard limit of the whole context. 0: the model's recommended budget, else 8,000 (setting context_budget).
     * If the mandatory parts (system prompt, selected facts, the last 2 messages with their tool exchanges,
     * schemas, reserve, framing) do not fit, the call is FAILED_PRECONDITION, reason BUDGET_TOO_SMALL, with
     * required_tokens in the metadata.
     */
    maxTokens?: number | undefined;
    /** Empty: the session's system messages. */
    systemPrompt?: string | undefined;
    /** A text about the user, supplied by the caller. Empty: none. */
    profile?: string | undefined;
    /** The tool schemas that the caller sends to the model. Counted as text; neither parsed nor rendered. */
    toolSchemasJson?: string | undefined;
    /** Tokens reserved for the model's output, part of maxTokens. 0 or more; 0: no reserve. */
    reserveOutputTokens?: number | undefined;
    /**
     * Chunks supplied by the caller, best first. They precede retrieved chunks in the documents section. At most
     * 1,000; empty chunks are ignored.
     */
    documents?: readonly string[] | undefined;
    /** Deviations from the defaults, each section at most once. */
    sections?: readonly SectionBudget[] | undefined;
    /**
     * The scope for retrieving messages. Unspecified: "user" if a user is known, else "session". "user" without a
     * user in the request or the session is INVALID_ARGUMENT.
     */
    scope?: Scope | undefined;
    /** Render `query`, which is then required, as the last user message. */
    appendQuery?: boolean | undefined;
    /** List rejected items in the receipt as well. */
    debug?: boolean | undefined;
    /**
     * The vector of the query. Must have the configured dimensions (setting embedder_dimensions) and finite
     * numbers, else INVALID_ARGUMENT. Need not be normalised. Empty: the server embeds the query.
     */
    queryVector?: readonly number[] | undefined;
    /** Render the assistant's reasoning as well. */
    includeReasoning?: boolean | undefined;
}

/** The caller's settings of one section. Absent fields keep their defaults. */
export interface SectionBudget {
    /**
     * Required, and each section at most once. Tool schemas, output reserve and framing have no budget of their
     * own: they are INVALID_ARGUMENT.
     */
    section?: Section | undefined;
    /**
     * Replaces the scaled default limit. 0 or more; 0 leaves no room. The system section is never truncated: above
     * this limit the server logs a warning.
     */
    maxTokens?: number | undefined;
    /**
     * Replaces the default number of items (turns, for the working section). 0 or more. At most 5 chunks are
     * retrieved (setting documents_top_k_max).
     */
    topK?: number | undefined;
    /** The lower bound for reductions of the section. 0 or more; absent means 0. */
    minTokens?: number | undefined;
    /** The section is not filled at all. */
    disabled?: boolean | undefined;
}

/** The tokens that a provider charged for a context. */
export interface ReportUsageRequest {
    /** Empty means "default". */
    namespace?: string | undefined;
    /** Optional. */
    userId?: string | undefined;
    /** Optional. */
    sessionId?: string | undefined;
    /** Required: the model that was called. The server stores the correction under this name. */
    model: string;
    /**
     * The sidecar's count for this context: totalTokens without the reserve, with the factor of that time applied.
     * At least 1.
     */
    estimatedTokens?: number | undefined;
    /** The tokens that the provider charged for the same input. At least 1. */
    actualTokens?: number | undefined;
}

/** Selects the sessions to list. */
export interface ListSessionsRequest {
    /** Empty means "default". */
    namespace?: string | undefined;
    /** Empty: sessions of all users. */
    userId?: string | undefined;
    /** 0 means 100. Values above 1,000 are lowered to 1,000. */
    pageSize?: number | undefined;
    /** The nextPageToken of the previous page. Empty: the first page. Opaque, bound to the request's other fields. */
    pageToken?: string | undefined;
}

/** Selects the session to read. */
export interface GetSessionRequest {
    /** Empty means "default". */
    namespace?: string | undefined;
    /** Optional. A user other than the session's owner is rejected. */
    userId?: string | undefined;
    /** Required. */
    sessionId: string;
}

/** The policy to set. */
export interface SetPolicyRequest {
    /** Empty means "default". */
    namespace?: string | undefined;
    /** Optional, as in AddRequest. */
    userId?: string | undefined;
    /** Empty: the default of the namespace, for sessions without a policy of their own. */
    sessionId?: string | undefined;
    /** Replaces the previous policy as a whole. Absent: the default is restored. */
    policy?: SessionPolicyInput | undefined;
}

/** Policy for automatic pruning and summaries of a session. */
export interface SessionPolicyInput {
    /**
     * 0: no automatic pruning. Otherwise the window is pruned to 80 % of this number when it exceeds it, so that
     * the prefix stays stable for many turns.
     */
    autoPruneTokens?: number | undefined;
    /** For automatic pruning. Unspecified: recency. */
    strategy?: PruneStrategy | undefined;
    /**
     * Update the rolling summary before automatic pruning, as with Prune. No effect without automatic pruning. The
     * background task summarises sessions regardless of this field (setting summary_every_messages).
     */
    summarize?: boolean | undefined;
    /**
     * The model of the session, which determines tokenizer and budget. Empty: the server's default tokenizer.
     * "short", "normal" and "long" mean budgets of 4,000, 16,000 and 32,000 tokens with the default tokenizer.
     */
    model?: string | undefined;
}

/** Selects the session to erase. */
export interface DeleteSessionRequest {
    /** Empty means "default". */
    namespace?: string | undefined;
    /** Optional. A user other than the session's owner is rejected. */
    userId?: string | undefined;
    /** Required. */
    sessionId: string;
    /** Return the counts without erasing anything. */
    dryRun?: boolean | undefined;
}

/** Selects the message to erase. */
export interface ForgetMessageRequest {
    /** Empty means "default". */
    namespace?: string | undefined;
    /** Optional. A user other than the session's owner is rejected. */
    userId?: string | undefined;
    /** Required. */
    sessionId: string;
    /** Required. */
    messageId: string;
    /** Return the counts without erasing anything. */
    dryRun?: boolean | undefined;
}

/** Selects the user to erase. */
export interface ForgetUserRequest {
    /** Empty means "default". */
    namespace?: string | undefined;
    /** Required. */
    userId: string;
    /** Return the counts without erasing anything. */
    dryRun?: boolean | undefined;
}

/** Selects the records to export. */
export interface ExportRequest {
    /** Empty means "default". */
    namespace?: string | undefined;
    /** Empty: no filter. */
    userId?: string | undefined;
    /** Empty: all sessions of the user or of the namespace. */
    sessionId?: string | undefined;
    /** Resume after this cursor. Empty: from the beginning. Opaque, bound to the request's other fields. */
    cursor?: string | undefined;
}

/** One record to store. */
export interface ImportRequest {
    /** Empty means "default". May differ from the exported namespace. */
    namespace?: string | undefined;
    /** Required. */
    record: ArchiveRecordInput;
}

/** One record of an archive. */
export interface ArchiveRecordInput {
    /** Empty for a record of the namespace. */
    userId?: string | undefined;
    /** Empty for a record of the user or of the namespace. */
    sessionId?: string | undefined;
    /** A message, in sequence order. */
    message?: MessageInput | undefined;
    /** A fact, current or superseded. */
    fact?: FactInput | undefined;
    /** A rolling summary. */
    summary?: SummaryInput | undefined;
    /** A tool artifact. */
    artifact?: ArtifactInput | undefined;
    /** A document with its text. Import makes its chunks again. */
    document?: DocumentInput | undefined;
    /** The policy of the session; without sessionId, of the namespace. */
    policy?: SessionPolicyInput | undefined;
    /** The message is pruned. */
    pruned?: boolean | undefined;
}

/** One fact about a user. */
export interface FactInput {
    /** Required. */
    type: FactType;
    /**
     * For example "name", "company", "likes". A key has one current value, except for the types interest, action
     * item and question. Required, 1 to 256 bytes without control characters.
     */
    key: string;
    /** The value. Required, not only white space, at most 16 KiB. */
    value: string;
    /** 0 to 1. 0 in PutFacts means unspecified and is stored as 1. */
    confidence?: number | undefined;
    /** Start of validity. Absent in PutFacts: extractedAt. */
    validFrom?: Date | string | undefined;
    /** Time of the first observation. Absent in PutFacts: now, or lastUpdated if that is earlier. */
    extractedAt?: Date | string | undefined;
    /** Time of the last observation. Absent in PutFacts: now. */
    lastUpdated?: Date | string | undefined;
    /** The session of the first observation. Empty in PutFacts: the request's sessionId. */
    sessionId?: string | undefined;
    /**
     * The messages of the first observation, in that session; at most 100. DeleteSession erases the fact together
     * with these messages; Clear keeps it. A fact that was observed in another session since is erased with that
     * session. A fact stored by a caller without messages is erased with no session.
     */
    sourceMessageIds?: readonly string[] | undefined;
    /** Always in the context, before other facts. */
    pinned?: boolean | undefined;
}

/** A rolling summary of a range of messages. The messages stay stored. */
export interface SummaryInput {
    /** Generated by the server. */
    id?: string | undefined;
    /** The summary. */
    text?: string | undefined;
    /** Tokens of the text, by the server's default tokenizer; at most 400 by default (setting summary_budget). */
    tokens?: number | undefined;
    /** The oldest message that the summary covers. */
    firstSequence?: number | undefined;
    /** The newest message that the summary covers, inclusive. */
    lastSequence?: number | undefined;
    /** When it was made. */
    createTime?: Date | string | undefined;
    /** "extractive" or the model's name. */
    origin?: string | undefined;
}

/**
 * A compact tool result, such as a snippet of a web search.
 *
 * DeleteSession erases artifacts. Clear erases the artifacts of offloaded messages and keeps the others.
 */
export interface ArtifactInput {
    /**
     * Unique in its session. Empty in a request: made by the client; for an offloaded message, derived from the
     * message. A stored artifact with the same id is replaced.
     */
    id?: string | undefined;
    /** The origin: a tool's name, a URL. At most 1,024 bytes. Empty for an offloaded message: the message's name. */
    source?: string | undefined;
    /**
     * The text, at most 1 MiB (setting max_message_bytes). Required, unless a message is offloaded: then it must
     * be empty, and the server copies the message's whole content.
     */
    content?: string | undefined;
    /** Set by the server when absent. Unchanged as long as the content is unchanged. */
    createTime?: Date | string | undefined;
    /**
     * After this time the artifact is neither listed nor put into a context. Must be after createTime. Absent:
     * never expires.
     */
    expireTime?: Date | string | undefined;
    /** At most 16 KiB, 8 levels deep. */
    metadata?: JsonObject | undefined;
}

/**
 * A text for retrieval, stored in chunks.
 *
 * A chunk is a span of the text of at most 300 tokens (setting chunk_size), counted exactly. It ends at the last
 * paragraph boundary in its second half, else at the last line, sentence or word boundary. A code block that fits
 * is not split, and a heading stays with the text that follows it. A chunk starts with an overlap: as many whole
 * sentences or lines from the end of the previous chunk as fit into 50 tokens (setting chunk_overlap). After a
 * change of these settings, a document is chunked again when it is stored again.
 *
 * A document is visible to its owner only: the session if the request names one, else the user if it names one,
 * else the whole namespace. The same id with another owner is another document. DeleteSession erases a session's
 * documents; Clear keeps them.
 */
export interface DocumentInput {
    /**
     * Required, 1 to 256 bytes without control characters. Chosen by the caller. A stored document with the same
     * id is replaced.
     */
    id: string;
    /** A display title, not searched. Optional, at most 1,024 bytes. */
    title?: string | undefined;
    /** Input only. Required, not only white space, at most 3 MiB (setting max_document_bytes). */
    text: string;
    /** The origin: a file name, a URL. At most 1,024 bytes. */
    source?: string | undefined;
    /** At most 16 KiB, 8 levels deep. */
    metadata?: JsonObject | undefined;
    /**
     * When the document was written or stored. Set by the server when absent. Unchanged as long as the text is
     * unchanged.
     */
    createTime?: Date | string | undefined;
}

/** Selects the events to watch. */
export interface WatchRequest {
    /** Empty means "default". */
    namespace?: string | undefined;
    /** Empty: all users. */
    userId?: string | undefined;
    /** Empty: all sessions of the user or of the namespace. */
    sessionId?: string | undefined;
    /** Empty: from now on. Otherwise the cursor of the last received event; the events since then come first. */
    cursor?: string | undefined;
}

/** Facts to store. */
export interface PutFactsRequest {
    /** Empty means "default". */
    namespace?: string | undefined;
    /** The owner of the facts. Optional if sessionId is given; the default is the session's owner. */
    userId?: string | undefined;
    /**
     * The session that the facts come from; for a session without a user, their owner. Need not exist yet.
     * Required if userId is empty.
     */
    sessionId?: string | undefined;
    /** 1 to 1,000, stored atomically and applied in order. */
    facts?: readonly FactInput[] | undefined;
}

/** Selects the facts to read. */
export interface ListFactsRequest {
    /** Empty means "default". */
    namespace?: string | undefined;
    /** The owner of the facts. Optional if sessionId is given; the default is the session's owner. */
    userId?: string | undefined;
    /** The owner of the facts, for a session without a user. */
    sessionId?: string | undefined;
    /** Empty: no filter. */
    types?: readonly FactType[] | undefined;
    /** Include superseded facts. */
    includeHistory?: boolean | undefined;
    /** 0 means 100. Values above 1,000 are lowered to 1,000. */
    pageSize?: number | undefined;
    /** The nextPageToken of the previous page. Empty: the first page. Opaque, bound to the request's other fields. */
    pageToken?: string | undefined;
}

/** Selects the fact to erase. */
export interface DeleteFactRequest {
    /** Empty means "default". */
    namespace?: string | undefined;
    /** The owner of the fact. Optional if sessionId is given; the default is the session's owner. */
    userId?: string | undefined;
    /** The owner of the fact, for a session without a user. */
    sessionId?: string | undefined;
    /** Required. */
    factId: string;
}

/** An artifact to store. */
export interface PutArtifactRequest {
    /** Empty means "default". */
    namespace?: string | undefined;
    /** Optional. A user other than the session's owner is rejected. */
    userId?: string | undefined;
    /** Required. Need not exist yet, unless a message is offloaded. */
    sessionId: string;
    /**
     * Unique in its session. Empty in a request: made by the client; for an offloaded message, derived from the
     * message. A stored artifact with the same id is replaced.
     */
    artifactId?: string | undefined;
    /** The origin: a tool's name, a URL. At most 1,024 bytes. Empty for an offloaded message: the message's name. */
    source?: string | undefined;
    /**
     * The text, at most 1 MiB (setting max_message_bytes). Required, unless a message is offloaded: then it must
     * be empty, and the server copies the message's whole content.
     */
    content?: string | undefined;
    /** Set by the server when absent. Unchanged as long as the content is unchanged. */
    createTime?: Date | string | undefined;
    /**
     * After this time the artifact is neither listed nor put into a context. Must be after createTime. Absent:
     * never expires.
     */
    expireTime?: Date | string | undefined;
    /** At most 16 KiB, 8 levels deep. */
    metadata?: JsonObject | undefined;
    /**
     * Replace this stored tool message in the window by a preview of at most `previewTokens`; the artifact holds
     * the whole content. NOT_FOUND when the session has no such message; INVALID_ARGUMENT when its role is not
     * tool. A message that is not longer than the preview, or that is pruned, stays unchanged. The original stays
     * stored and searchable. Empty: nothing is replaced.
     */
    offloadMessageId?: string | undefined;
    /**
     * Tokens of the preview: its head, its tail, and a line that names the artifact. The line is always included.
     * 0 means 128 (setting overflow_keep_tokens).
     */
    previewTokens?: number | undefined;
}

/** Selects the session of the artifacts. */
export interface ListArtifactsRequest {
    /** Empty means "default". */
    namespace?: string | undefined;
    /** Optional. A user other than the session's owner is rejected. */
    userId?: string | undefined;
    /** Required. */
    sessionId: string;
    /** 0 means 100. Values above 1,000 are lowered to 1,000. */
    pageSize?: number | undefined;
    /** The nextPageToken of the previous page. Empty: the first page. Opaque, bound to the request's other fields. */
    pageToken?: string | undefined;
}

/** Selects the artifact to erase. */
export interface DeleteArtifactRequest {
    /** Empty means "default". */
    namespace?: string | undefined;
    /** Optional. A user other than the session's owner is rejected. */
    userId?: string | undefined;
    /** Required. */
    sessionId: string;
    /** Required. */
    artifactId: string;
}

/** A document to store. */
export interface PutDocumentRequest {
    /** Empty means "default". */
    namespace?: string | undefined;
    /**
     * Without sessionId: visible to this user only. With sessionId: a user other than the session's owner is
     * rejected. With neither: visible to the namespace.
     */
    userId?: string | undefined;
    /** Visible to this session only. Need not exist yet. */
    sessionId?: string | undefined;
    /**
     * Required, 1 to 256 bytes without control characters. Chosen by the caller. A stored document with the same
     * id is replaced.
     */
    documentId: string;
    /** A display title, not searched. Optional, at most 1,024 bytes. */
    title?: string | undefined;
    /** Input only. Required, not only white space, at most 3 MiB (setting max_document_bytes). */
    text: string;
    /** The origin: a file name, a URL. At most 1,024 bytes. */
    source?: string | undefined;
    /** At most 16 KiB, 8 levels deep. */
    metadata?: JsonObject | undefined;
    /**
     * When the document was written or stored. Set by the server when absent. Unchanged as long as the text is
     * unchanged.
     */
    createTime?: Date | string | undefined;
}

/** Selects the owner of the documents. */
export interface ListDocumentsRequest {
    /** Empty means "default". */
    namespace?: string | undefined;
    /**
     * Without sessionId: this user's documents. With sessionId: a user other than the session's owner is rejected.
     * With neither: the namespace's documents.
     */
    userId?: string | undefined;
    /** Only the documents of this session. */
    sessionId?: string | undefined;
    /** 0 means 100. Values above 1,000 are lowered to 1,000. */
    pageSize?: number | undefined;
    /** The nextPageToken of the previous page. Empty: the first page. Opaque, bound to the request's other fields. */
    pageToken?: string | undefined;
}

/** Selects the document to erase. */
export interface DeleteDocumentRequest {
    /** Empty means "default". */
    namespace?: string | undefined;
    /**
     * Without sessionId: the owner of the document. With sessionId: a user other than the session's owner is
     * rejected.
     */
    userId?: string | undefined;
    /** The session that owns the document. With neither userId nor sessionId, the namespace owns it. */
    sessionId?: string | undefined;
    /** Required. */
    documentId: string;
}

/** The query of a document search. */
export interface SearchDocumentsRequest {
    /** Empty means "default". */
    namespace?: string | undefined;
    /**
     * The user's documents are searched in addition to the namespace's. If only sessionId is given, the user is
     * the session's owner.
     */
    userId?: string | undefined;
    /** The session's documents are searched in addition to the namespace's. A session of another user is rejected. */
    sessionId?: string | undefined;
    /** Required. Matched as in the hybrid mode of Search. */
    query: string;
    /** 0 means 3 (setting documents_top_k). Values above 5 are lowered to 5 (setting documents_top_k_max). */
    limit?: number | undefined;
    /** The lowest `score` of a hit, 0 or more. 0: no threshold. */
    minScore?: number | undefined;
}

/** Selects the session of the summary. */
export interface GetSummaryRequest {
    /** Empty means "default". */
    namespace?: string | undefined;
    /** Optional. A user other than the session's owner is rejected. */
    userId?: string | undefined;
    /** Required. */
    sessionId: string;
}

/** The session to summarise and the size of the summary. */
export interface SummarizeRequest {
    /** Empty means "default". */
    namespace?: string | undefined;
    /** Optional. A user other than the session's owner is rejected. */
    userId?: string | undefined;
    /** Required. */
    sessionId: string;
    /**
     * The maximum tokens of the summary, by the server's default tokenizer. 0 means 400 (setting summary_budget).
     * Values above 10,000 are lowered to 10,000. A summary that covers all messages already is shortened if
     * necessary, never extended.
     */
    maxTokens?: number | undefined;
}

/** Selects the owner of the patterns. */
export interface GetPatternsRequest {
    /** Empty means "default". */
    namespace?: string | undefined;
    /** The owner of the patterns. Optional if sessionId is given; the default is the session's owner. */
    userId?: string | undefined;
    /** The owner of the patterns, for a session without a user. Required if userId is empty. */
    sessionId?: string | undefined;
    /**
     * Recompute the patterns now from all conversations, and store them. Otherwise the stored patterns are
     * returned; computedAt is their age (setting patterns_every_conversations).
     */
    refresh?: boolean | undefined;
}
