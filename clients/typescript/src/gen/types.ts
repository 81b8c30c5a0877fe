// Made by generate.mjs out of the contract; do not edit.

import type { JsonObject } from "@bufbuild/protobuf";

export type { JsonObject, JsonValue } from "@bufbuild/protobuf";

/**
 * Who said it.
 * - `"unspecified"`: Not a role: INVALID_ARGUMENT wherever a role is required.
 * - `"system"`: Instructions to the model. Belongs to no turn, and is never pruned.
 * - `"user"`: The person, or whatever stands in for one. A user message begins a turn.
 * - `"assistant"`: The model: its text, its tool calls, or both.
 * - `"tool"`: The result of a tool, answering one call of an earlier assistant message.
 */
export type Role = "unspecified" | "system" | "user" | "assistant" | "tool";

/**
 * Whose memory is meant.
 * - `"unspecified"`: The user's, where the request names one or the session has one; else the session's.
 * - `"session"`: This session only.
 * - `"user"`: All sessions of the user in this namespace.
 * - `"namespace"`: Every user of the namespace; needs the admin role where roles are configured, else
 * PERMISSION_DENIED with reason PERMISSION_DENIED.
 */
export type Scope = "unspecified" | "session" | "user" | "namespace";

/**
 * The parts of a context. The caps named here are the defaults at a budget of 8,000 tokens; they scale with the
 * budget. What one section does not use flows to the working section, up to that section's own maximum.
 * - `"unspecified"`: Not a section: INVALID_ARGUMENT in a request.
 * - `"system"`: The system prompt. 1,000 tokens, soft: counted in full and never cut.
 * - `"profile"`: The profile that the caller gives. 2,000 tokens; cut at a sentence end.
 * - `"facts"`: What is known about the user. 200 tokens, 8 facts: pinned ones first. What is chosen is not reduced
 * later.
 * - `"hints"`: How the user likes to be answered, from patterns with evidence. 100 tokens.
 * - `"summary"`: The rolling summary of the session. 400 tokens.
 * - `"documents"`: Chunks of documents, the caller's and retrieved ones, best first. 800 tokens, 3 chunks.
 * - `"episodic"`: What was said before, retrieved for the query. 400 tokens, 3 items.
 * - `"artifacts"`: Results of tools that matter for the query. 200 tokens, 3 artifacts. Facts, hints, summary and
 * artifacts together never exceed 800 tokens.
 * - `"working"`: The conversation itself, whole turns, newest first to be kept. What is left, at most 4,000
 * tokens, 10 turns.
 * - `"tool_schemas"`: The caller's tool schemas: counted, not rendered.
 * - `"output_reserve"`: What is kept free for the model's answer: counted, not rendered.
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
 * Why an item is in or out.
 * - `"unspecified"`: Never sent.
 * - `"included"`: Included as it is.
 * - `"shortened"`: Included, cut at a boundary to fit its section.
 * - `"over_section"`: Left out: it does not fit its section's cap.
 * - `"over_total"`: Left out: everything together exceeded maxTokens.
 * - `"beyond_top_k"`: Left out: enough better ones were found.
 * - `"below_threshold"`: Left out: its score is below the threshold (setting similarity_threshold).
 * - `"low_quality"`: Left out: its evaluation score is too low (setting episodic_min_quality).
 * - `"duplicate"`: Left out: nearly the same as one that is included, or the same question as the query, asked
 * before.
 * - `"in_window"`: Left out: the working section shows it already.
 * - `"expired"`: Left out: its time is over.
 * - `"disabled"`: Left out: the request disabled the section.
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
 * What was missing; the answer was made from the rest.
 * - `"unspecified"`: Never sent.
 * - `"index_unavailable"`: Retrieval is not there yet, not any more, or off (setting index): only the newest 2,000
 * messages of the scope were ranked.
 * - `"embedder_unavailable"`: No vector for the query or for recent messages: keywords only.
 * - `"deadline"`: The deadline left no time for retrieval.
 * - `"stale"`: Background tasks are behind: facts or the summary may be old. In Search: more was added than it
 * could look through itself before it was indexed, and the newest messages may be missing.
 */
export type Degradation = "unspecified" | "index_unavailable" | "embedder_unavailable" | "deadline" | "stale";

/**
 * What a fact is about.
 * - `"unspecified"`: Not a type: INVALID_ARGUMENT in PutFacts.
 * - `"user_profile"`: Who the user is: name, company, role, place.
 * - `"interest"`: What the user is interested in. A list by nature.
 * - `"preference"`: How the user wants things.
 * - `"action_item"`: What is to be done. A list by nature.
 * - `"sentiment"`: How the user feels about something.
 * - `"question"`: What the user asked and may come back to. A list by nature.
 * - `"domain"`: The field that the conversation is about.
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
 * How a query is compared.
 *
 * Words, wherever a mode speaks of them, are runs of letters and digits in any script, whatever their case;
 * English inflections find each other (walk, walks, walking). Vowel marks of Arabic and Hebrew do not count.
 * Chinese, Japanese, Korean, Thai, Lao, Khmer and Burmese letters are not taken by runs, because words are not
 * written apart there: each character is a word, and so is each pair that stands side by side. So any part of a
 * sentence finds it, and messages with the characters in sequence come before those that have only some of them.
 * Function words (the, is, what, you ...) count only when nothing else is asked. A word that names somebody who
 * spoke (Message.name) is looked for among the speakers and not in the texts, unless nothing else is asked. Of a
 * very long query the first 64 different words count (of characters, the first 64 pairs).
 * - `"unspecified"`: Hybrid.
 * - `"substring"`: The query as a substring of the content, case-insensitive, newest first. Every score is 1,
 * without parts.
 * - `"keyword"`: Words, ranked by BM25 over the scope: rare words count more, and long messages less. Finds
 * messages with at least one of the words; those that have every word of the query exactly as written come first.
 * - `"semantic"`: Meaning: the cosine of the query's vector and the message's, which is the score as it is, so
 * that a minScore means the same for every query. Finds messages whose cosine is above 0.
 * - `"hybrid"`: Words and meaning united, with what stands around a message, who spoke, and what else is in its
 * session (ScoreParts): what only one of them finds surfaces, too. All messages that have every word of the query
 * exactly as written, function words included, come first, however they compare otherwise. The settings rank_* say
 * how much each part counts.
 */
export type SearchMode = "unspecified" | "substring" | "keyword" | "semantic" | "hybrid";

/**
 * What is kept when a session is pruned. Every strategy keeps all system messages, keeps exchanges of tool calls
 * and results whole, and keeps the newest minMessages.
 * - `"unspecified"`: Recency.
 * - `"recency"`: System messages and as many of the newest as fit.
 * - `"turns"`: The same in whole turns.
 * - `"window"`: System messages and the newest `window` messages, whatever their tokens.
 * - `"importance"`: Recency mixed with importance: tags, evaluation score, the user's questions, recent tool
 * results, and, where Prune is called and not a policy, relevance to the newest turn.
 */
export type PruneStrategy = "unspecified" | "recency" | "turns" | "window" | "importance";

/**
 * What happened.
 * - `"unspecified"`: Never sent.
 * - `"added"`: A message was added; `id` is the message's.
 * - `"pruned"`: Messages left the window; `sequence` is the newest of them.
 * - `"cleared"`: The session was emptied.
 * - `"annotated"`: A score or tags were set; `id` is the message's.
 * - `"indexed"`: The index has come up to `sequence`.
 * - `"fact"`: A fact was stored, superseded or deleted; `id` is the fact's.
 * - `"summary"`: The rolling summary was brought up to `sequence`; `id` is the summary's.
 * - `"forgotten"`: A message, a session or a user was erased; `id` is the message's, where it was one.
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

/** The acknowledgement: what it names is durable. */
export interface AddResponse {
    /** The request's, or the one that the server made. */
    messageId: string;
    /** The message's place in the session. */
    sequence: number;
    /** The message's tokens, by the server's default tokenizer. */
    tokens: number;
    /**
     * The id was known with the same role, content, name, tool calls and toolCallId: nothing was added, and this
     * is the first answer again.
     */
    duplicate: boolean;
    /** Only where `returnSession` asked for it. */
    session?: SessionStats;
}

/**
 * Where a session stands. `tokens` and the counts are of the messages that are not pruned. All zero for a session
 * that is not known.
 */
