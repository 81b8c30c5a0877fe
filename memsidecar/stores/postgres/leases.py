"""The lease of the sidecar on its database. For now there is one sidecar at a time.

The holder renews the lease; a second sidecar does not start while it does. A transaction locks the row of the lease
first and writes only while holder and epoch are still its own: a sidecar that was frozen, and whose lease was taken
over, changes nothing. A renewal does not wait for transactions, a takeover waits for those that are under way. Time is
the database's.
"""

import logging
import threading
import time
from collections.abc import Sequence
from contextlib import closing
from typing import Any
from uuid import uuid4

import psycopg
from psycopg import Connection

from memsidecar.domain.errors import JournalUnavailable, StartRefused
from memsidecar.stores.postgres.connection import ConnectionString, connect, translated

log = logging.getLogger(__name__)

LEASE_SECONDS = 15.0
RENEW_SECONDS = 5.0
POLL_SECONDS = 0.25

_OF_SIDECAR = "task = 'sidecar' AND shard = 0"
_OWN = f"{_OF_SIDECAR} AND holder = %s AND epoch = %s"
_UNTIL = f"clock_timestamp() + interval '{LEASE_SECONDS} seconds'"
_CREATE = """INSERT INTO leases VALUES ('sidecar', 0, %s, 0, 'epoch') ON CONFLICT DO NOTHING"""
_LOCK = f"SELECT epoch, until::text, until < clock_timestamp() FROM leases WHERE {_OF_SIDECAR} FOR UPDATE"
_TAKE = f"UPDATE leases SET holder = %s, epoch = %s, until = {_UNTIL} WHERE {_OF_SIDECAR}"
_RENEW = f"UPDATE leases SET until = {_UNTIL} WHERE {_OWN}"
_RELEASE = f"UPDATE leases SET until = clock_timestamp() WHERE {_OWN}"
OWN_LEASE = "l.task = 'sidecar' AND l.shard = 0 AND l.holder = %s AND l.epoch = %s"
FENCE = f"SELECT FROM leases l WHERE {OWN_LEASE} FOR KEY SHARE"
"Returns a row, and locks it, while the lease has not been taken over."


class SidecarLease:
    """Taken when it is opened, renewed on a thread of its own until it is closed."""

    def __init__(self, connection_string: ConnectionString) -> None:
        self._connection_string = connection_string
        self._holder = uuid4()
        self._epoch = 0
        self._take_when_free()
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._renew_until_closed, name="lease", daemon=True)
        self._thread.start()

    @property
    def fence(self) -> Sequence[Any]:
        """Return the parameters of FENCE."""
        return self._holder, self._epoch

    def close(self) -> None:
        """Give the lease back, so that another sidecar can start at once."""
        self._closed.set()
        self._thread.join()
        try:
            with closing(connect(self._connection_string)) as connection:
                connection.execute(_RELEASE, self.fence)
        except (psycopg.Error, JournalUnavailable) as error:
            log.warning("the lease ends by itself in %g s, it could not be given back: %s", LEASE_SECONDS, error)

    def _take_when_free(self) -> None:
        """Take the lease; wait for it while nobody renews it. StartRefused if somebody does."""
        first_until: str | None = None
        with translated(), closing(connect(self._connection_string)) as connection:
            while (until := self._try_to_take(connection)) is not None:
                if first_until is None:
                    log.info("waiting for the lease of a sidecar that ended or uses the same database")
                    first_until = until
                if until != first_until:
                    raise StartRefused("another sidecar uses the database: there can be only one at a time")
                time.sleep(POLL_SECONDS)

    def _try_to_take(self, connection: Connection) -> str | None:
        """Return None if the lease is taken, else until when another sidecar has it."""
        with connection.transaction():
            connection.execute(_CREATE, (self._holder,))
            ((epoch, until, is_free),) = connection.execute(_LOCK).fetchall()
            if not is_free:
                return str(until)
            connection.execute(_TAKE, (self._holder, epoch + 1))
            self._epoch = epoch + 1
            return None

    def _renew_until_closed(self) -> None:
        while not self._closed.wait(RENEW_SECONDS):
            try:
                with closing(connect(self._connection_string)) as connection:
                    if connection.execute(_RENEW, self.fence).rowcount == 0:
                        self._take_again(connection)
            except (psycopg.Error, JournalUnavailable) as error:
                log.warning("the lease could not be renewed: %s", error)

    def _take_again(self, connection: Connection) -> None:
        if self._try_to_take(connection) is None:
            log.warning("another sidecar used the database meanwhile; the lease is taken again")
        else:
            log.critical("another sidecar uses the database: this one answers no writes")
