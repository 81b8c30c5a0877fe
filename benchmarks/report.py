"""Render the results as a table, and write it to the README."""

from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results.json"
README = ROOT / "README.md"
TITLES = {
    "context": "Contexts",
    "hostile": "Another user sends hostile texts of 128 KB without end",
    "watchers": "Others watch the namespace",
    "metrics": "Metrics",
    "erasures": "10,000 messages of another user are erased meanwhile",
    "replicas": "The journal on PostgreSQL",
}
BEGIN, END = "<!-- benchmarks -->", "<!-- /benchmarks -->"


def table(report: dict[str, Any]) -> str:
    machine = report["machine"]
    lines = [
        f"{machine['cores']} cores ({machine['cpu']}), Python {machine['python']}, grpcio {report['grpcio']}:",
        "",
        *_rows(report["results"]),
    ]
    if retrieval := report.get("retrieval"):
        beside = ", ".join(f"{name} {number}" for name, number in retrieval["versions"].items())
        lines += ["", f"Retrieval, beside {beside}:", "", *_rows(retrieval["results"])]
    for name, title in TITLES.items():
        if section := report.get(name):
            lines += ["", f"{title}:", "", *_rows(section["results"])]
    return "\n".join(lines)


def _rows(results: list[dict[str, Any]]) -> list[str]:
    return ["| what | measured | target |", "| --- | --- | --- |", *(_row(one) for one in results)]


def _row(one: dict[str, Any]) -> str:
    bound = "at most" if one["at_most"] else "at least"
    missed = "" if one["holds"] else " (missed)"
    return f"| {one['name']} | {one['value']:.2f} {one['unit']} | {bound} {one['target']:g}{missed} |"


def update_readme(text: str, readme: Path = README) -> None:
    before, _, rest = readme.read_text().partition(BEGIN)
    _, _, after = rest.partition(END)
    readme.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}")
