"""Generate the README's table from values.yaml, and the schema's settings from memsidecar's settings."""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import yaml

from helm.dashboard import dashboard
from memsidecar.settings import Settings

HELM = Path(__file__).parent
CHART = HELM / "memsidecar"
KEY = re.compile(r"(?P<indent> *)(?P<name>\w+):")


def described(values: str) -> Iterator[tuple[str, str]]:
    """Yield each path with a `# --` comment above it, and the comment."""
    path: list[str] = []
    comment: list[str] = []
    for line in values.splitlines():
        text = line.strip()
        if text.startswith("# -- "):
            comment = [text.removeprefix("# -- ")]
        elif text.startswith("#") and comment:
            comment.append(text.removeprefix("# "))
        elif key := KEY.match(line):
            path = [*path[: len(key["indent"]) // 2], key["name"]]
            if comment:
                yield ".".join(path), " ".join(comment)
            comment = []


def table(values: str) -> str:
    defaults = yaml.safe_load(values)
    rows = (f"| `{path}` | `{default(defaults, path)}` | {comment} |" for path, comment in described(values))
    return "\n".join(["| value | default | meaning |", "| --- | --- | --- |", *rows])


def default(values: Any, path: str) -> str:
    for name in path.split("."):
        values = values[name]
    return json.dumps(values)


def readme() -> str:
    prose = (HELM / "README.md.in").read_text()
    return prose.replace("<!-- values -->", table((CHART / "values.yaml").read_text()))


def schema() -> str:
    made = json.loads((CHART / "values.schema.json").read_text())
    made["properties"]["settings"]["properties"] = {
        name: accepted(field.annotation) for name, field in sorted(Settings.model_fields.items())
    }
    return json.dumps(made, indent=2) + "\n"


def accepted(annotation: Any) -> dict[str, Any]:
    if get_origin(annotation) is Literal:
        return {"enum": list(get_args(annotation))}
    # Seconds, ratios and weights are plain numbers; sizes such as 64MiB may be strings.
    if annotation is float:
        return {"type": "number"}
    return {"type": ["string", "number"]}


MADE = {
    CHART / "README.md": readme,
    CHART / "values.schema.json": schema,
    CHART / "files" / "dashboard.json": dashboard,
}


def main() -> int:
    for path, make in MADE.items():
        path.write_text(make())
    return 0


if __name__ == "__main__":
    sys.exit(main())