export interface SessionStats {
    /** Messages in the window. */
    messageCount: number;
    /** Messages that were pruned: out of the window, still found by Search and episodic retrieval. */
    prunedCount: number;
    /** Tokens of the messages in the window, by the server's default tokenizer or by the model that Count named. */
    tokens: number;
    /** Messages in the window, by role. Adds up to messageCount. */
    countByRole?: RoleNumbers;
    /** Tokens in the window, by role. Adds up to tokens. */
    tokensByRole?: RoleNumbers;
    /**
     * The newest sequence that was given out; 0 for a session that is not known. It survives Clear, so that it can
     * serve as expectedSequence.
     */
    lastSequence: number;
    /** The session policy's or the model's budget in tokens; 0 when there is none. */
    budgetTokens: number;
    /**
     * The share of budgetTokens in use: 0.5 is half, more than 1 is over budget. 0 when there is no budget. In the
     * tokens that the budget is meant in, whatever `tokens` is counted by: those of the policy's model, of the
     * default tokenizer for a policy without one, and of the model that Count named where the policy says neither.
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

/** What became of one message. */
export interface Added {
    /** The request's, or the one that the server made. */
    messageId: string;
    /** The message's place in the session. */
    sequence: number;
    /** The message's tokens, by the server's default tokenizer. */
    tokens: number;
    /** It was there already: nothing was added, and this is the first answer again. */
    duplicate: boolean;
}

/** The acknowledgement of one message of a stream. */
export interface AddStreamResponse {
    /** Of the request at the same place in the stream. */
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
    /** As it is now. */
    message?: Message;
}

/**
 * One message of a conversation. Content and every other text must be valid UTF-8. All of a message together may
 * have at most 1 MiB (setting max_message_bytes), else RESOURCE_EXHAUSTED with reason TOO_LARGE.
 */
export interface Message {
    /**
     * Unique in its session, 1 to 256 bytes without control characters. Empty in a request: the client makes a
     * UUIDv7. Given: the idempotency key. The same id with the same role, content, name, tool calls and toolCallId
     * again is answered as a duplicate and changes nothing; with another body it is ALREADY_EXISTS, reason
     * ID_CONFLICT.
     */
    id: string;
    /** Required. */
    role: Role;
    /** Plain text; special-token text in it is text. May be empty only for an assistant message with tool calls. */
    content: string;
    /** The speaker, where there are several. A query that names the speaker ranks what they said higher. */
    name: string;
    /** Assistant messages only. Several calls in one message are parallel calls. */
    toolCalls: ToolCall[];
    /**
     * Tool messages only: the call that this answers. A tool message may lack it; it is then an answer without a
     * call, which is stored and leaves the window with its neighbours.
     */
    toolCallId: string;
    /** When it was said. Set by the server when absent. */
    createTime?: string;
    /** Tags: at most 16 KiB, 8 levels deep. Numbers are doubles, as in JSON. */
    metadata?: JsonObject;
    /**
     * How good the exchange was, 0 to 10. Usually set later, with Annotate. Absent means not judged, which is not
     * 0: the quality filter of episodic retrieval looks only at messages that have a score.
     */
    evaluationScore?: number;
    /**
     * Output only. 1, 2, 3 ... in each session, in the order of acknowledgement; never reused, not even after
     * Clear.
     */
    sequence: number;
    /**
     * Output only. As a provider counts it: content, tool calls and role marker, by the server's default
     * tokenizer.
     */
    tokens: number;
    /** The assistant's thinking. Stored and searchable on request; never rendered into a context unless asked for. */
    reasoning: string;
    /**
     * Input only: a vector for this message from the caller's own embedder, of the configured dimensions (setting
     * embedder_dimensions), each number finite, else INVALID_ARGUMENT. Need not have length 1. Empty: the server
     * embeds the content and the tool calls itself.
     */
    vector: number[];
    /**
     * Output only: this message was composed by the sidecar (a memory block, a shortened tool result), not stored.
     * The original of a shortened tool result stays stored and searchable.
     */
    synthetic: boolean;
}

/**
 * One call of a tool by the assistant. Providers reuse ids, so an answer belongs to the nearest earlier open call
 * with its id. A call and its answers form an exchange, which is never split: they are in the window together or
 * out of it together. An answer that arrives after its call was pruned brings the call back into the window. A
 * call without an answer is open.
 */
export interface ToolCall {
    /** As the provider gave it, 1 to 256 bytes. Need not be unique in the session. */
    id: string;
    /** The tool's name, 1 to 256 bytes. */
    name: string;
    /** The arguments as the model wrote them; stored as text, valid JSON or not. */
    argumentsJson: string;
}

/** One page. */
export interface GetAllResponse {
    /** Oldest first. */
    messages: Message[];
    /** Empty: that was the last page. A page is also cut at 3 MiB. */
    nextPageToken: string;
}

/** The newest messages. */
export interface GetRecentResponse {
    /** Oldest first. */
    messages: Message[];
    /** Fewer than asked for, because of maxTokens or 3 MiB; GetAll has the rest. */
    truncated: boolean;
}

/** The messages of the role. */
export interface GetByRoleResponse {
    /** Oldest first. */
    messages: Message[];
    /** Older ones were left out, because of 3 MiB; GetAll has them. */
    truncated: boolean;
}

/** One page of hits. */
export interface SearchResponse {
    /** Best first; newest first in the substring mode. */
    hits: SearchHit[];
    /**
     * Empty: that was the last page, which may be the last of the candidates (SearchRequest.limit). A page is also
     * cut at 3 MiB. The pages that follow are as of this one.
     */
    nextPageToken: string;
    /**
     * What was missing when this was answered; never anything in the substring mode, which needs neither index nor
     * vectors.
     */
    degraded: Degradation[];
}

/** One message that was found. */
export interface SearchHit {
    /** As it is stored. */
    message?: Message;
    /** The session that it belongs to. */
    sessionId: string;
    /**
     * Above 0, at most 1. Comparable within the pages of one search, in the semantic mode also between searches.
     * Equal scores stand newest first. From 0.5 on in the keyword and hybrid modes where any message has every
     * word of the query exactly as written, and only for those.
     */
    score: number;
    /** What the score is made of: the parts add up to it. Absent in the substring mode. */
    scores?: ScoreParts;
}

/**
 * The parts of a score: what each contributed, weighted. They add up to the score, but for rounding.
 *
 * In the hybrid ranking each signal is divided by its largest among the messages (or chunks) that the request
 * admits, multiplied by its weight (settings rank_*), and the sum is brought to 0 to 1; a signal that says nothing
 * about any of them takes no share. Where some have every word of the query exactly as written, all sums are
 * brought to 0 to 0.5, and those get 0.5 more. In the keyword mode all of the score is `keyword`; in the semantic
 * mode all of it is `semantic`, the cosine as it is.
 */
export interface ScoreParts {
    /** How well its own words match (BM25), and 0.5 where it has every word of the query exactly as written. */
    keyword: number;
    /** How close its own meaning is (the cosine of the vectors, 0 where that is negative). */
    semantic: number;
    /**
     * The words and the meaning of it together with the two before and the two after it in its session (or
     * document), each step away counting less; and the words of the question that it stands right behind.
     */
    neighbours: number;
    /** The query names the speaker (Message.name). */
    speaker: number;
    /**
     * How well the best of its session (or document) scores by all of the above: where one thing was found, more
     * may be.
     */
    session: number;
    /** How new it is. Always 0 in Search and SearchDocuments, which do not ask for it. */
    recency: number;
}

/** The figures of the session. */
export interface CountResponse {
    /** All zero for an unknown session. */
    stats?: SessionStats;
}

/** What was pruned, or in a dry run would be. */
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
    /** What must be kept exceeds maxTokens. */
    overBudget: boolean;
    /** Tool messages that were shortened because of `overflow`, oldest first. */
    shortenedIds: string[];
    /**
     * The summary that covers what was pruned (GetSummary); empty where none was asked for, nothing was pruned, or
     * there was nothing in words to summarise.
     */
    summaryId: string;
}

/** How much was erased. */
export interface ClearResponse {
    /** Messages erased, pruned ones included. */
    removedCount: number;
}

