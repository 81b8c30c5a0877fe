"""Formats comments of the contract as docstrings."""

import textwrap

WIDTH = 112


def docstring(comment: str, named: dict[str, str], indent: int = 8) -> str:
    body = [_wrapped(part, indent) for part in comment.split("\n\n")]
    if named:
        body.append("\n".join(_entry(name, text, indent) for name, text in named.items()))
    text, end = "\n\n".join(body).strip(), "\n" + " " * indent if len(body) > 1 else ""
    return f'{" " * indent}"""{text}{end}"""\n'


def _wrapped(part: str, indent: int) -> str:
    return _filled(" ".join(part.split()), indent, indent)


def _entry(name: str, text: str, indent: int) -> str:
    return _filled(f"{name}: {' '.join(text.split())}", indent, indent + 4)


def _filled(text: str, first: int, others: int) -> str:
    return textwrap.fill(text, WIDTH, initial_indent=" " * first, subsequent_indent=" " * others)
