"""Layout: how the text of a document is made of its chunks again, without a second copy of the text.

A layout has one part for each chunk: the white space before it (a text), or the number of characters that it has in
common with the text before it. The last part is the white space at the end.
"""

import json
import zlib
from collections.abc import Iterator, Sequence
from hashlib import sha256
from itertools import pairwise

from memsidecar.layers.documents.chunker import ChunkSpan
from memsidecar.stores.contract import StoredDocument

_GAPS = ("\n\n", "\n", " ", "")
"White space that is tried between the chunks of a document without a layout."


def encode_layout(text: str, spans: Sequence[ChunkSpan]) -> bytes:
    parts: list[str | int] = []
    end = 0
    for span in spans:
        parts.append(end - span.start if span.start < end else text[end : span.start])
        end = span.end
    parts.append(text[end:])
    return zlib.compress(json.dumps(parts).encode())


def text_of(document: StoredDocument) -> str:
    """Return the text of a document with its chunks.

    A document that was stored without a layout may have other white space between its chunks.
    """
    chunks = [chunk.text for chunk in document.chunks]
    if document.layout:
        return "".join(_joined(chunks, json.loads(zlib.decompress(document.layout))))
    guesses = ["".join(_joined(chunks, [*_guessed(chunks, gap), end])) for gap in _GAPS for end in ("", "\n")]
    matching = (text for text in guesses if sha256(text.encode()).hexdigest() == document.sha256)
    return next(matching, guesses[0])


def _joined(chunks: Sequence[str], parts: Sequence[str | int]) -> Iterator[str]:
    for chunk, part in zip(chunks, parts, strict=False):
        if isinstance(part, str):
            yield part
        yield chunk[part:] if isinstance(part, int) else chunk
    yield str(parts[-1])


def _guessed(chunks: Sequence[str], gap: str) -> Iterator[str | int]:
    """Yield the longest overlap of each chunk with the one before it, or the gap."""
    yield ""
    for before, chunk in pairwise(chunks):
        overlaps = (size for size in range(min(len(before), len(chunk)), 0, -1) if before.endswith(chunk[:size]))
        yield next(overlaps, gap)