/** What the model should see, and an account of it. */
export interface BuildContextResponse {
    /**
     * Ready to send, in order: one system message with what changes rarely, the conversation, one system message
     * with what was retrieved for this turn, and the newest user message with what follows it. What the sidecar
     * composed has synthetic set.
     */
    messages: Message[];
    /** The memory sections as one text, for callers who place it themselves. */
    memoryText: string;
    /** Equals the sum of usedTokens over the receipt's sections; never more than maxTokens. */
    totalTokens: number;
    /** The limit that was applied: the request's, or the default that took its place. */
    maxTokens: number;
    /** What went in, what was left out, and why. */
    receipt?: Receipt;
    /** How many leading messages will be the same next turn unless something is learned, summarised or pruned. */
    stablePrefixCount: number;
    /** Lower-case hex SHA-256 over role, name, content and tool calls of those messages. */
    stablePrefixSha256: string;
    /** Empty when all is well. */
    degraded: Degradation[];
}

/** The account of a context. */
export interface Receipt {
    /** Their usedTokens add up to totalTokens. */
    sections: SectionReceipt[];
    /** For example "o200k_base", or "chars/4 x 1.08". */
    tokenizer: string;
    /** The tokenizer is the model's own, so the counts are no estimates. */
    exact: boolean;
    /** What was retrieved for. */
    query: string;
}

/** The account of one section. */
export interface SectionReceipt {
    /** Which one. */
    section: Section;
    /** Its cap in this context; 0 where it has none of its own. */
    limitTokens: number;
    /** What it uses, without framing. */
    usedTokens: number;
    /** What is included, in order; with `debug` also what was left out. */
    items: ItemReceipt[];
    /** How many were considered and left out, listed or not. */
    leftOutCount: number;
}

/** One item that was considered. */
export interface ItemReceipt {
    /** The message, fact, summary, artifact or chunk. */
    id: string;
    /** All messages that the item shows, where it shows messages. */
    messageIds: string[];
    /** Where it comes from; empty for what belongs to no session. */
    sessionId: string;
    /** Its tokens as rendered; for an item that was left out, what it would have cost. */
    tokens: number;
    /** It is in the context, whole or shortened. */
    included: boolean;
    /** Why. */
    reason: Inclusion;
    /** 0 to 1, comparable within one section; 0 for what is not ranked. */
    score: number;
    /** What the score is made of. */
    scores?: ScoreParts;
    /** The first 120 characters. */
    preview: string;
}

/** The correction that follows from it. */
export interface ReportUsageResponse {
    /**
     * What estimates for this model are multiplied by from now on, between 0.5 and 2. Exact counters stay exact:
     * it is 1 for them.
     */
    factor: number;
}

/** One page of sessions. */
export interface ListSessionsResponse {
    /** Newest activity first. A session that is written to while its pages are turned moves to the first page. */
    sessions: Session[];
    /** Empty: that was the last page. */
    nextPageToken: string;
}

/** One session. */
export interface Session {
    /** Where it lives. */
    namespace: string;
    /** Whose it is; empty when no request has named a user yet. */
    userId: string;
    /** Its name, unique in the namespace. */
    sessionId: string;
    /** When it came into being. */
    createTime?: string;
    /** When something was last written to it. */
    lastActive?: string;
    /** Its counts and tokens. */
    stats?: SessionStats;
    /** Its own policy, else the namespace's default. */
    policy?: SessionPolicy;
    /**
     * Up to which sequence each background task has come, keyed by its name: "episodic" (the index),
     * "semantic.facts", "summaries" and "procedural" (patterns). At stats.lastSequence it has nothing left to do
     * in the session; of "summaries", that says that what was due is made, and not that the summary speaks for
     * every message. What a task does again after a crash it has not come to. "episodic" is missing without an
     * index, and until that is open.
     */
    watermarks: Record<string, number>;
}

/** How a session keeps itself in bounds. */
export interface SessionPolicy {
    /**
     * 0: never prune by itself. Else, when the window passes this many tokens, it is pruned to 80 % of them, so
     * that the prefix stays the same for many turns and not for one.
     */
    autoPruneTokens: number;
    /** For automatic pruning. Unspecified: recency. */
    strategy: PruneStrategy;
    /**
     * Bring the rolling summary up to what is pruned first, as with Prune. Of no effect where nothing is pruned
     * automatically; a session is summarised in the background all the same (setting summary_every_messages).
     */
    summarize: boolean;
    /**
     * The model that the session talks to, for counting and its budget. Empty: the server's default tokenizer.
     * "short", "normal" and "long" stand for budgets of 4,000, 16,000 and 32,000 tokens with the default
     * tokenizer.
     */
    model: string;
}

/** The session. */
export interface GetSessionResponse {
    /** Absent when the session is not known. */
    session?: Session;
}

/** The policy in force. */
export interface SetPolicyResponse {
    /** As it is now. */
    policy?: SessionPolicy;
}

/** What was erased. */
export interface DeleteSessionResponse {
    /** By layer. */
    receipt?: ErasureReceipt;
}

/**
 * How much of each layer was, or in a dry run would be, erased. What stays with the user is not counted, and
 * neither are the user's patterns, which are made anew of what is left.
 */
export interface ErasureReceipt {
    /** Messages, pruned ones included. */
    messages: number;
    /**
     * Rows of the index of episodes and documents: one for each message and for each chunk of a document, whether
     * the index has come to it yet or not. 0 where no index is kept.
     */
    indexRows: number;
    /** Facts that came from what is erased alone, superseded ones included. */
    facts: number;
    /** Rolling summaries. */
    summaries: number;
    /** Tool artifacts, offloaded messages included. */
    artifacts: number;
    /** Documents, with all their chunks. */
    documents: number;
    /** Whole sessions. */
    sessions: number;
    /** Nothing was changed; the figures say what would be. */
    dryRun: boolean;
}

/** What was erased. */
export interface ForgetMessageResponse {
    /** By layer. */
    receipt?: ErasureReceipt;
}

/** What was erased. */
export interface ForgetUserResponse {
    /** By layer; all zero for a user of whom nothing is stored. */
    receipt?: ErasureReceipt;
}

/** One record of the archive. */
export interface ExportResponse {
    /** The record. */
    record?: ArchiveRecord;
    /** Where to go on after this record. */
    cursor: string;
}

/** One line of an archive. */
export interface ArchiveRecord {
    /** Empty for what belongs to the namespace. */
    userId: string;
    /** Empty for what belongs to the user or to the namespace. */
    sessionId: string;
    /** A message, at its place in the session. */
    message?: Message;
    /** A fact, current or superseded. */
    fact?: Fact;
    /** A rolling summary. */
    summary?: Summary;
    /** A tool artifact. */
    artifact?: Artifact;
    /** A document with its text; its chunks are made anew on import. */
    document?: Document;
    /** The policy of the session, or without sessionId of the namespace. */
    policy?: SessionPolicy;
    /** The message is out of the window. */
    pruned: boolean;
}

/** Something known about a user. */
export interface Fact {
    /** Output only. */
    id: string;
    /** Required. */
    type: FactType;
    /**
     * For example "name", "company", "likes". A key holds one current value, unless the fact's type is a list by
     * nature (interests, action items, questions). Required, 1 to 256 bytes without control characters.
     */
    key: string;
    /** What is known. Required, not only white space, at most 16 KiB. */
    value: string;
    /** 0 to 1. 0 in PutFacts means that nothing is said about it, and is taken as 1. */
    confidence: number;
    /** Since when it holds. Absent in PutFacts: since it was first seen. */
    validFrom?: string;
    /** Output only; set when superseded. */
    validUntil?: string;
    /** When it was first seen. Absent in PutFacts: now, or lastUpdated if that is earlier. */
    extractedAt?: string;
    /** When it was last seen. Absent in PutFacts: now. */
    lastUpdated?: string;
    /** The session that it first came from. Absent in PutFacts: the request's. */
    sessionId: string;
    /**
     * The messages that it first came from, in that session; at most 100. When all of them are erased, so is the
     * fact: with DeleteSession, while Clear leaves it. Seen in another session since, it goes with that one; told
     * by a caller without messages, with none.
     */
    sourceMessageIds: string[];
    /** "client", "rules" or the model's name. Output only. */
    origin: string;
    /** Always in the context, before the others. */
    pinned: boolean;
}

/** A rolling summary: what was said in a range of messages. The messages themselves stay. */
export interface Summary {
    /** Made by the server. */
    id: string;
    /** The summary. */
    text: string;
    /** Of the text, by the server's default tokenizer; at most 400 by default (setting summary_budget). */
    tokens: number;
    /** The messages it covers. */
    firstSequence: number;
    /** The newest message that it covers, itself included. */
    lastSequence: number;
    /** When it was made. */
    createTime?: string;
    /** "extractive" or the model's name. */
    origin: string;
}

