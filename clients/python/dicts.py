"""The types of what may be given in place of messages and of the values of enumerations: dicts, and names."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from google.protobuf.descriptor_pb2 import FieldDescriptorProto, MethodDescriptorProto

from contract import WELL_KNOWN, Contract, is_required, short
from docstrings import docstring

HEADER = '''"""Made by clients/python/generate.py out of the contract; do not edit.

What a request takes in place of a message: a dict, with a key for each field that is given. And what it takes in place
of an enumeration's value: its name.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Literal, Required, TypedDict

from google.protobuf.timestamp_pb2 import Timestamp

{imports}
'''


@dataclass(frozen=True)
class Found:
    """What requests are made of. A dict names other dicts, so those come first."""

    contract: Contract
    enums: list[str] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)

    def look_at(self, method: MethodDescriptorProto) -> None:
        """The request of a method is its keywords; in a stream it is given as a whole."""
        if method.client_streaming:
            self._look_into(short(method.input_type))
        for one in self.contract.messages[short(method.input_type)].field:
            self._look_at_field(one)

    def _look_at_field(self, one: FieldDescriptorProto) -> None:
        kind = short(one.type_name)
        if kind in self.contract.enums and kind not in self.enums:
            self.enums.append(kind)
        if kind in self.contract.messages and one.type_name not in WELL_KNOWN:
            self._look_into(kind)

    def _look_into(self, kind: str) -> None:
        for one in self.contract.messages[kind].field:
            self._look_at_field(one)
        if kind not in self.messages:
            self.messages.append(kind)


def dicts_module(contract: Contract) -> str:
    """The text of a module with a type for each dict, and one for the names of each enumeration."""
    found = Found(contract)
    for _, method in contract.methods():
        found.look_at(method)
    names = "".join(_names(contract, enum) for enum in found.enums)
    return HEADER.format(imports=contract.imports()) + names + "".join(_dict(contract, one) for one in found.messages)


def _names(contract: Contract, enum: str) -> str:
    values = [value.name for value in contract.enums[enum].value]
    prefix = values[0].removesuffix("UNSPECIFIED")
    labels = ", ".join(f'"{value.removeprefix(prefix).lower()}"' for value in values[1:])
    return f"{enum}Name = Literal[{labels}]\n"


def _dict(contract: Contract, message: str) -> str:
    named = {one.name: contract.comments[f"{message}.{one.name}"] for one in contract.messages[message].field}
    keys = "".join(f"    {key}\n" for key in _keys(contract, message))
    documentation = docstring(contract.comments[message], named, indent=4)
    return f"\n\nclass {message}Dict(TypedDict, total=False):\n{documentation}\n{keys}"


def _keys(contract: Contract, message: str) -> Iterator[str]:
    for one in contract.messages[message].field:
        annotation = contract.annotation(message, one)
        if is_required(contract.comments[f"{message}.{one.name}"]):
            annotation = f"Required[{annotation.removesuffix(' | None')}]"
        yield f"{one.name}: {annotation}"
