"""The runner of background tasks: it consumes the change feed for every task, in every namespace."""

import logging
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Protocol

from memsidecar.domain.errors import ShuttingDown, Unavailable
from memsidecar.domain.statistics import Tally
from memsidecar.layers.background.commit_signal import CommitSignal
from memsidecar.layers.background.cursor import Lag, TaskCursor
from memsidecar.layers.background.task import DeadLetters, RetryLater, Task
from memsidecar.layers.background.throttle import BackgroundThrottle
from memsidecar.stores.contract import ANY_SIZE, ChangeFeed, JournalAdmin, JournalWriter, LogEntries, LogEntry, NoOp
from memsidecar.stores.contract.change_feed import entry_bytes

log = logging.getLogger(__name__)

BATCH_ENTRIES = 256
"Limit on a batch: more would delay other namespaces, fewer would make many small commits."
BATCH_BYTES = 512 << 10
"The same limit for large entries, which take more time. A batch has one entry at least."
READ_ENTRIES = 32
"Entries of one read, about a millisecond. The runner yields CPU between two reads."
MAX_BATCH_CPU_SECONDS = 20.0
"A batch takes less than 5 s, whatever its texts are (tests/hostile). An entry that takes longer is not retried."
MAX_ATTEMPTS = 3
MAX_ROUND_SECONDS = 2.0
IDLE_SECONDS, LATE_SECONDS, RETRY_SECONDS = 2.0, 10.0, 1.0


class _Journal(ChangeFeed, JournalWriter, JournalAdmin, Protocol): ...


