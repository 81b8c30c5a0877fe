"""Generate the OpenAPI document of the HTTP listener: python protos/openapi.py [OUT], by default docs/openapi.json.

Schemas are those of the JSON mapping of protobuf, and descriptions are the comments of the protos.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
    FileDescriptorSet,
    MethodDescriptorProto,
)
from grpc_tools import _proto, protoc

PROTOS = Path(__file__).resolve().parent
PAGE = PROTOS.parent / "docs" / "openapi.json"
PACKAGE = "memsidecar.v1"

Schema = dict[str, Any]

_WHOLE_64: Schema = {"type": ["string", "integer"], "format": "int64"}
SCALARS: dict[int, Schema] = {
    FieldDescriptorProto.TYPE_BOOL: {"type": "boolean"},
    FieldDescriptorProto.TYPE_STRING: {"type": "string"},
    FieldDescriptorProto.TYPE_BYTES: {"type": "string", "contentEncoding": "base64"},
    FieldDescriptorProto.TYPE_INT32: {"type": "integer", "format": "int32"},
    FieldDescriptorProto.TYPE_UINT32: {"type": "integer", "minimum": 0},
    FieldDescriptorProto.TYPE_INT64: _WHOLE_64,
    FieldDescriptorProto.TYPE_UINT64: _WHOLE_64,
    FieldDescriptorProto.TYPE_FLOAT: {"type": "number", "format": "float"},
    FieldDescriptorProto.TYPE_DOUBLE: {"type": "number", "format": "double"},
}
WELL_KNOWN: dict[str, Schema] = {
    ".google.protobuf.Timestamp": {"type": "string", "format": "date-time"},
    ".google.protobuf.Struct": {"type": "object"},
}
ERROR: Schema = {
    "type": "object",
    "description": "An error of the Connect protocol. Its details are those of gRPC: docs/errors.md.",
    "required": ["code"],
    "properties": {
        "code": {"type": "string", "description": "The gRPC code in lower case, such as invalid_argument."},
        "message": {"type": "string"},
        "details": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "type": {"type": "string", "description": "google.rpc.ErrorInfo, BadRequest or RetryInfo."},
                    "value": {"type": "string", "description": "The encoded detail, in base64 without padding."},
                    "debug": {"type": "object", "description": "The detail as JSON."},
                },
            },
        },
    },
}
STREAM = (
    "A stream of responses: request and responses are in envelopes of the Connect protocol, five bytes (flags, and the "
    "length as a big-endian number) before each message. The last one has the flag 2, and the error if there is one."
)


def generate(out: Path) -> None:
    """Write the document of the protos."""
    out.write_text(json.dumps(document(_compiled()), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def document(files: list["CommentedFile"]) -> Schema:
    paths: Schema = {}
    schemas: Schema = {"Error": ERROR}
    for file in files:
        paths.update(file.paths())
        schemas.update(file.schemas())
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "memsidecar",
            "version": PACKAGE.rpartition(".")[2],
            "description": "The memory of LLM agents over HTTP (Connect protocol). See docs/http.md.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "http://127.0.0.1:7680"}],
        "security": [{}, {"bearer": []}],
        "paths": dict(sorted(paths.items())),
        "components": {
            "schemas": dict(sorted(schemas.items())),
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer", "description": "Required with an access file."}
            },
        },
    }


class CommentedFile:
    """A file of the contract. Comments are found by the path of an element, as descriptors number them."""

    def __init__(self, file: FileDescriptorProto) -> None:
        self._file = file
        self._comments = {tuple(place.path): place.leading_comments for place in file.source_code_info.location}

    def paths(self) -> Iterator[tuple[str, Schema]]:
        for at, service in enumerate(self._file.service):
            for number, method in enumerate(service.method):
                if not method.client_streaming:
                    comment = self._comment(6, at, 2, number)
                    operation = _operation(service.name, method, comment)
                    yield f"/{PACKAGE}.{service.name}/{method.name}", {"post": operation}

    def schemas(self) -> Iterator[tuple[str, Schema]]:
        for at, enum in enumerate(self._file.enum_type):
            yield enum.name, self._enum(enum, at)
        for at, message in enumerate(self._file.message_type):
            yield message.name, self._message(message, at)

    def _enum(self, enum: EnumDescriptorProto, at: int) -> Schema:
        lines = [self._comment(5, at)]
        lines += [f"{value.name}: {self._comment(5, at, 2, number)}" for number, value in enumerate(enum.value)]
        names = [value.name for value in enum.value]
        return {"type": "string", "enum": names, **_described("\n".join(lines))}

    def _message(self, message: DescriptorProto, at: int) -> Schema:
        properties: Schema = {}
        for number, field in enumerate(message.field):
            properties[field.json_name] = _field(message, field, self._comment(4, at, 2, number))
        schema: Schema = {"type": "object", **_described(self._comment(4, at)), "properties": properties}
        return schema | ({"additionalProperties": False} if message.name.endswith("Request") else {})

    def _comment(self, *path: int) -> str:
        lines = self._comments.get(path, "").strip().splitlines()
        return "\n".join(line.removeprefix(" ").rstrip() for line in lines)


def _operation(service: str, method: MethodDescriptorProto, comment: str) -> Schema:
    media = "application/connect+json" if method.server_streaming else "application/json"
    description = f"{comment}\n\n{STREAM}" if method.server_streaming else comment
    return {
        "operationId": method.name,
        "tags": [service],
        "description": description,
        "requestBody": {"required": True, "content": {media: {"schema": _reference(method.input_type)}}},
        "responses": {
            "200": {"description": "OK", "content": {media: {"schema": _reference(method.output_type)}}},
            "default": {
                "description": "The error; its status follows from its code.",
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
            },
        },
    }


def _field(message: DescriptorProto, field: FieldDescriptorProto, comment: str) -> Schema:
    entry = next((nested for nested in message.nested_type if field.type_name.endswith(f".{nested.name}")), None)
    if entry is not None:
        return {"type": "object", "additionalProperties": _type(entry.field[1]), **_described(comment)}
    if field.label == FieldDescriptorProto.LABEL_REPEATED:
        return {"type": "array", "items": _type(field), **_described(comment)}
    return {**_type(field), **_described(comment)}


def _type(field: FieldDescriptorProto) -> Schema:
    if field.type_name in WELL_KNOWN:
        return WELL_KNOWN[field.type_name]
    return _reference(field.type_name) if field.type_name else SCALARS[field.type]


def _reference(type_name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{type_name.removeprefix(f'.{PACKAGE}.')}"}


def _described(comment: str) -> Schema:
    return {"description": comment} if comment else {}


def _compiled() -> list[CommentedFile]:
    with TemporaryDirectory() as temporary:
        out = Path(temporary) / "protos.binpb"
        includes = [f"-I{PROTOS}", f"-I{next(iter(_proto.__path__))}"]
        sources = sorted(str(path.relative_to(PROTOS)) for path in PROTOS.rglob("*.proto"))
        status = protoc.main(["protoc", *includes, "--include_source_info", f"--descriptor_set_out={out}", *sources])
        if status != 0:
            raise SystemExit(status)
        return [CommentedFile(file) for file in FileDescriptorSet.FromString(out.read_bytes()).file]


if __name__ == "__main__":
    generate(Path(sys.argv[1]) if len(sys.argv) > 1 else PAGE)
