"""The methods of a client, out of the contract: one for each RPC, with its comment and a keyword for each field."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from google.protobuf.descriptor_pb2 import FieldDescriptorProto, MethodDescriptorProto

from contract import SCALARS, Contract, is_required, short, unspecified
from docstrings import docstring

# Calls about one thing take the thing's fields as their own; its id is named after it.
THINGS = {"Add": "message", "PutArtifact": "artifact", "PutDocument": "document"}
# What makes a write safe to send again. Where the caller gives none, the client does.
IDENTIFIED = {
    "Add": "identify(request.message)",
    "AddBatch": "identify(*request.messages)",
    "StoreInteraction": "identify_interaction(request)",
    "PutArtifact": "identify_artifact(request)",
}
LAZY = "\n\nNothing is sent before the answers are read."
PER_PAGE = "\n\n`timeout` is for each page."
HEADER = '''"""Made by clients/python/generate.py out of the contract; do not edit."""

from collections.abc import {iterators}, Iterable, Mapping
from datetime import datetime
from typing import Any

from google.protobuf.timestamp_pb2 import Timestamp

from memsidecar_client.{module} import {calls}
from memsidecar_client._ids import identify, identify_artifact, identify_interaction
from memsidecar_client._requests import built, {each}
from memsidecar_client._timeout import checked
from memsidecar_client.dicts import {dicts}
{imports}


class {name}({calls}):
    """A method for each RPC. Keywords are the fields of its request; what is left out has the server's default.

    Every method takes `timeout`: the seconds that it may take, retries included, in place of the client's own;
    math.inf is no limit. With 0 or less, it ends with DeadlineExceeded, and nothing is sent.
    """
'''


def snake(name: str) -> str:
    """As Python names a method; `import` is a word of the language."""
    found = re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
    return found + "_" if found == "import" else found


@dataclass(frozen=True)
class Keyword:
    name: str
    annotation: str
    default: str
    comment: str
    field: str
    inside: bool

    @property
    def parameter(self) -> str:
        return f"{self.name}: {self.annotation}" + (f" = {self.default}" if self.default else "")


@dataclass(frozen=True)
class Writer:
    contract: Contract
    asynchronous: bool

    def method(self, service: str, method: MethodDescriptorProto) -> str:
        if method.client_streaming:
            return self._both_ways(service, method)
        if method.server_streaming:
            return self._streamed(service, method)
        return self._plain_call(service, method) + self._pages(service, method)

    def _plain_call(self, service: str, method: MethodDescriptorProto) -> str:
        answer, way = short(method.output_type), "await " if self.asynchronous else ""
        return (
            self._head(snake(method.name), self._keywords(method), answer, self._documentation(service, method))
            + f"        request = {self._request(method)}\n"
            + (f"        {IDENTIFIED[method.name]}\n" if method.name in IDENTIFIED else "")
            + f'        return {way}self._call("{service}/{method.name}", request, {answer}, checked(timeout))\n'
        )

    def _streamed(self, service: str, method: MethodDescriptorProto) -> str:
        answer = short(method.output_type)
        return (
            self._head(
                snake(method.name),
                self._keywords(method),
                self._many(answer),
                self._documentation(service, method),
                plain=True,
            )
            + f"        request = {self._request(method)}\n"
            + f'        return self._answers("{service}/{method.name}", request, {answer}, checked(timeout))\n'
        )

    def _both_ways(self, service: str, method: MethodDescriptorProto) -> str:
        """Of AddStream, what is identified can be sent again; of the others it is up to the caller."""
        request, answer = short(method.input_type), short(method.output_type)
        one, each = f"{request} | {request}Dict", "each_of_async" if self.asynchronous else "each_of"
        given = f"Iterable[{one}]" + (f" | AsyncIterable[{one}]" if self.asynchronous else "")
        sent = "_sent_again" if method.name == "AddStream" else "_exchanged"
        comment = self.contract.comments[f"{service}.{method.name}"] + LAZY
        parameters = f"self, requests: {given}, *, timeout: float | None = None"
        return (
            f"\n    def {snake(method.name)}({parameters}) -> {self._many(answer)}:\n"
            + docstring(comment, {})
            + f"        messages = {each}({request}, requests)\n"
            + f'        return self.{sent}("{service}/{method.name}", messages, {answer}, checked(timeout))\n'
        )

    def _pages(self, service: str, method: MethodDescriptorProto) -> str:
        """For calls that answer in pages, one that goes through all of them."""
        answer = self.contract.messages[short(method.output_type)]
        if "next_page_token" not in {field.name for field in answer.field}:
            return ""
        items = next(field for field in answer.field if field.type == FieldDescriptorProto.TYPE_MESSAGE)
        keywords = [keyword for keyword in self._keywords(method) if keyword.name != "page_token"]
        path = f"{service}/{method.name}"
        comment = f"Goes through all pages of `{snake(method.name)}`, each asked for when it is needed.{PER_PAGE}"
        return (
            self._head(
                f"iter_{items.name}", keywords, self._many(short(items.type_name)), docstring(comment, {}), plain=True
            )
            + f"        request = {self._request(method, keywords)}\n"
            + f'        return self._paged("{path}", request, {answer.name}, "{items.name}", checked(timeout))\n'
        )

    def _head(self, name: str, keywords: list[Keyword], answer: str, documentation: str, plain: bool = False) -> str:
        ordered = sorted(keywords, key=lambda keyword: bool(keyword.default))
        parameters = ", ".join(
            ["self", "*", *(keyword.parameter for keyword in ordered), "timeout: float | None = None"]
        )
        begin = "async def" if self.asynchronous and not plain else "def"
        return f"\n    {begin} {name}({parameters}) -> {answer}:\n{documentation}"

    def _many(self, item: str) -> str:
        return f"{'AsyncIterator' if self.asynchronous else 'Iterator'}[{item}]"

    def _documentation(self, service: str, method: MethodDescriptorProto) -> str:
        named = {keyword.name: keyword.comment for keyword in self._keywords(method)}
        if method.name in IDENTIFIED:
            # Of ids, the contract tells what the server makes; here the client is quicker.
            named = {
                name: re.sub(r"server makes|made by the server", _by_the_client, text) for name, text in named.items()
            }
        return docstring(self.contract.comments[f"{service}.{method.name}"], named)

    def _request(self, method: MethodDescriptorProto, keywords: list[Keyword] | None = None) -> str:
        keywords = self._keywords(method) if keywords is None else keywords
        given = [f"{keyword.field}={keyword.name}" for keyword in keywords if not keyword.inside]
        inside = ", ".join(f"{keyword.field}={keyword.name}" for keyword in keywords if keyword.inside)
        if thing := THINGS.get(method.name):
            kind = next(field for field in self._fields(method) if field.name == thing)
            called = {keyword.field: keyword.name for keyword in keywords if keyword.field != keyword.name}
            given.append(f"{thing}=built({short(kind.type_name)}, {called}, {inside})")
        return f"built({', '.join([short(method.input_type), *given])})"

    def _fields(self, method: MethodDescriptorProto) -> list[FieldDescriptorProto]:
        return list(self.contract.messages[short(method.input_type)].field)

    def _keywords(self, method: MethodDescriptorProto) -> list[Keyword]:
        found: list[Keyword] = []
        for field in self._fields(method):
            if field.name == THINGS.get(method.name):
                found += self._thing(field)
            else:
                found.append(self._keyword(short(method.input_type), field, field.name))
        return found

    def _thing(self, thing: FieldDescriptorProto) -> Iterator[Keyword]:
        kind = short(thing.type_name)
        for field in self.contract.messages[kind].field:
            if not self.contract.comments[f"{kind}.{field.name}"].startswith("Output only"):
                name = f"{thing.name}_id" if field.name == "id" else field.name
                yield self._keyword(kind, field, name, inside=True)

    def _keyword(self, message: str, field: FieldDescriptorProto, name: str, inside: bool = False) -> Keyword:
        comment = self.contract.comments[f"{message}.{field.name}"]
        annotation, default = self.contract.annotation(message, field), self._default(field)
        if is_required(comment):
            annotation, default = annotation.removesuffix(" | None"), ""
        return Keyword(name, annotation, default, comment, field.name, inside)

    def _default(self, field: FieldDescriptorProto) -> str:
        kind = short(field.type_name)
        if field.label == FieldDescriptorProto.LABEL_REPEATED:
            return "()"
        if field.type == FieldDescriptorProto.TYPE_ENUM:
            return f"{kind}.{unspecified(kind)}"
        return SCALARS[field.type][1] if field.type in SCALARS and not field.proto3_optional else "None"


def _by_the_client(words: re.Match[str]) -> str:
    return words[0].replace("server", "client")


def methods_module(contract: Contract, asynchronous: bool) -> str:
    """The text of a module with a class of all methods."""
    header = HEADER.format(
        iterators="AsyncIterable, AsyncIterator" if asynchronous else "Iterator",
        module="_aio_calls" if asynchronous else "_calls",
        calls="AsyncCalls" if asynchronous else "Calls",
        name="AsyncMethods" if asynchronous else "Methods",
        each="each_of_async" if asynchronous else "each_of",
        dicts=", ".join([f"{name}Name" for name in contract.enums] + [f"{name}Dict" for name in contract.messages]),
        imports=contract.imports(),
    )
    writer = Writer(contract, asynchronous)
    return header + "".join(writer.method(service, method) for service, method in contract.methods())
