"""Draw the pictures of docs/pictures: `python -m tools.pictures benchmarks|context FOLDER`.

`benchmarks` draws charts of benchmarks/results.json: the same figures give the same bytes. `context` starts a sidecar,
stores the conversations of docs/examples/receipt.py, and draws the receipt of its context.
"""

import json
import sys
import tempfile
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib import pyplot as plt

from docs.examples import receipt
from memsidecar.v1.context_pb2 import BuildContextResponse, Section, SectionReceipt
from tests.support.process import SidecarProcess

mpl.use("svg")

RESULTS = Path(__file__).resolve().parents[1] / "benchmarks" / "results.json"
OURS, BESIDE, OTHER, FREE = "#00897b", "#90a4ae", "#b0876a", "#eceff1"
TARGET = "#b71c1c"
SECTIONS = ("#455a64", "#8d6e63", "#00897b", "#7cb342", "#fbc02d", "#f57c00", "#5c6bc0", "#ab47bc", "#26a6d1")
CONTEXT_TOKENS = 2_000
STYLE = {
    "axes.grid": True,
    "axes.grid.axis": "x",
    "axes.axisbelow": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titleweight": "bold",
    # An opaque ground: the picture is read on light and on dark pages.
    "figure.facecolor": "#ffffff",
    "font.size": 10,
    "grid.color": "#e0e0e0",
    "legend.frameon": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "memsidecar",
}
Figures = dict[str, dict[str, Any]]


def main() -> int:
    kind, folder = sys.argv[1], Path(sys.argv[2])
    if kind == "context":
        draw_context(example_context(), folder)
    else:
        draw_benchmarks(folder)
    return 0


def draw_benchmarks(folder: Path) -> None:
    document = json.loads(RESULTS.read_text())
    results = [*document["results"], *document["retrieval"]["results"], *document["context"]["results"]]
    figures = {result["name"]: result for result in results}
    machine = f"{document['machine']['cores']} cores, {document['machine']['cpu']}"
    _draw_calls(figures, machine, folder)
    _draw_searches(figures, machine, folder)
    _draw_growth(figures, machine, folder)


def _draw_calls(figures: Figures, machine: str, folder: Path) -> None:
    rows = {
        "Add, 1 caller": "Add, 1 caller on 1 connection",
        "Add, 16 callers, 1 connection": "Add, 16 callers on 1 connection",
        "Add, 16 callers, 16 connections": "Add, 16 callers on 16 connections",
        "AddBatch of 100, per message": "AddBatch of 100, messages for each call of the empty handler",
        "GetRecent(50)": "GetRecent(50), beside a prebuilt answer",
    }
    title = f"Calls per second, as a multiple of an empty handler's ({machine})"
    with _chart(folder / "benchmark-calls.svg", title, rows) as axes:
        for offset, baseline, colour in ((-0.2, "threads", OURS), (0.2, "asyncio", BESIDE)):
            results = [figures[f"{name} ({baseline})"] for name in rows.values()]
            places = [row + offset for row in range(len(rows))]
            label = f"beside grpcio's empty handler on {baseline}"
            _bars(axes, places, [result["value"] for result in results], "{:.2f} x", color=colour, label=label)
            axes.vlines(
                [result["target"] for result in results],
                [place - 0.2 for place in places],
                [place + 0.2 for place in places],
                color=TARGET,
                label="target, at least" if offset > 0 else None,
            )


def _draw_searches(figures: Figures, machine: str, folder: Path) -> None:
    rows = {f"{count} of 100,000 messages": f"Search, a user with {count} of 100,000" for count in ("5,000", "95,000")}
    details = [figures[f"{name} messages: p50 / bare LanceDB's"]["details"] for name in rows.values()]
    series = (
        ("p50_us", "memsidecar", OURS),
        ("p50_us bare LanceDB", "bare LanceDB", BESIDE),
        ("p50_us Chroma", "Chroma", OTHER),
    )
    with _chart(folder / "benchmark-search.svg", f"Search of one caller, median in ms ({machine})", rows) as axes:
        for number, (key, label, colour) in enumerate(series):
            places = [row + 0.27 * (number - 1) for row in range(len(rows))]
            medians = [detail[key] / 1_000 for detail in details]
            _bars(axes, places, medians, "{:.0f} ms", height=0.25, color=colour, label=label)


