"""One small runner for all background tasks: it follows the log, goes on where it was, and gives way to everybody."""

import logging
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from memsidecar.domain.errors import ShuttingDown
from memsidecar.layers.background.commit_signal import CommitSignal
from memsidecar.layers.background.task import RetryLater, Task
from memsidecar.layers.background.throttle import BackgroundThrottle
from memsidecar.stores.contract import AddDeadLetter, Journal, LogEntries, LogEntry, NoOp, PendingCommand
from memsidecar.stores.contract.change_feed import MAX_BATCH_BYTES, entry_bytes

log = logging.getLogger(__name__)

BATCH_ENTRIES = 256
"Entries at once: more would keep others waiting, fewer would make many small commits."
READ_ENTRIES = 32
"Entries that are read at once: about a millisecond. In between, whoever calls gets a turn."
MAX_ATTEMPTS = 3
MIN_BACKOFF_SECONDS, MAX_BACKOFF_SECONDS = 0.2, 15.0
IDLE_SECONDS = 2.0
LATE_SECONDS = 10.0
MAX_ROUND_SECONDS = 2.0


class Lag(NamedTuple):
    """How far a task is behind in one namespace, and what keeps it."""

    task: str
    namespace: str
    entries: int
    seconds: float
    trouble: str


@dataclass
class TaskCursor:
    """One task in one namespace. `faults` are those of its failures in a row that may be an entry's."""

    task: Task
    namespace: str
    beat: int = -1
    behind_since: float | None = None
    failures: int = 0
    faults: int = 0
    not_before: float = 0.0
    trouble: str = ""

    def caught_up(self, beat: int) -> None:
        self.beat, self.behind_since = beat, None
        self.succeeded()

    def succeeded(self) -> None:
        self.failures, self.faults, self.trouble = 0, 0, ""

    @property
    def is_behind(self) -> bool:
        """As far as is known: one that was never looked at may be."""
        return self.beat < 0 or self.behind_since is not None or bool(self.trouble)

    def postpone(self, trouble: str) -> None:
        """Try again later, each time a little later."""
        self.failures += 1
        pause = min(MIN_BACKOFF_SECONDS * 2 ** (self.failures - 1), MAX_BACKOFF_SECONDS)
        self.not_before, self.trouble = time.monotonic() + pause, trouble


