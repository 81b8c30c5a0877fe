"""Reads the contract: messages, enumerations, comments, and their types in Python."""

import re
from collections.abc import Iterator

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
    FileDescriptorSet,
    MethodDescriptorProto,
)

SERVICES = ("MemoryService", "SessionService", "KnowledgeService")
SCALARS = {
    FieldDescriptorProto.TYPE_STRING: ("str", '""'),
    FieldDescriptorProto.TYPE_BOOL: ("bool", "False"),
    FieldDescriptorProto.TYPE_INT32: ("int", "0"),
    FieldDescriptorProto.TYPE_INT64: ("int", "0"),
    FieldDescriptorProto.TYPE_DOUBLE: ("float", "0.0"),
    FieldDescriptorProto.TYPE_FLOAT: ("float", "0.0"),
}
WELL_KNOWN = {
    ".google.protobuf.Struct": "Mapping[str, Any]",
    ".google.protobuf.Timestamp": "datetime | Timestamp",
}


class Contract:
    def __init__(self, files: FileDescriptorSet) -> None:
        self.files = [file for file in files.file if file.package == "memsidecar_client.v1"]
        self.messages: dict[str, DescriptorProto] = {}
        self.enums: dict[str, EnumDescriptorProto] = {}
        self.comments: dict[str, str] = {}
        self.modules: dict[str, str] = {}
        for file in self.files:
            self._read(file)

    def _read(self, file: FileDescriptorProto) -> None:
        comments = {tuple(place.path): place.leading_comments for place in file.source_code_info.location}
        module = file.name.removesuffix(".proto").replace("/", ".") + "_pb2"
        for enum in file.enum_type:
            self.modules[enum.name] = module
            self.enums[enum.name] = enum
        for at, message in enumerate(file.message_type):
            self.modules[message.name] = module
            self.messages[message.name] = message
            self.comments[message.name] = _plain(comments.get((4, at), ""))
            for index, field in enumerate(message.field):
                self.comments[f"{message.name}.{field.name}"] = _plain(comments.get((4, at, 2, index), ""))
        for at, service in enumerate(file.service):
            for index, method in enumerate(service.method):
                self.comments[f"{service.name}.{method.name}"] = _plain(comments.get((6, at, 2, index), ""))

    def methods(self) -> Iterator[tuple[str, MethodDescriptorProto]]:
        services = {service.name: service for file in self.files for service in file.service}
        for name in SERVICES:
            yield from ((name, method) for method in services[name].method)

    def annotation(self, message: str, field: FieldDescriptorProto) -> str:
        """Return the type annotation of a field: enum values also by name, messages also as dicts."""
        if entry := self._map_entry(message, field):
            key, value = (SCALARS[entry_field.type][0] for entry_field in entry.field)
            return f"Mapping[{key}, {value}]"
        if field.label == FieldDescriptorProto.LABEL_REPEATED:
            return f"Iterable[{self._annotation_of_one(field)}]"
        absent = field.type == FieldDescriptorProto.TYPE_MESSAGE or field.proto3_optional
        return self._annotation_of_one(field) + (" | None" if absent else "")

    def _annotation_of_one(self, field: FieldDescriptorProto) -> str:
        kind = short(field.type_name)
        if field.type == FieldDescriptorProto.TYPE_ENUM:
            return f"{kind} | {kind}Name"
        if field.type == FieldDescriptorProto.TYPE_MESSAGE:
            return WELL_KNOWN.get(field.type_name, f"{kind} | {kind}Dict")
        return SCALARS[field.type][0]

    def _map_entry(self, message: str, field: FieldDescriptorProto) -> DescriptorProto | None:
        nested = {
            nested_type.name: nested_type
            for nested_type in self.messages[message].nested_type
            if nested_type.options.map_entry
        }
        return nested.get(short(field.type_name))

    def imports(self) -> str:
        """Return imports of all messages and enumerations; the formatter removes the unused ones."""
        by_module: dict[str, list[str]] = {}
        for name, module in self.modules.items():
            by_module.setdefault(module, []).append(name)
        return "\n".join(
            f"from {module} import {', '.join(sorted(names))}" for module, names in sorted(by_module.items())
        )


def _plain(comment: str) -> str:
    return "\n".join(line.removeprefix(" ") for line in comment.strip("\n").splitlines()).strip()


def short(type_name: str) -> str:
    return type_name.rpartition(".")[2]


def is_required(comment: str) -> bool:
    return bool(re.search(r"\bRequired(\.|:|, not|, 1 to)|No default: 0 is", comment)) and "except with" not in comment


def unspecified(enum: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", enum).upper() + "_UNSPECIFIED"
