"""A framework's message as JSON text beside the contract's fields, so that it is returned unchanged.

What stands in a field already (the content, the arguments of a call) is not kept twice: the frame points to it.
"""

import base64
import json
from collections.abc import Sequence
from typing import Any

MARK = "$"
"""The only key of what is no plain JSON: a piece of a text, a text read as JSON, bytes, a tuple, pairs of a mapping."""

MIN_PIECE_CHARACTERS = 32
"""Minimum length of a text to point to; a pointer to a shorter one saves nothing."""


def frame_of(whole: Any, texts: Sequence[str]) -> str:
    """Raises TypeError where JSON cannot hold what the message has."""
    return json.dumps(_folded(whole, texts), separators=(",", ":"))


def whole_of(frame: str, texts: Sequence[str]) -> Any:
    """Restore a message from its frame, with the same texts."""
    return _unfolded(json.loads(frame), texts)


def _folded(value: Any, texts: Sequence[str]) -> Any:
    if isinstance(value, str):
        return _folded_text(value, texts)
    if isinstance(value, bytes):
        return {MARK: ["bytes", base64.b64encode(value).decode()]}
    if isinstance(value, dict):
        return _folded_mapping(value, texts)
    if isinstance(value, tuple):
        return {MARK: ["tuple", [_folded(item, texts) for item in value]]}
    if isinstance(value, list):
        return [_folded(item, texts) for item in value]
    return value


def _folded_text(value: str, texts: Sequence[str]) -> Any:
    if len(value) < MIN_PIECE_CHARACTERS:
        return value
    places = ((number, text.find(value)) for number, text in enumerate(texts))
    for number, start in places:
        if start >= 0:
            return {MARK: ["piece", number, start, len(value)]}
    return value


def _folded_mapping(value: dict[Any, Any], texts: Sequence[str]) -> Any:
    written = _written(value, texts)
    if written is not None:
        return {MARK: ["json", written]}
    if MARK in value or not all(isinstance(key, str) for key in value):
        return {MARK: ["pairs", [[_folded(key, texts), _folded(item, texts)] for key, item in value.items()]]}
    return {key: _folded(item, texts) for key, item in value.items()}


def _written(value: dict[Any, Any], texts: Sequence[str]) -> int | None:
    """Return which of the texts is the JSON of this value, if a round trip keeps it."""
    if not value or not all(isinstance(key, str) for key in value):
        return None
    try:
        text = json.dumps(value)
    except (TypeError, ValueError):
        return None
    return texts.index(text) if text in texts and json.loads(text) == value else None


def _unfolded(value: Any, texts: Sequence[str]) -> Any:
    if isinstance(value, list):
        return [_unfolded(item, texts) for item in value]
    if not isinstance(value, dict):
        return value
    if MARK not in value:
        return {key: _unfolded(item, texts) for key, item in value.items()}
    return _meant(*value[MARK], texts=texts)


def _meant(kind: str, *details: Any, texts: Sequence[str]) -> Any:
    if kind == "piece":
        number, start, length = details
        return texts[number][start : start + length]
    if kind == "json":
        return json.loads(texts[details[0]])
    if kind == "bytes":
        return base64.b64decode(details[0])
    if kind == "tuple":
        return tuple(_unfolded(item, texts) for item in details[0])
    return {_unfolded(key, texts): _unfolded(item, texts) for key, item in details[0]}