class Runner:
    """Goes round the namespaces that have news, one chapter each, so that nobody waits for another's backlog.

    Within a namespace, news is taken in the order in which it came. `linger_seconds` is how long news may gather, so
    that a chapter is worth its commit.
    """

    def __init__(
        self,
        journal: Journal,
        pulse: CommitSignal,
        courtesy: BackgroundThrottle,
        tasks: list[Task],
        linger_seconds: float,
    ) -> None:
        self._courtesy = courtesy
        self._journal = journal
        self._pulse = pulse
        self._tasks = tasks
        self._linger_seconds = linger_seconds
        self._followers: dict[tuple[str, str], TaskCursor] = {}
        self._aside = {(one.task, one.lsn) for task in tasks for one in journal.dead_letters(task.name)}
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="background", daemon=True)
        self._last_work = time.monotonic()

    def start(self) -> None:
        self._follow(self._journal.last_lsns())
        self._thread.start()

    def stop(self) -> None:
        """Finish the chapter at hand; what is left is taken up at the next start."""
        self._stopping.set()
        self._courtesy.end()
        self._pulse.wake()
        if self._thread.is_alive():
            self._thread.join()

    def lags(self) -> list[Lag]:
        """Where a task is behind; empty when all have caught up."""
        tails = self._journal.last_lsns()
        behind = [one for one in list(self._followers.values()) if one.is_behind]
        lags = [self._lag(one, tails.get(one.namespace, 0)) for one in behind]
        return [lag for lag in lags if lag.entries or lag.last_error]

    def is_behind(self, namespace: str) -> bool:
        """Whether what the tasks make of a namespace may be old: one of them is kept from it, or has much to do."""
        late = time.monotonic() - LATE_SECONDS
        mine = [one for one in list(self._followers.values()) if one.namespace == namespace]
        return any(one.trouble or (one.behind_since or late) < late for one in mine)

    def _lag(self, follower: TaskCursor, tail: int) -> Lag:
        try:
            entries = max(0, tail - follower.task.position(follower.namespace))
        except RetryLater:
            entries = tail
        seconds = time.monotonic() - follower.behind_since if follower.behind_since else 0.0
        return Lag(follower.task.name, follower.namespace, entries, seconds, follower.trouble)

    def dead_letter_count(self) -> int:
        return len(self._aside)

    # -- on the runner's own thread

    def _run(self) -> None:
        self._courtesy.begin()
        try:
            while not self._stopping.is_set():
                self._round()
        except ShuttingDown:
            pass

    def _round(self) -> None:
        total = self._pulse.total
        self._courtesy.behind_since = self._behind_since()
        self._follow(self._pulse.beats())
        due = [follower for follower in self._followers.values() if self._is_due(follower)]
        taken = list(self._turns(due))
        if any(taken):
            self._last_work = time.monotonic()
        there_is_more = self._rest() or BATCH_ENTRIES in taken or len(taken) < len(due)
        self._courtesy.yield_cpu()
        if there_is_more:
            return
        if self._pulse.total != total or any(taken):
            self._stopping.wait(self._linger_seconds)
        else:
            self._pulse.wait_beyond(total, self._until_next())

    def _turns(self, due: Sequence[TaskCursor]) -> Iterator[int]:
        """In rotation, until it has taken long enough: chores have to be done, too, and some of them are promised."""
        begun = time.monotonic()
        for follower in due:
            name = (follower.task.name, follower.namespace)
            self._followers[name] = self._followers.pop(name)
            yield self._turn(follower)
            if time.monotonic() - begun > MAX_ROUND_SECONDS:
                return

    def _behind_since(self) -> float:
        """Of whoever is behind the longest and can go on."""
        behind = [one.behind_since for one in self._followers.values() if one.behind_since and not one.trouble]
        return min(behind, default=time.monotonic())

    def _follow(self, namespaces: Iterable[str]) -> None:
        for namespace in namespaces:
            for task in self._tasks:
                self._followers.setdefault((task.name, namespace), TaskCursor(task, namespace))

    def _is_due(self, follower: TaskCursor) -> bool:
        news = follower.beat != self._pulse.of(follower.namespace) and not self._stopping.is_set()
        return news and follower.not_before <= time.monotonic()

    def _until_next(self) -> float:
        """How long nothing will be due, unless somebody adds something."""
        later = [one.not_before - time.monotonic() for one in self._followers.values() if one.trouble]
        return max(0.01, min([IDLE_SECONDS, *later]))

    def _turn(self, follower: TaskCursor) -> int:
        """Take one chapter, and say how many entries it had."""
        beat, now, end = self._pulse.of(follower.namespace), time.monotonic(), self._journal.stats().last_lsn
        try:
            chapter = self._chapter(follower, now)
            if not chapter:
                follower.caught_up(beat)
                return 0
            self._take(follower, chapter)
            if len(chapter) < BATCH_ENTRIES and not follower.trouble and self._is_over(follower, chapter[-1].lsn, end):
                # Where somebody adds all the time there is news all the time, and who keeps up is not behind.
                follower.behind_since = now
        except RetryLater as obstacle:
            follower.postpone(str(obstacle))
            log.warning("%s waits: %s", follower.task.name, obstacle)
            return 0
        except ShuttingDown:
            raise
        except Exception as error:  # the same edge: the journal cannot be read, say; no other namespace waits for it
            log.exception("%s cannot go on in a namespace", follower.task.name)
            follower.postpone(type(error).__name__)
            return 0
        return len(chapter)

    def _chapter(self, follower: TaskCursor, now: float) -> LogEntries:
        """The next entries; fewer than a chapter where the log ends, or they are large. Who has some is behind."""
        chapter: list[LogEntry] = []
        position, size = follower.task.position(follower.namespace), 0
        while len(chapter) < BATCH_ENTRIES and size < MAX_BATCH_BYTES:
            piece = self._journal.read_changes(follower.namespace, position, READ_ENTRIES)
            chapter += piece
            if chapter:
                follower.behind_since = follower.behind_since or now
            if len(piece) < READ_ENTRIES:
                break
            position, size = piece[-1].lsn, size + sum(map(entry_bytes, piece))
            self._courtesy.yield_cpu()
        return chapter

    def _is_over(self, follower: TaskCursor, taken: int, end: int) -> bool:
        """Whether nothing of the log up to its end is left. A chapter may be short because its entries are large."""
        left = self._journal.read_changes(follower.namespace, taken, 1) if taken < end else ()
        return not left or left[0].lsn > end

    def _take(self, follower: TaskCursor, chapter: LogEntries) -> None:
        task, namespace = follower.task, follower.namespace
        try:
            task.process(namespace, [self._unless_aside(task, entry) for entry in chapter])
            follower.succeeded()
        except (RetryLater, ShuttingDown):
            raise
        except Exception as error:  # the edge of the loop: one bad entry must not stop the rest
            follower.faults += 1
            log.exception("%s failed, attempt %d", task.name, follower.faults)
            if follower.faults < MAX_ATTEMPTS:
                follower.postpone(type(error).__name__)
            else:
                self._take_one_by_one(follower, chapter)

    def _unless_aside(self, task: Task, entry: LogEntry) -> LogEntry:
        return NoOp(entry.lsn) if (task.name, entry.lsn) in self._aside else entry

    def _take_one_by_one(self, follower: TaskCursor, chapter: LogEntries) -> None:
        for entry in chapter:
            try:
                follower.task.process(follower.namespace, [self._unless_aside(follower.task, entry)])
            except (RetryLater, ShuttingDown):
                raise
            except Exception as error:  # the same edge: this is the entry that is to blame
                log.exception("%s fails again and again", follower.task.name)
                self._put_aside(follower, entry, error)
        follower.succeeded()

    def _put_aside(self, follower: TaskCursor, entry: LogEntry, error: Exception) -> None:
        """By name of the error only: its text may carry what was said."""
        task, reason = follower.task, type(error).__name__
        ticket = PendingCommand(AddDeadLetter(task.name, follower.namespace, entry.lsn, reason))
        self._journal.submit(ticket)
        ticket.wait()
        self._aside.add((task.name, entry.lsn))
        log.error("%s goes on without entry %d: %s", task.name, entry.lsn, reason)
        task.process(follower.namespace, [NoOp(entry.lsn)])

    def _rest(self) -> bool:
        idle = time.monotonic() - self._last_work > IDLE_SECONDS
        return True in [self._chore(task, idle) for task in self._tasks]

    def _chore(self, task: Task, idle: bool) -> bool:
        try:
            return task.maintain(idle)
        except ShuttingDown:
            raise
        except Exception:  # the same edge: chores are tried again
            log.exception("a chore of %s failed", task.name)
            return False