/**
 * A compact result of a tool: a snippet of a web search, say.
 *
 * Artifacts are erased with DeleteSession. Clear erases those that hold a message, and leaves the others.
 */
export interface Artifact {
    /**
     * Unique in its session. Empty in a request: made by the client; of an offloaded message always the same.
     * Given: putting it again replaces it.
     */
    id: string;
    /** Where it came from: a tool's name, a URL. At most 1,024 bytes. Of an offloaded message, its name if empty. */
    source: string;
    /**
     * The text, at most 1 MiB (setting max_message_bytes). Required, unless a message is offloaded: then it must
     * be empty, and becomes the message's whole content.
     */
    content: string;
    /** Set by the server when absent. As long as the content stays the same, so does this. */
    createTime?: string;
    /** After this it is neither listed nor put into a context. Must be after createTime. Absent: never. */
    expireTime?: string;
    /** Tags: at most 16 KiB, 8 levels deep. */
    metadata?: JsonObject;
    /** Output only. Of the content, by the server's default tokenizer. */
    tokens: number;
    /** Output only. The tool message whose large result this is, if it was offloaded. */
    messageId: string;
}

/**
 * A text to retrieve from, kept in chunks.
 *
 * A chunk is a stretch of the text of at most 300 tokens (setting chunk_size), counted exactly. It ends at the
 * last paragraph in its second half, else at the last line, else sentence, else word. A code block that fits is
 * kept whole, and a heading stays with what follows it. A chunk begins with the end of the one before: as many
 * whole sentences or lines of it as fit into 50 tokens (setting chunk_overlap), so that what stands on the border
 * is found. After a change of these settings a document is cut anew when it is put again.
 *
 * A document is put for somebody, and found by nobody else: for a session where the request names one, else for a
 * user where it names one, else for everybody in the namespace. The same id put for another is another document. A
 * session's documents are erased with DeleteSession; Clear leaves them.
 */
export interface Document {
    /** Required, 1 to 256 bytes without control characters. Chosen by the caller; putting it again replaces it. */
    id: string;
    /** For people; not required, not searched. At most 1,024 bytes. */
    title: string;
    /** Input only. Required, not only white space, at most 3 MiB (setting max_document_bytes). */
    text: string;
    /** Where it came from: a file name, a URL. At most 1,024 bytes. */
    source: string;
    /** Tags: at most 16 KiB, 8 levels deep. */
    metadata?: JsonObject;
    /**
     * When it was written, or put. Set by the server when absent. As long as the text stays the same, so does
     * this.
     */
    createTime?: string;
    /** Output only. How many chunks it has. */
    chunkCount: number;
    /** Output only. Of the text, by the server's default tokenizer. */
    tokens: number;
    /** Output only. Lower-case hex SHA-256 of the text. */
    sha256: string;
}

/** How far the import has come. */
export interface ImportResponse {
    /** Records of this stream that are durable. */
    durableCount: number;
    /** How many of those were there already. */
    duplicateCount: number;
}

/** One event. */
export interface WatchResponse {
    /** What happened. */
    kind: EventKind;
    /** Whose session it was; empty for a session without a user. */
    userId: string;
    /** Where it happened; empty for what concerns the user or the namespace. */
    sessionId: string;
    /** The sequence that it concerns; 0 where none does. */
    sequence: number;
    /** The thing that it concerns, by kind; empty where none does. */
    id: string;
    /** Where to go on after this event. */
    cursor: string;
    /** When it happened. */
    time?: string;
}

/** The stored facts. */
export interface PutFactsResponse {
    /** As they are now, in the order of the request. */
    facts: Fact[];
}

/** One page of facts. */
export interface ListFactsResponse {
    /** Most confident first, then those seen last, then by id. */
    facts: Fact[];
    /** Empty: that was the last page. A page is also cut at 3 MiB. */
    nextPageToken: string;
}

/** The fact is gone. */
export type DeleteFactResponse = Record<string, never>;

/** The stored artifact. */
export interface PutArtifactResponse {
    /** As it is now. */
    artifact?: Artifact;
}

/** One page of artifacts. */
export interface ListArtifactsResponse {
    /**
     * Newest first. A page may be short, or empty, because some have expired; the token says whether there are
     * more.
     */
    artifacts: Artifact[];
    /** Empty: that was the last page. A page is also cut at 3 MiB. */
    nextPageToken: string;
}

/** The artifact is gone. */
export type DeleteArtifactResponse = Record<string, never>;

/** The stored document. */
export interface PutDocumentResponse {
    /** Without its text. */
    document?: Document;
    /** It was there already, with the same text, title, source and metadata: nothing was done. */
    unchanged: boolean;
}

/** One page of documents. */
export interface ListDocumentsResponse {
    /** Without their text, in the order of their ids. */
    documents: Document[];
    /** Empty: that was the last page. A page is also cut at 3 MiB. */
    nextPageToken: string;
}

/** The document is gone. */
export interface DeleteDocumentResponse {
    /** How many chunks it had. */
    removedChunks: number;
}

/** The chunks that were found. */
export interface SearchDocumentsResponse {
    /** Best first. As many as fit into 3 MiB. */
    hits: DocumentHit[];
    /** What was missing when this was answered. */
    degraded: Degradation[];
}

/** One chunk that was found. */
export interface DocumentHit {
    /** The chunk. */
    chunk?: DocumentChunk;
    /**
     * Above 0, at most 1; comparable within one answer. From 0.5 on where any chunk has every word of the query
     * exactly as written, and only for those.
     */
    score: number;
    /** What the score is made of: the parts add up to it. */
    scores?: ScoreParts;
}

