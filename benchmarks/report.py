"""The figures as a table, and the README's copy of it."""

from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results.json"
README = ROOT / "README.md"
BEGIN, END = "<!-- benchmarks -->", "<!-- /benchmarks -->"


def table(report: dict[str, Any]) -> str:
    machine = report["machine"]
    lines = [
        f"{machine['cores']} cores ({machine['cpu']}), Python {machine['python']}, grpcio {report['grpcio']}:",
        "",
        "| what | measured | target |",
        "| --- | --- | --- |",
    ]
    lines += [_row(one) for one in report["results"]]
    return "\n".join(lines)


def _row(one: dict[str, Any]) -> str:
    bound = "at most" if one["at_most"] else "at least"
    missed = "" if one["holds"] else " (missed)"
    return f"| {one['name']} | {one['value']:.2f} {one['unit']} | {bound} {one['target']:g}{missed} |"


def update_readme(text: str, readme: Path = README) -> None:
    before, _, rest = readme.read_text().partition(BEGIN)
    _, _, after = rest.partition(END)
    readme.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}")
