// Package memsidecar is a client of memsidecar, the memory of an LLM agent as a process beside it. Add what is said;
// before each question to a model, ask for what the model should see.
//
// A [Client] has a method for each RPC of the contract, with the contract's own requests and answers, which are in
// package memsidecarpb. It finds the sidecar by itself where the environment says where it is (see [New]).
//
// # Deadlines
//
// The deadline of the context holds for a call, its retries included. Where the context has none, the client's timeout
// does (see [WithTimeout]). Streams have no deadline but that of the context.
//
// # Retries
//
// A call is retried after UNAVAILABLE and after a broken connection: at most four attempts, with waits of 0.4, 1.2 and
// 3.6 seconds, a fifth more or less, or after what the sidecar says, and never beyond the deadline. Nothing else is
// sent again.
//
// It is safe, because writes carry ids: where the caller gives none, the client makes one before the first attempt, for
// Add, AddBatch, AddStream, StoreInteraction and PutArtifact. What was stored already is answered as a duplicate.
//
// ReportUsage has no idempotency key and counts each time: it is retried only if the sidecar rejected it, never after a
// broken connection. Pruning and erasing have none, either: after a lost answer, what Prune, Clear and DeleteSession
// return about erased items may be empty, or [ErrNotFound], because the first attempt did the work.
//
// # Errors
//
// Every error of a call is an [*Error]. It is one of the sentinels of this package, by [errors.Is]: one for each reason
// that the sidecar gives, and four for what goes wrong on the way.
//
// After [ErrDeadlineExceeded], [ErrCanceled], [ErrUnreachable] and any other error without a reason a write may have
// been stored: send it again with the id that you gave. The same holds for [ErrJournalUnavailable]. After any other error
// with a reason, that attempt stored nothing; an earlier attempt whose response was lost may have. Acknowledged messages of a stream stay stored.
package memsidecar
