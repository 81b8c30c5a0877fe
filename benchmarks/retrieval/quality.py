"""Measure evidence recall without a language model: `python -m benchmarks.retrieval.quality [--ablations]`.

Measured on the support history beside this file and, with `--locomo FILE`, on LoCoMo. `--ablations` varies the ranking
and writes the table to benchmarks/retrieval/ablations.md, or to docs/retrieval.md if it has the markers for it.
"""

import argparse
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.report import ROOT
from benchmarks.retrieval import variants
from benchmarks.retrieval.histories import History, locomo, support
from benchmarks.retrieval.recall import (
    DEPTHS,
    IndexedHistory,
    Recall,
    Variant,
    difference,
    measured,
    recall_of,
    weighted,
)
from memsidecar.embedding.contract import Embedder
from memsidecar.embedding.onnx import OnnxEmbedder
from memsidecar.embedding.static import StaticEmbedder

BEGIN, END = "<!-- ablations -->", "<!-- /ablations -->"
PAGES = (ROOT / "docs" / "retrieval.md", ROOT / "benchmarks" / "retrieval" / "ablations.md")

Data = Mapping[str, Sequence[History]]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--locomo", type=Path, metavar="FILE", help="LoCoMo's conversations as JSON")
    parser.add_argument(
        "--onnx", nargs=2, metavar=("DIRECTORY", "DIMENSIONS"), help="use an export instead of the bundled model"
    )
    parser.add_argument("--ablations", action="store_true", help="vary the ranking and write the table")
    options = parser.parse_args()
    data: dict[str, Sequence[History]] = {"support": support()}
    if options.locomo:
        data["LoCoMo"] = locomo(options.locomo)
    embedder = OnnxEmbedder.load(Path(options.onnx[0]), int(options.onnx[1])) if options.onnx else StaticEmbedder()
    for name, histories in data.items():
        _show(name, histories, embedder)
    if options.ablations:
        text = table(data, {"": [variants.default()]} | variants.everything())
        print(text)
        write(text)


def _show(name: str, histories: Sequence[History], embedder: Embedder) -> None:
    libraries = [IndexedHistory.of(history, embedder) for history in histories]
    count = sum(len(history.questions) for history in histories)
    print(f"{name}, {count} questions: {_figures(recall_of(libraries, weighted()))}")
    kinds = [asked.kind for history in histories for asked in history.questions]
    for kind in sorted(set(kinds)):
        print(f"  {kind} ({kinds.count(kind)}): {_figures(recall_of(libraries, weighted(), kind))}")


def _figures(recall: Recall) -> str:
    return ", ".join(f"R@{depth} {statistics.fmean(recall[depth]):.3f}" for depth in DEPTHS)


def table(data: Data, sections: Mapping[str, Sequence[Variant]]) -> str:
    """Return one row for each variant, with the difference of its R@10 to the first one."""
    embedder = StaticEmbedder()
    rows = [(heading, variant) for heading, some in sections.items() for variant in some]
    found = {name: measured(histories, [one for _, one in rows], embedder) for name, histories in data.items()}
    lines = [f"| ranking | {' | '.join(f'{name}: R@5 / 10 / 20' for name in data)} |", f"| --- |{' --- |' * len(data)}"]
    heading = ""
    for at, (section, variant) in enumerate(rows):
        if section != heading:
            heading = section
            lines.append(f"| **{heading}** |{' |' * len(data)}")
        cells = [_cell(recalls[at], recalls[0]) for recalls in found.values()]
        lines.append(f"| {variant.name} | {' | '.join(cells)} |")
    return "\n".join([_about(data), "", *lines])


def _about(data: Data) -> str:
    sizes = [
        f"{name}: {sum(len(one.questions) for one in histories)} questions, "
        f"{sum(len(one.ids) for one in histories):,} messages"
        for name, histories in data.items()
    ]
    return (
        f"Evidence recall ({'; '.join(sizes)}). In brackets: the difference of R@10 to the default in points, and its "
        "standard error over the same questions. A difference within two standard errors may be chance; with so many "
        "rows, some exceed that by chance, too. Messages with every word of the question come first in all rows except "
        "those of mode semantic."
    )


def _cell(recall: Recall, default: Recall) -> str:
    figures = " / ".join(f"{statistics.fmean(recall[depth]):.3f}" for depth in DEPTHS)
    more, error = difference(recall[10], default[10])
    return figures if recall is default else f"{figures} ({more * 100:+.1f} \u00b1 {error * 100:.1f})"


def write(text: str) -> None:
    docs, own = PAGES
    if docs.exists() and BEGIN in docs.read_text():
        before, _, rest = docs.read_text().partition(BEGIN)
        docs.write_text(f"{before}{BEGIN}\n{text}\n{END}{rest.partition(END)[2]}")
    else:
        own.write_text(f"# What each part of the ranking is worth\n\n{text}\n")


if __name__ == "__main__":
    main()