def _draw_growth(figures: Figures, machine: str, folder: Path) -> None:
    rows = {
        "Add": "Add: 100,000 messages / 1,000",
        "GetRecent(50)": "GetRecent(50): 100,000 messages / 1,000",
        "Count": "Count: 100,000 messages / 1,000",
        "Prune of ten messages": "Prune of ten messages: 100,000 messages / 1,000",
    }
    title = f"Time with 100,000 messages, divided by that with 1,000 ({machine})"
    with _chart(folder / "benchmark-growth.svg", title, rows) as axes:
        values = [figures[name]["value"] for name in rows.values()]
        _bars(axes, range(len(rows)), values, "{:.2f} x", color=OURS, label="measured")
        axes.axvline(figures[rows["Add"]]["target"], color=TARGET, label="target, at most")


@contextmanager
def _chart(path: Path, title: str, rows: Collection[str]) -> Iterator[Any]:
    """Open the axes of horizontal bars, the first row on top, and write the picture."""
    with mpl.rc_context(STYLE):
        figure, axes = plt.subplots(figsize=(9, 1.4 + 0.5 * len(rows)), layout="constrained")
        axes.set_yticks(range(len(rows)), list(rows))
        axes.invert_yaxis()
        axes.tick_params(left=False)
        axes.set_title(title)
        yield axes
        axes.margins(x=0.04)
        figure.legend(loc="outside lower center", ncols=3)
        figure.savefig(path, metadata={"Date": None})
        plt.close(figure)


def _bars(axes: Any, places: Sequence[float], values: Sequence[float], text: str, **look: Any) -> None:
    axes.barh(places, values, **{"height": 0.38, **look})
    for place, value in zip(places, values, strict=True):
        # In a column beside the bars, where it covers no line of a target.
        axes.text(1.02, place, text.format(value), transform=axes.get_yaxis_transform(), va="center")


def example_context() -> BuildContextResponse:
    """Build the context of docs/examples/receipt.py with a sidecar of its own."""
    with (
        tempfile.TemporaryDirectory() as folder,
        SidecarProcess(Path(folder) / "data") as sidecar,
        sidecar.client() as client,
    ):
        receipt.store(client.memory, client.knowledge)
        return receipt.build(client.memory, CONTEXT_TOKENS)


def draw_context(context: BuildContextResponse, folder: Path) -> None:
    """Draw the tokens of each section within its limit, and all of them within the budget."""
    sections = [section for section in context.receipt.sections if section.used_tokens]
    names = [Section.Name(section.section).removeprefix("SECTION_").lower() for section in sections]
    budget = f"all: {context.total_tokens} of {context.max_tokens}"
    title = "A context of 2,000 tokens: what each section may use, and what it uses"
    with _chart(folder / "context.svg", title, [*names, budget]) as axes:
        for row, (section, colour) in enumerate(zip(sections, SECTIONS, strict=False)):
            _draw_section(axes, row, section, colour)
        row, start = len(sections), 0
        axes.barh(row, context.max_tokens, 0.7, color=FREE, label="limit of the section, or the budget")
        for section, colour in zip(sections, SECTIONS, strict=False):
            axes.barh(row, section.used_tokens, 0.7, left=start, color=colour)
            start += section.used_tokens
        axes.set_xlabel("tokens")


def _draw_section(axes: Any, row: int, section: SectionReceipt, colour: str) -> None:
    axes.barh(row, section.limit_tokens, 0.7, color=FREE)
    used = axes.barh(row, section.used_tokens, 0.7, color=colour)
    axes.bar_label(used, [str(section.used_tokens)], padding=4)


if __name__ == "__main__":
    sys.exit(main())