class Runner:
    """Processes one batch for each namespace with commits, in rotation: no namespace waits for another's backlog.

    Entries of a namespace are processed in order. `linger_seconds` is how long entries may gather, so that a batch is
    worth its commit. One thread runs all tasks. Its tasks never see messages of more than `max_message_bytes`.
    """

    def __init__(
        self,
        journal: _Journal,
        commits: CommitSignal,
        throttle: BackgroundThrottle,
        tasks: list[Task],
        linger_seconds: float,
        *,
        max_cpu_seconds: float = MAX_BATCH_CPU_SECONDS,
        max_message_bytes: int = ANY_SIZE,
    ) -> None:
        self._journal = journal
        self._commits = commits
        self._throttle = throttle
        self._tasks = tasks
        self._linger_seconds = linger_seconds
        self._max_cpu_seconds = max_cpu_seconds
        self._max_message_bytes = max_message_bytes
        self._cursors: dict[tuple[str, str], TaskCursor] = {}
        self._dead_letters = DeadLetters(journal, tasks)
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="background", daemon=True)
        self._last_work = time.monotonic()
        self._failures = Tally(*self.task_names)

    @property
    def task_names(self) -> list[str]:
        return [task.name for task in self._tasks]

    def failures(self) -> Mapping[str, int]:
        """Return, by task, how many attempts at a batch or at maintenance failed."""
        return self._failures.snapshot()

    def start(self) -> None:
        self._add_cursors(self._journal.last_lsns())
        self._thread.start()

    def stop(self) -> None:
        """Stop within the current batch. The next start continues from what was saved."""
        self._stopping.set()
        self._throttle.stop()
        self._commits.wake()
        if self._thread.is_alive():
            self._thread.join()

    def lags(self) -> list[Lag]:
        """Return the lag of every task that is behind; empty if all have caught up."""
        last_lsns = self._journal.last_lsns()
        behind = [cursor for cursor in list(self._cursors.values()) if cursor.is_behind]
        lags = [self._lag(cursor, last_lsns.get(cursor.namespace, 0)) for cursor in behind]
        return [lag for lag in lags if lag.entries or lag.last_error]

    def is_behind(self, namespace: str) -> bool:
        """Return whether derived data of a namespace may be stale: a task fails, or lags by LATE_SECONDS."""
        late = time.monotonic() - LATE_SECONDS
        cursors = [cursor for cursor in list(self._cursors.values()) if cursor.namespace == namespace]
        return any(cursor.last_error or (cursor.behind_since or late) < late for cursor in cursors)

    def _lag(self, cursor: TaskCursor, last_lsn: int) -> Lag:
        position = cursor.position
        entries = last_lsn if position is None else max(0, last_lsn - position)
        seconds = time.monotonic() - cursor.behind_since if cursor.behind_since else 0.0
        return Lag(cursor.task.name, cursor.namespace, entries, seconds, cursor.last_error)

    # -- on the runner's own thread

    def _run(self) -> None:
        self._throttle.start()
        with suppress(ShuttingDown):
            while not self._stopping.is_set():
                self._attempt_round()

    def _attempt_round(self) -> None:
        """Do a round. While the journal cannot be read, try again every RETRY_SECONDS."""
        try:
            self._round()
        except ShuttingDown:
            raise
        except Exception as error:  # the edge of the loop: the journal's database may be away for long
            log.warning("background tasks wait: %s", error, exc_info=not isinstance(error, Unavailable))
            self._stopping.wait(RETRY_SECONDS)

    def _round(self) -> None:
        self._commits.poll()
        total = self._commits.total
        self._throttle.behind_since = self._behind_since()
        self._add_cursors(self._commits.committed_namespaces())
        due = [cursor for cursor in self._cursors.values() if self._is_due(cursor)]
        processed = list(self._process_due(due))
        if any(processed):
            self._last_work = time.monotonic()
        has_more = self._maintain() or any(cursor.has_more for cursor in due) or len(processed) < len(due)
        self._throttle.yield_cpu()
        if has_more:
            return
        if self._commits.total != total or any(processed):
            self._stopping.wait(self._linger_seconds)
        else:
            self._commits.wait_for_commit(total, self._seconds_until_due())

    def _process_due(self, due: Sequence[TaskCursor]) -> Iterator[int]:
        """Process one batch for each cursor, for at most MAX_ROUND_SECONDS: maintenance must not wait for long."""
        started = time.monotonic()
        for cursor in due:
            name = (cursor.task.name, cursor.namespace)
            self._cursors[name] = self._cursors.pop(name)
            yield self._process_batch(cursor)
            if time.monotonic() - started > MAX_ROUND_SECONDS:
                return

    def _behind_since(self) -> float:
        """Return the longest lag of a task that has no error."""
        behind = [each.behind_since for each in self._cursors.values() if each.behind_since and not each.last_error]
        return min(behind, default=time.monotonic())

    def _add_cursors(self, namespaces: Iterable[str]) -> None:
        for namespace in namespaces:
            for task in self._tasks:
                self._cursors.setdefault((task.name, namespace), TaskCursor(task, namespace))

    def _is_due(self, cursor: TaskCursor) -> bool:
        has_commits = cursor.seen_commits != self._commits.commit_count(cursor.namespace)
        return has_commits and not self._stopping.is_set() and cursor.not_before <= time.monotonic()

    def _seconds_until_due(self) -> float:
        """Return how long no cursor is due if there is no commit."""
        delays = [cursor.not_before - time.monotonic() for cursor in self._cursors.values() if cursor.last_error]
        return max(0.01, min([IDLE_SECONDS, *delays]))

    def _process_batch(self, cursor: TaskCursor) -> int:
        """Process one batch, and return how many entries it had."""
        commits, now = self._commits.commit_count(cursor.namespace), time.monotonic()
        cursor.has_more = False
        try:
            end_lsn = self._journal.log_end(cursor.namespace)
            batch = self._read_batch(cursor, now)
            if not batch:
                cursor.caught_up(commits)
                return 0
            with self._dead_letters.attempt(cursor.task, cursor.namespace, batch[0]):
                self._process(cursor, batch)
            is_end = len(batch) < BATCH_ENTRIES and self._is_end(cursor, batch[-1].lsn, end_lsn)
            cursor.has_more = not is_end and not cursor.last_error
            if is_end and not cursor.last_error:
                # Under constant writes there are always new entries: a task that keeps up is not behind.
                cursor.behind_since = now
        except ShuttingDown:
            raise
        except (RetryLater, Unavailable) as obstacle:
            self._back_off(cursor, str(obstacle))
            log.warning("%s waits: %s", cursor.task.name, obstacle)
            return 0
        except Exception as error:  # the edge of the loop: a namespace that fails must not stop the others
            log.exception("%s cannot continue in a namespace", cursor.task.name)
            self._back_off(cursor, type(error).__name__)
            return 0
        return len(batch)

    def _read_batch(self, cursor: TaskCursor, now: float) -> LogEntries:
        """Return the next entries, up to BATCH_ENTRIES or BATCH_BYTES. A suspect entry is alone in its batch."""
        batch: list[LogEntry] = []
        position, size = cursor.task.position(cursor.namespace), 0
        cursor.position = position
        while len(batch) < BATCH_ENTRIES:
            entries = self._read(cursor, position, READ_ENTRIES)
            if entries:
                cursor.behind_since = cursor.behind_since or now
            for entry in entries:
                size += entry_bytes(entry)
                is_suspect = self._dead_letters.is_suspect(cursor.task, cursor.namespace, entry)
                if batch and (size > BATCH_BYTES or is_suspect):
                    return batch
                batch.append(entry)
                if is_suspect:
                    return batch
            if len(entries) < READ_ENTRIES:
                break
            position = entries[-1].lsn
            self._throttle.yield_cpu()
        return batch

    def _is_end(self, cursor: TaskCursor, lsn: int, end_lsn: int) -> bool:
        """Return whether no entry is left up to `end_lsn`. A batch may be short because its entries are large."""
        left = self._read(cursor, lsn, 1) if lsn < end_lsn else ()
        return not left or left[0].lsn > end_lsn

    def _read(self, cursor: TaskCursor, after_lsn: int, limit: int) -> LogEntries:
        return self._journal.read_changes(cursor.namespace, after_lsn, limit, max_message_bytes=self._max_message_bytes)

    def _process(self, cursor: TaskCursor, batch: LogEntries) -> None:
        task, namespace, started = cursor.task, cursor.namespace, time.thread_time()
        try:
            task.process(namespace, self._dead_letters.without_skipped(task, batch))
            cursor.succeeded()
        except (RetryLater, Unavailable):
            raise
        except Exception as error:  # the edge of the loop: one bad entry must not stop the rest
            cursor.entry_failures += 1
            log.exception("%s failed, attempt %d", task.name, cursor.entry_failures)
            if cursor.entry_failures < MAX_ATTEMPTS:
                self._back_off(cursor, type(error).__name__)
            else:
                self._process_one_by_one(cursor, batch)
        else:
            if (seconds := time.thread_time() - started) > self._max_cpu_seconds:
                self._dead_letters.add_costly(task, namespace, batch, seconds)

    def _back_off(self, cursor: TaskCursor, error: str) -> None:
        self._failures.add(cursor.task.name)
        cursor.back_off(error)

    def _process_one_by_one(self, cursor: TaskCursor, batch: LogEntries) -> None:
        for entry in batch:
            try:
                cursor.task.process(cursor.namespace, self._dead_letters.without_skipped(cursor.task, [entry]))
            except (RetryLater, Unavailable):
                raise
            except Exception as error:  # the same edge: this entry is the cause
                log.exception("%s fails repeatedly", cursor.task.name)
                self._dead_letters.add(cursor.task, cursor.namespace, entry, type(error).__name__)
                cursor.task.process(cursor.namespace, [NoOp(entry.lsn)])
        cursor.succeeded()

    def _maintain(self) -> bool:
        idle = time.monotonic() - self._last_work > IDLE_SECONDS
        return True in [self._maintain_task(task, idle) for task in self._tasks]

    def _maintain_task(self, task: Task, idle: bool) -> bool:
        try:
            return task.maintain(idle)
        except ShuttingDown:
            raise
        except Exception:  # the same edge: maintenance is retried
            self._failures.add(task.name)
            log.exception("maintenance of %s failed", task.name)
            return False