/** A piece of a document. */
export interface DocumentChunk {
    /** The document that it belongs to. */
    documentId: string;
    /** Its place in the document: 0, 1, 2 ... */
    chunkIndex: number;
    /** The piece, as it stands in the document, the overlap with the one before included. */
    text: string;
    /** Of the piece, by the server's default tokenizer. */
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

/** What recurs. Empty where there is no evidence. */
export interface GetPatternsResponse {
    /** Most evidence first. */
    patterns: Pattern[];
    /** How many conversations were looked at. */
    conversations: number;
    /** Turns in a conversation, on average. */
    meanTurns: number;
    /** "concise", "detailed" or empty; likewise "technical", "general"; likewise "daily", "weekly", "occasional". */
    answerLength: string;
    /** "technical", "general" or empty. */
    technicalDepth: string;
    /** "daily", "weekly", "occasional" or empty. */
    frequency: string;
    /** As they go into a context. */
    hints: string;
    /** When this was computed; absent when it never was. */
    computedAt?: string;
}

/** Something that recurs in a user's conversations. */
export interface Pattern {
    /** For example "common_question", "topic", "question_kind", "active_hour". */
    kind: string;
    /** The question, the topic, the hour. */
    value: string;
    /** How many observations stand behind it. */
    evidence: number;
}

/** One message to append. */
export interface AddRequest {
    /** Empty means "default". */
    namespace?: string | undefined;
    /**
     * Optional. The first request that names a user makes the session theirs; a later one that names another is
     * refused.
     */
    userId?: string | undefined;
    /** Required. The session comes into being with its first message. */
    sessionId: string;
    /**
     * Unique in its session, 1 to 256 bytes without control characters. Empty in a request: the client makes a
     * UUIDv7. Given: the idempotency key. The same id with the same role, content, name, tool calls and toolCallId
     * again is answered as a duplicate and changes nothing; with another body it is ALREADY_EXISTS, reason
     * ID_CONFLICT.
     */
    messageId?: string | undefined;
    /** Required. */
    role: Role;
    /** Plain text; special-token text in it is text. May be empty only for an assistant message with tool calls. */
    content?: string | undefined;
    /** The speaker, where there are several. A query that names the speaker ranks what they said higher. */
    name?: string | undefined;
    /** Assistant messages only. Several calls in one message are parallel calls. */
    toolCalls?: readonly ToolCallInput[] | undefined;
    /**
     * Tool messages only: the call that this answers. A tool message may lack it; it is then an answer without a
     * call, which is stored and leaves the window with its neighbours.
     */
    toolCallId?: string | undefined;
    /** When it was said. Set by the server when absent. */
    createTime?: Date | string | undefined;
    /** Tags: at most 16 KiB, 8 levels deep. Numbers are doubles, as in JSON. */
    metadata?: JsonObject | undefined;
    /**
     * How good the exchange was, 0 to 10. Usually set later, with Annotate. Absent means not judged, which is not
     * 0: the quality filter of episodic retrieval looks only at messages that have a score.
     */
    evaluationScore?: number | undefined;
    /** The assistant's thinking. Stored and searchable on request; never rendered into a context unless asked for. */
    reasoning?: string | undefined;
    /**
     * Input only: a vector for this message from the caller's own embedder, of the configured dimensions (setting
     * embedder_dimensions), each number finite, else INVALID_ARGUMENT. Need not have length 1. Empty: the server
     * embeds the content and the tool calls itself.
     */
    vector?: readonly number[] | undefined;
    /**
     * The session's last sequence as the caller knows it, 0 for a new session. Checked after the duplicate check;
     * a mismatch is ABORTED. Absent: not checked.
     */
    expectedSequence?: number | undefined;
    /** Answer with `session`, too. */
    returnSession?: boolean | undefined;
}

/**
 * One message of a conversation. Content and every other text must be valid UTF-8. All of a message together may
 * have at most 1 MiB (setting max_message_bytes), else RESOURCE_EXHAUSTED with reason TOO_LARGE.
 */
export interface MessageInput {
    /**
     * Unique in its session, 1 to 256 bytes without control characters. Empty in a request: the client makes a
     * UUIDv7. Given: the idempotency key. The same id with the same role, content, name, tool calls and toolCallId
     * again is answered as a duplicate and changes nothing; with another body it is ALREADY_EXISTS, reason
     * ID_CONFLICT.
     */
    id?: string | undefined;
    /** Required. */
    role: Role;
    /** Plain text; special-token text in it is text. May be empty only for an assistant message with tool calls. */
    content?: string | undefined;
    /** The speaker, where there are several. A query that names the speaker ranks what they said higher. */
    name?: string | undefined;
    /** Assistant messages only. Several calls in one message are parallel calls. */
    toolCalls?: readonly ToolCallInput[] | undefined;
    /**
     * Tool messages only: the call that this answers. A tool message may lack it; it is then an answer without a
     * call, which is stored and leaves the window with its neighbours.
     */
    toolCallId?: string | undefined;
    /** When it was said. Set by the server when absent. */
    createTime?: Date | string | undefined;
    /** Tags: at most 16 KiB, 8 levels deep. Numbers are doubles, as in JSON. */
    metadata?: JsonObject | undefined;
    /**
     * How good the exchange was, 0 to 10. Usually set later, with Annotate. Absent means not judged, which is not
     * 0: the quality filter of episodic retrieval looks only at messages that have a score.
     */
    evaluationScore?: number | undefined;
    /** The assistant's thinking. Stored and searchable on request; never rendered into a context unless asked for. */
    reasoning?: string | undefined;
    /**
     * Input only: a vector for this message from the caller's own embedder, of the configured dimensions (setting
     * embedder_dimensions), each number finite, else INVALID_ARGUMENT. Need not have length 1. Empty: the server
     * embeds the content and the tool calls itself.
     */
    vector?: readonly number[] | undefined;
}

/**
 * One call of a tool by the assistant. Providers reuse ids, so an answer belongs to the nearest earlier open call
 * with its id. A call and its answers form an exchange, which is never split: they are in the window together or
 * out of it together. An answer that arrives after its call was pruned brings the call back into the window. A
 * call without an answer is open.
 */
export interface ToolCallInput {
    /** As the provider gave it, 1 to 256 bytes. Need not be unique in the session. */
    id?: string | undefined;
    /** The tool's name, 1 to 256 bytes. */
    name?: string | undefined;
    /** The arguments as the model wrote them; stored as text, valid JSON or not. */
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
     * In the order in which they were said; 1 to 10,000, and at most 4 MiB together. Known ones are reported as
     * duplicates, the others appended; one conflict or one invalid message refuses the batch.
     */
    messages?: readonly MessageInput[] | undefined;
    /** As in AddRequest; compared once, before the first message that is new. */
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
     * UUIDv7. Given: the idempotency key. The same id with the same role, content, name, tool calls and toolCallId
     * again is answered as a duplicate and changes nothing; with another body it is ALREADY_EXISTS, reason
     * ID_CONFLICT.
     */
    messageId?: string | undefined;
    /** Required. */
    role: Role;
    /** Plain text; special-token text in it is text. May be empty only for an assistant message with tool calls. */
    content?: string | undefined;
    /** The speaker, where there are several. A query that names the speaker ranks what they said higher. */
    name?: string | undefined;
    /** Assistant messages only. Several calls in one message are parallel calls. */
    toolCalls?: readonly ToolCallInput[] | undefined;
    /**
     * Tool messages only: the call that this answers. A tool message may lack it; it is then an answer without a
     * call, which is stored and leaves the window with its neighbours.
     */
    toolCallId?: string | undefined;
    /** When it was said. Set by the server when absent. */
    createTime?: Date | string | undefined;
    /** Tags: at most 16 KiB, 8 levels deep. Numbers are doubles, as in JSON. */
    metadata?: JsonObject | undefined;
    /**
     * How good the exchange was, 0 to 10. Usually set later, with Annotate. Absent means not judged, which is not
     * 0: the quality filter of episodic retrieval looks only at messages that have a score.
     */
    evaluationScore?: number | undefined;
    /** The assistant's thinking. Stored and searchable on request; never rendered into a context unless asked for. */
    reasoning?: string | undefined;
    /**
     * Input only: a vector for this message from the caller's own embedder, of the configured dimensions (setting
     * embedder_dimensions), each number finite, else INVALID_ARGUMENT. Need not have length 1. Empty: the server
     * embeds the content and the tool calls itself.
     */
    vector?: readonly number[] | undefined;
}

/** One question and its answer. */
export interface StoreInteractionRequest {
    /** Empty means "default". */
    namespace?: string | undefined;
    /** Optional, as in AddRequest. */
    userId?: string | undefined;
    /** Required. */
    sessionId: string;
    /** What the user said. Required, not empty. */
    userMessage: string;
    /** What the assistant answered. Required, not empty. */
    assistantMessage: string;
    /**
     * The idempotency key of the turn; the two messages get the ids "<interactionId>/user" and
     * "<interactionId>/assistant", which count against the 256 bytes of an id. Empty: made by the client.
     */
    interactionId?: string | undefined;
    /** Of both messages. Set by the server when absent. */
    createTime?: Date | string | undefined;
    /** Tags of both messages: at most 16 KiB, 8 levels deep. */
    metadata?: JsonObject | undefined;
    /** How good the exchange was, 0 to 10; of both messages. */
    evaluationScore?: number | undefined;
}

/** What is to be set on a stored message. */
export interface AnnotateRequest {
    /** Empty means "default". */
    namespace?: string | undefined;
    /** Optional; a user other than the session's is refused. */
    userId?: string | undefined;
    /** Required. */
    sessionId: string;
    /** Required. Pruned messages can be annotated, too. */
    messageId: string;
    /** 0 to 10. Absent: left as it is. */
    evaluationScore?: number | undefined;
    /** Merged into the message's metadata; a null value removes its key. The result may have at most 16 KiB. */
    metadata?: JsonObject | undefined;
}

/** Which messages of a session to read. */
export interface GetAllRequest {
    /** Empty means "default". */
    namespace?: string | undefined;
    /** Optional; a user other than the session's is refused. */
    userId?: string | undefined;
    /** Required. */
    sessionId: string;
    /** 0: 100. More than 1,000 is taken as 1,000. */
    pageSize?: number | undefined;
    /** The nextPageToken of the page before; empty: the first page. Opaque, bound to the request's other fields. */
    pageToken?: string | undefined;
    /** Pruned messages, too, each at its place. */
    includePruned?: boolean | undefined;
    /** Every given key must equal. Absent or empty: no filter. */
    metadataFilter?: JsonObject | undefined;
}

/** How many of the newest messages to read. */
export interface GetRecentRequest {
    /** Empty means "default". */
    namespace?: string | undefined;
    /** Optional; a user other than the session's is refused. */
    userId?: string | undefined;
    /** Required. */
    sessionId: string;
    /** 1 to 10,000; more is taken as 10,000. No default: 0 is INVALID_ARGUMENT. More than there are: all of them. */
    n: number;
    /** 0: no limit. Whole messages only, the newest first to be kept. */
    maxTokens?: number | undefined;
}

/** Which role to read. */
export interface GetByRoleRequest {
    /** Empty means "default". */
    namespace?: string | undefined;
    /** Optional; a user other than the session's is refused. */
    userId?: string | undefined;
    /** Required. */
    sessionId: string;
    /** Required; "unspecified" is INVALID_ARGUMENT. */
    role?: Role | undefined;
    /** 0: all. Keeps the newest. */
    limit?: number | undefined;
}

/** What to find, and where. */
export interface SearchRequest {
    /** Empty means "default". */
    namespace?: string | undefined;
    /** Whose memory, for the user's scope. Optional where sessionId is given: the session's user then. */
    userId?: string | undefined;
    /** The session, for the session's scope. Optional where userId is given. */
    sessionId?: string | undefined;
    /** What to look for. Required, unless queryVector is given and the mode is semantic. */
    query?: string | undefined;
    /** Unspecified: hybrid. */
    mode?: SearchMode | undefined;
    /** Unspecified: the user's, where there is one; else the session's. */
    scope?: Scope | undefined;
    /**
     * 0: 10. More than 1,000 is taken as 1,000.
     *
     * In a whole namespace, and for a user with more than fits into memory (setting episodic_memory_bytes) and
     * their sessions, candidates are ranked, and not all messages: the best 200 by words and the nearest 200 by
     * meaning, or as many as the limit where it is above 200, and what stands around them. The pages end there; a
     * larger limit looks at more. The substring mode has no such bound.
     */
    limit?: number | undefined;
    /**
     * Compared with `score`; from 0 on. 0: no hit is left out for its score. A threshold for every query is meant
     * for the semantic mode: in the others the best hit scores high however well it matches.
     */
    minScore?: number | undefined;
    /**
     * Empty: all. Messages of other roles are no hits, and still count as neighbours of those that are; so with
     * `after` and `before`.
     */
    roles?: readonly Role[] | undefined;
    /**
     * Every given key must equal. Absent or empty: no filter. Where candidates are ranked (`limit`), the filter
     * looks only through them, so it can miss messages that match. In the substring mode it misses none.
     */
    metadataFilter?: JsonObject | undefined;
    /** Only messages with a createTime later than this, in whole microseconds. Absent: no limit. */
    after?: Date | string | undefined;
    /** Only messages with a createTime earlier than this, in whole microseconds. Absent: no limit. */
    before?: Date | string | undefined;
    /**
     * The nextPageToken of the page before; empty: the first page. Opaque, bound to the request's other fields.
     * Where candidates are ranked (`limit`), the pages end with the last of them.
     */
    pageToken?: string | undefined;
    /**
     * In place of embedding the query, for the semantic and the hybrid mode: of the configured dimensions (setting
     * embedder_dimensions), each number finite, else INVALID_ARGUMENT. Need not have length 1. Empty: the server
     * embeds the query.
     */
    queryVector?: readonly number[] | undefined;
}

/** Which session to count. */
export interface CountRequest {
    /** Empty means "default". */
    namespace?: string | undefined;
    /** Optional; a user other than the session's is refused. */
    userId?: string | undefined;
    /** Required. */
    sessionId: string;
    /** Count by this model's tokenizer instead of the server's default. */
    model?: string | undefined;
}

/** How far to prune, and how. */
export interface PruneRequest {
    /** Empty means "default". */
    namespace?: string | undefined;
    /** Optional; a user other than the session's is refused. */
    userId?: string | undefined;
    /** Required. */
    sessionId: string;
    /** The budget in tokens. At least 1, except with the window strategy. No default: 0 is INVALID_ARGUMENT. */
    maxTokens?: number | undefined;
    /** Unspecified: recency. */
    strategy?: PruneStrategy | undefined;
    /** For the window strategy, in messages; 0: 5 (setting prune_window). */
    window?: number | undefined;
    /** How many of the newest messages are kept whatever the budget; 0: 2 (setting prune_min_messages). */
    minMessages?: number | undefined;
    /** Answer what would happen, change nothing. No summary is made then. */
    dryRun?: boolean | undefined;
    /**
     * Bring the rolling summary up to the newest message that is pruned, before it is: nothing leaves the window
     * that no summary speaks for. Without a model, whatever is configured: the caller waits.
     */
    summarize?: boolean | undefined;
    /**
     * The provider refused the context: shorten the oldest large tool results before anything is pruned. Head and
     * tail of a result are kept and the cut is marked; it is then read with synthetic set, while the original
     * stays stored and searchable.
     */
    overflow?: boolean | undefined;
    /** Count by this model's tokenizer instead of the server's default. */
    model?: string | undefined;
}

/** Which session to empty. */
export interface ClearRequest {
    /** Empty means "default". */
    namespace?: string | undefined;
    /** Optional; a user other than the session's is refused. */
    userId?: string | undefined;
    /** Required. */
    sessionId: string;
}

/** What the context is for, and how large it may be. */
export interface BuildContextRequest {
    /** Empty means "default". */
    namespace?: string | undefined;
    /** Optional; a user other than the session's is refused. */
    userId?: string | undefined;
    /** Required. An unknown session gives a context from the rest. */
    sessionId: string;
    /** What to retrieve for; empty: the newest user message. */
    query?: string | undefined;
    /** Chooses tokenizer, calibration and default budget. Optional; an unknown one is counted by an estimate. */
    model?: string | undefined;
    /**
     * The hard limit for everything; 0: the model's recommended budget, else 8,000 (setting context_budget). What
     * must stay (system prompt, chosen facts, the last 2 messages with their exchanges, schemas, reserve, framing)
     * and does not fit is FAILED_PRECONDITION, reason BUDGET_TOO_SMALL, with required_tokens in the metadata.
     */
    maxTokens?: number | undefined;
    /** Empty: the session's system messages. */
    systemPrompt?: string | undefined;
    /** A text about the user, from the caller. Empty: none. */
    profile?: string | undefined;
    /**
     * The schemas of the tools that the model will be offered. Counted as the text that they are, not read as
     * JSON, not rendered.
     */
    toolSchemasJson?: string | undefined;
    /** Tokens kept free for the model's answer, out of maxTokens. 0: none. From 0 on. */
    reserveOutputTokens?: number | undefined;
    /**
     * Chunks from the caller, best first, before what is retrieved: they share the documents section. At most
     * 1,000; empty ones are passed over.
     */
    documents?: readonly string[] | undefined;
    /** What differs from the defaults, each section at most once. */
    sections?: readonly SectionBudget[] | undefined;
    /**
     * For what is retrieved of conversations. Unspecified: the user's, where there is one; else the session's. The
     * user's where neither the request nor the session names one is INVALID_ARGUMENT.
     */
    scope?: Scope | undefined;
    /** Render `query`, which is then required, as the last user message. */
    appendQuery?: boolean | undefined;
    /** List what was considered and left out, too. */
    debug?: boolean | undefined;
    /**
     * In place of embedding the query: of the configured dimensions (setting embedder_dimensions), each number
     * finite, else INVALID_ARGUMENT. Need not have length 1. Empty: the server embeds the query.
     */
    queryVector?: readonly number[] | undefined;
    /** Render the assistant's thinking, too. */
    includeReasoning?: boolean | undefined;
}

/** What the caller changes about one section. What is absent stays at its default. */
export interface SectionBudget {
    /**
     * Required, and each section at most once. Tool schemas, output reserve and framing have no budget of their
     * own: they are INVALID_ARGUMENT.
     */
    section?: Section | undefined;
    /**
     * In place of the scaled default cap. From 0 on; 0 leaves no room. The system section is never cut: of it the
     * log warns above this.
     */
    maxTokens?: number | undefined;
    /**
     * In place of the default number of items (turns, for the working section). From 0 on. Of retrieved chunks
     * there are never more than 5 (setting documents_top_k_max).
     */
    topK?: number | undefined;
    /** Reductions stop here; 0 where not given. From 0 on. */
    minTokens?: number | undefined;
    /** The section is not filled at all. */
    disabled?: boolean | undefined;
}

/** What a provider charged for a context. */
export interface ReportUsageRequest {
    /** Empty means "default". */
    namespace?: string | undefined;
    /** Optional. */
    userId?: string | undefined;
    /** Optional. */
    sessionId?: string | undefined;
    /** Required: the model that was called. The correction is kept for this name. */
    model: string;
    /**
     * What the sidecar had answered for this context (totalTokens, without what was only reserved), with the
     * factor of that time already applied. At least 1.
     */
    estimatedTokens?: number | undefined;
    /** What the provider charged for the same input. At least 1. */
    actualTokens?: number | undefined;
}

/** Which sessions to list. */
export interface ListSessionsRequest {
    /** Empty means "default". */
    namespace?: string | undefined;
    /** Empty: of every user. */
    userId?: string | undefined;
    /** 0: 100. More than 1,000 is taken as 1,000. */
    pageSize?: number | undefined;
    /** The nextPageToken of the page before; empty: the first page. Opaque, bound to the request's other fields. */
    pageToken?: string | undefined;
}

/** Which session to read. */
export interface GetSessionRequest {
    /** Empty means "default". */
    namespace?: string | undefined;
    /** Optional; a user other than the session's is refused. */
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
    /** Replaces the one before as a whole. Absent: back to the default. */
    policy?: SessionPolicyInput | undefined;
}

/** How a session keeps itself in bounds. */
export interface SessionPolicyInput {
    /**
     * 0: never prune by itself. Else, when the window passes this many tokens, it is pruned to 80 % of them, so
     * that the prefix stays the same for many turns and not for one.
     */
    autoPruneTokens?: number | undefined;
    /** For automatic pruning. Unspecified: recency. */
    strategy?: PruneStrategy | undefined;
    /**
     * Bring the rolling summary up to what is pruned first, as with Prune. Of no effect where nothing is pruned
     * automatically; a session is summarised in the background all the same (setting summary_every_messages).
     */
    summarize?: boolean | undefined;
    /**
     * The model that the session talks to, for counting and its budget. Empty: the server's default tokenizer.
     * "short", "normal" and "long" stand for budgets of 4,000, 16,000 and 32,000 tokens with the default
     * tokenizer.
     */
    model?: string | undefined;
}

/** Which session to erase. */
export interface DeleteSessionRequest {
    /** Empty means "default". */
    namespace?: string | undefined;
    /** Optional; a user other than the session's is refused. */
    userId?: string | undefined;
    /** Required. */
    sessionId: string;
    /** Answer what would be erased, change nothing. */
    dryRun?: boolean | undefined;
}

/** Which message to erase. */
export interface ForgetMessageRequest {
    /** Empty means "default". */
    namespace?: string | undefined;
    /** Optional; a user other than the session's is refused. */
    userId?: string | undefined;
    /** Required. */
    sessionId: string;
    /** Required. */
    messageId: string;
    /** Answer what would be erased, change nothing. */
    dryRun?: boolean | undefined;
}

/** Which user to erase. */
export interface ForgetUserRequest {
    /** Empty means "default". */
    namespace?: string | undefined;
    /** Required. */
    userId: string;
    /** Answer what would be erased, change nothing. */
    dryRun?: boolean | undefined;
}

/** What to export. */
export interface ExportRequest {
    /** Empty means "default". */
    namespace?: string | undefined;
    /** Empty: all. */
    userId?: string | undefined;
    /** Empty: all sessions of the user or of the namespace. */
    sessionId?: string | undefined;
    /** Go on after this cursor. Empty: from the beginning. Opaque, bound to the request's other fields. */
    cursor?: string | undefined;
}

/** One record to store. */
export interface ImportRequest {
    /** Empty means "default". May differ from the one that was exported. */
    namespace?: string | undefined;
    /** Required. */
    record: ArchiveRecordInput;
}

/** One line of an archive. */
export interface ArchiveRecordInput {
    /** Empty for what belongs to the namespace. */
    userId?: string | undefined;
    /** Empty for what belongs to the user or to the namespace. */
    sessionId?: string | undefined;
    /** A message, at its place in the session. */
    message?: MessageInput | undefined;
    /** A fact, current or superseded. */
    fact?: FactInput | undefined;
    /** A rolling summary. */
    summary?: SummaryInput | undefined;
    /** A tool artifact. */
    artifact?: ArtifactInput | undefined;
    /** A document with its text; its chunks are made anew on import. */
    document?: DocumentInput | undefined;
    /** The policy of the session, or without sessionId of the namespace. */
    policy?: SessionPolicyInput | undefined;
    /** The message is out of the window. */
    pruned?: boolean | undefined;
}

/** Something known about a user. */
export interface FactInput {
    /** Required. */
    type: FactType;
    /**
     * For example "name", "company", "likes". A key holds one current value, unless the fact's type is a list by
     * nature (interests, action items, questions). Required, 1 to 256 bytes without control characters.
     */
    key: string;
    /** What is known. Required, not only white space, at most 16 KiB. */
    value: string;
    /** 0 to 1. 0 in PutFacts means that nothing is said about it, and is taken as 1. */
    confidence?: number | undefined;
    /** Since when it holds. Absent in PutFacts: since it was first seen. */
    validFrom?: Date | string | undefined;
    /** When it was first seen. Absent in PutFacts: now, or lastUpdated if that is earlier. */
    extractedAt?: Date | string | undefined;
    /** When it was last seen. Absent in PutFacts: now. */
    lastUpdated?: Date | string | undefined;
    /** The session that it first came from. Absent in PutFacts: the request's. */
    sessionId?: string | undefined;
    /**
     * The messages that it first came from, in that session; at most 100. When all of them are erased, so is the
     * fact: with DeleteSession, while Clear leaves it. Seen in another session since, it goes with that one; told
     * by a caller without messages, with none.
     */
    sourceMessageIds?: readonly string[] | undefined;
    /** Always in the context, before the others. */
    pinned?: boolean | undefined;
}

/** A rolling summary: what was said in a range of messages. The messages themselves stay. */
export interface SummaryInput {
    /** Made by the server. */
    id?: string | undefined;
    /** The summary. */
    text?: string | undefined;
    /** Of the text, by the server's default tokenizer; at most 400 by default (setting summary_budget). */
    tokens?: number | undefined;
    /** The messages it covers. */
    firstSequence?: number | undefined;
    /** The newest message that it covers, itself included. */
    lastSequence?: number | undefined;
    /** When it was made. */
    createTime?: Date | string | undefined;
    /** "extractive" or the model's name. */
    origin?: string | undefined;
}

/**
 * A compact result of a tool: a snippet of a web search, say.
 *
 * Artifacts are erased with DeleteSession. Clear erases those that hold a message, and leaves the others.
 */
export interface ArtifactInput {
    /**
     * Unique in its session. Empty in a request: made by the client; of an offloaded message always the same.
     * Given: putting it again replaces it.
     */
    id?: string | undefined;
    /** Where it came from: a tool's name, a URL. At most 1,024 bytes. Of an offloaded message, its name if empty. */
    source?: string | undefined;
    /**
     * The text, at most 1 MiB (setting max_message_bytes). Required, unless a message is offloaded: then it must
     * be empty, and becomes the message's whole content.
     */
    content?: string | undefined;
    /** Set by the server when absent. As long as the content stays the same, so does this. */
    createTime?: Date | string | undefined;
    /** After this it is neither listed nor put into a context. Must be after createTime. Absent: never. */
    expireTime?: Date | string | undefined;
    /** Tags: at most 16 KiB, 8 levels deep. */
    metadata?: JsonObject | undefined;
}

/**
 * A text to retrieve from, kept in chunks.
 *
 * A chunk is a stretch of the text of at most 300 tokens (setting chunk_size), counted exactly. It ends at the
 * last paragraph in its second half, else at the last line, else sentence, else word. A code block that fits is
 * kept whole, and a heading stays with what follows it. A chunk begins with the end of the one before: as many
 * whole sentences or lines of it as fit into 50 tokens (setting chunk_overlap), so that what stands on the border
 * is found. After a change of these settings a document is cut anew when it is put again.
 *
 * A document is put for somebody, and found by nobody else: for a session where the request names one, else for a
 * user where it names one, else for everybody in the namespace. The same id put for another is another document. A
 * session's documents are erased with DeleteSession; Clear leaves them.
 */
export interface DocumentInput {
    /** Required, 1 to 256 bytes without control characters. Chosen by the caller; putting it again replaces it. */
    id: string;
    /** For people; not required, not searched. At most 1,024 bytes. */
    title?: string | undefined;
    /** Input only. Required, not only white space, at most 3 MiB (setting max_document_bytes). */
    text: string;
    /** Where it came from: a file name, a URL. At most 1,024 bytes. */
    source?: string | undefined;
    /** Tags: at most 16 KiB, 8 levels deep. */
    metadata?: JsonObject | undefined;
    /**
     * When it was written, or put. Set by the server when absent. As long as the text stays the same, so does
     * this.
     */
    createTime?: Date | string | undefined;
}

/** What to watch. */
export interface WatchRequest {
    /** Empty means "default". */
    namespace?: string | undefined;
    /** Empty: every user. */
    userId?: string | undefined;
    /** Empty: every session in the scope. */
    sessionId?: string | undefined;
    /** Empty: from now on. Else the cursor of the last event that was received; what happened since comes first. */
    cursor?: string | undefined;
}

/** Facts to store. */
export interface PutFactsRequest {
    /** Empty means "default". */
    namespace?: string | undefined;
    /** Whose facts. Optional where sessionId is given: the session's user then. */
    userId?: string | undefined;
    /**
     * Where they came from; for a session without a user, whose they are. Need not exist yet. Required where
     * userId is empty.
     */
    sessionId?: string | undefined;
    /** 1 to 1,000, all or nothing. They are taken in their order. */
    facts?: readonly FactInput[] | undefined;
}

/** Which facts to read. */
export interface ListFactsRequest {
    /** Empty means "default". */
    namespace?: string | undefined;
    /** Whose facts. Optional where sessionId is given: the session's user then. */
    userId?: string | undefined;
    /** For a session without a user, whose facts. */
    sessionId?: string | undefined;
    /** Empty: all. */
    types?: readonly FactType[] | undefined;
    /** Superseded ones, too. */
    includeHistory?: boolean | undefined;
    /** 0: 100. More than 1,000 is taken as 1,000. */
    pageSize?: number | undefined;
    /** The nextPageToken of the page before; empty: the first page. Opaque, bound to the request's other fields. */
    pageToken?: string | undefined;
}

/** Which fact to erase. */
export interface DeleteFactRequest {
    /** Empty means "default". */
    namespace?: string | undefined;
    /** Whose fact. Optional where sessionId is given: the session's user then. */
    userId?: string | undefined;
    /** For a session without a user, whose fact. */
    sessionId?: string | undefined;
    /** Required. */
    factId: string;
}

/** An artifact to store. */
export interface PutArtifactRequest {
    /** Empty means "default". */
    namespace?: string | undefined;
    /** Optional; a user other than the session's is refused. */
    userId?: string | undefined;
    /** Required. Need not exist yet, unless a message is offloaded. */
    sessionId: string;
    /**
     * Unique in its session. Empty in a request: made by the client; of an offloaded message always the same.
     * Given: putting it again replaces it.
     */
    artifactId?: string | undefined;
    /** Where it came from: a tool's name, a URL. At most 1,024 bytes. Of an offloaded message, its name if empty. */
    source?: string | undefined;
    /**
     * The text, at most 1 MiB (setting max_message_bytes). Required, unless a message is offloaded: then it must
     * be empty, and becomes the message's whole content.
     */
    content?: string | undefined;
    /** Set by the server when absent. As long as the content stays the same, so does this. */
    createTime?: Date | string | undefined;
    /** After this it is neither listed nor put into a context. Must be after createTime. Absent: never. */
    expireTime?: Date | string | undefined;
    /** Tags: at most 16 KiB, 8 levels deep. */
    metadata?: JsonObject | undefined;
    /**
     * Replace this stored tool message in the window by a preview of at most `previewTokens`; the artifact holds
     * the whole. NOT_FOUND when the session has no such message; INVALID_ARGUMENT when its role is another. A
     * message that is not longer stays as it is, and so does one that was pruned. The original stays stored and
     * searchable. Empty: nothing is replaced.
     */
    offloadMessageId?: string | undefined;
    /**
     * Of the preview's content: its head, its tail, and a line that names the artifact, which is there however few
     * these are. 0: 128 (setting overflow_keep_tokens).
     */
    previewTokens?: number | undefined;
}

/** Whose artifacts to read. */
export interface ListArtifactsRequest {
    /** Empty means "default". */
    namespace?: string | undefined;
    /** Optional; a user other than the session's is refused. */
    userId?: string | undefined;
    /** Required. */
    sessionId: string;
    /** 0: 100. More than 1,000 is taken as 1,000. */
    pageSize?: number | undefined;
    /** The nextPageToken of the page before; empty: the first page. Opaque, bound to the request's other fields. */
    pageToken?: string | undefined;
}

/** Which artifact to erase. */
export interface DeleteArtifactRequest {
    /** Empty means "default". */
    namespace?: string | undefined;
    /** Optional; a user other than the session's is refused. */
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
     * Without a session: visible to this user only. With one: a user other than the session's is refused. With
     * neither: visible to the namespace.
     */
    userId?: string | undefined;
    /** Visible to this session only. Need not exist yet. */
    sessionId?: string | undefined;
    /** Required, 1 to 256 bytes without control characters. Chosen by the caller; putting it again replaces it. */
    documentId: string;
    /** For people; not required, not searched. At most 1,024 bytes. */
    title?: string | undefined;
    /** Input only. Required, not only white space, at most 3 MiB (setting max_document_bytes). */
    text: string;
    /** Where it came from: a file name, a URL. At most 1,024 bytes. */
    source?: string | undefined;
    /** Tags: at most 16 KiB, 8 levels deep. */
    metadata?: JsonObject | undefined;
    /**
     * When it was written, or put. Set by the server when absent. As long as the text stays the same, so does
     * this.
     */
    createTime?: Date | string | undefined;
}

/** Whose documents to list. */
export interface ListDocumentsRequest {
    /** Empty means "default". */
    namespace?: string | undefined;
    /**
     * Without a session: this user's. With one: a user other than the session's is refused. With neither: the
     * namespace's.
     */
    userId?: string | undefined;
    /** Those of this session, and no others. */
    sessionId?: string | undefined;
    /** 0: 100. More than 1,000 is taken as 1,000. */
    pageSize?: number | undefined;
    /** The nextPageToken of the page before; empty: the first page. Opaque, bound to the request's other fields. */
    pageToken?: string | undefined;
}

/** Which document to erase. */
export interface DeleteDocumentRequest {
    /** Empty means "default". */
    namespace?: string | undefined;
    /** Without a session: the user that it was put for. With one: a user other than the session's is refused. */
    userId?: string | undefined;
    /** The session that it was put for. With neither: it was put for the namespace. */
    sessionId?: string | undefined;
    /** Required. */
    documentId: string;
}

/** What to find in documents. */
export interface SearchDocumentsRequest {
    /** Empty means "default". */
    namespace?: string | undefined;
    /** The user's documents are searched, too, besides the namespace's. Where only a session is named: its user's. */
    userId?: string | undefined;
    /** The session's documents are searched, too, besides the namespace's. Another user's session is refused. */
    sessionId?: string | undefined;
    /** Required. Compared as in the hybrid mode of Search. */
    query: string;
    /** 0: 3 (setting documents_top_k). More than 5 (setting documents_top_k_max) is taken as that. */
    limit?: number | undefined;
    /** Compared with `score`; from 0 on. 0: no hit is left out for its score. */
    minScore?: number | undefined;
}

/** Whose summary to read. */
export interface GetSummaryRequest {
    /** Empty means "default". */
    namespace?: string | undefined;
    /** Optional; a user other than the session's is refused. */
    userId?: string | undefined;
    /** Required. */
    sessionId: string;
}

/** Which session to summarise. */
export interface SummarizeRequest {
    /** Empty means "default". */
    namespace?: string | undefined;
    /** Optional; a user other than the session's is refused. */
    userId?: string | undefined;
    /** Required. */
    sessionId: string;
    /**
     * Most tokens of the summary, by the server's default tokenizer. 0: 400 (setting summary_budget). More than
     * 10,000 is taken as 10,000. A summary that covers everything already is made shorter if it must be, and never
     * longer.
     */
    maxTokens?: number | undefined;
}

/** Whose patterns to read. */
export interface GetPatternsRequest {
    /** Empty means "default". */
    namespace?: string | undefined;
    /** Whose patterns. Optional where sessionId is given: the session's user then. */
    userId?: string | undefined;
    /** For a session without a user, whose patterns. Required where userId is empty. */
    sessionId?: string | undefined;
    /**
     * Recompute now, out of everything up to now, and keep that. Else they are as old as computedAt says (setting
     * patterns_every_conversations).
     */
    refresh?: boolean | undefined;
}
