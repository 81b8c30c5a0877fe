"""What goes with a session in RAM."""

from memsidecar.domain.errors import NoSuchThing
from memsidecar.stores.contract import Belongings, Erase, NoteKind
from memsidecar.stores.volatile.library import Library
from memsidecar.stores.volatile.notebook import Notebook
from memsidecar.stores.volatile.session import Session


def count_belongings(session: Session | None, library: Library, notebook: Notebook, command: Erase) -> Belongings:
    documents = library.all_of(command.key) if command.whole else ()
    notes = notebook.count_of(command.key, _user_of(session, command), command.whole)
    if command.whole and not (session or documents or notes):
        raise NoSuchThing(f"there is no session {command.key.session_id!r}")
    return Belongings(
        messages=len(session.messages) if session else 0,
        facts=notes[NoteKind.FACT],
        summaries=notes[NoteKind.SUMMARY],
        artifacts=notes[NoteKind.ARTIFACT],
        patterns=notes[NoteKind.PATTERNS],
        documents=len(documents),
        chunks=sum(document.chunk_count for document in documents),
    )


def drop_belongings(session: Session | None, library: Library, notebook: Notebook, command: Erase) -> None:
    """All but the messages."""
    notebook.drop_all_of(command.key, _user_of(session, command), command.whole)
    if command.whole:
        library.drop_all_of(command.key)


def _user_of(session: Session | None, command: Erase) -> str:
    """Whose patterns go along."""
    return session.user_id or command.user_id if session else ""
