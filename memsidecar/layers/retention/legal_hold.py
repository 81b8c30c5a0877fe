"""Legal hold: messages with a tag in their metadata that retention never erases."""

from collections.abc import Callable

from google.protobuf.struct_pb2 import Value

from memsidecar.v1.message_pb2 import Message

HoldCheck = Callable[[bytes], bool]
"Tells whether the encoded message is held."


def hold_check(tag: str) -> HoldCheck | None:
    """Return the check for a tag, which is a key of the metadata or key=value; None for an empty tag.

    A key alone holds a message with any value of it except null and false. The journal calls the check while other
    writes wait, so a message without the key is not decoded.
    """
    if not tag:
        return None
    key, has_value, wanted = tag.partition("=")
    encoded_key = key.encode()

    def is_held(body: bytes) -> bool:
        if encoded_key not in body:
            return False
        fields = Message.FromString(body).metadata.fields
        return key in fields and (_text(fields[key]) == wanted if has_value else _is_set(fields[key]))

    return is_held


def _is_set(value: Value) -> bool:
    kind = value.WhichOneof("kind")
    return kind not in (None, "null_value") and not (kind == "bool_value" and not value.bool_value)


def _text(value: Value) -> str:
    """Return a text, a number or a truth value as it is written in JSON."""
    kind = value.WhichOneof("kind")
    if kind == "bool_value":
        return "true" if value.bool_value else "false"
    if kind == "number_value":
        return f"{value.number_value:g}"
    return value.string_value if kind == "string_value" else ""
