"""Write what the client of each language can do, and how long Add takes, into clients/README.md, by the last runs."""

import json
import re
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
README = HERE / "README.md"
TALLIES = HERE / "tallies"
ADD_TIMES = HERE / "add_times.json"
ORDER = ("python", "python-async", "go", "typescript", "java", "java-async", "rust")


def main() -> int:
    tallies = read_tallies()
    text = with_part(README.read_text(), "parity", table(tallies))
    README.write_text(with_part(text, "add times", times_table(json.loads(ADD_TIMES.read_text()))))
    for tally in tallies:
        print(f"{tally['language']}: {counts(tally['scenarios'])}")
    return 1 if any(tally["scenarios"]["failed"] for tally in tallies) else 0


def with_part(text: str, name: str, content: str) -> str:
    begin, end = f"<!-- {name}: made by clients/parity.py -->\n", f"<!-- end of {name} -->"
    return re.sub(f"{begin}.*{end}", lambda _: f"{begin}{content}{end}", text, flags=re.DOTALL)


def read_tallies() -> list[dict[str, Any]]:
    """Known languages first."""
    found: list[dict[str, Any]] = [json.loads(file.read_text()) for file in sorted(TALLIES.glob("*.json"))]
    return sorted(found, key=lambda tally: ORDER.index(tally["language"]) if tally["language"] in ORDER else len(ORDER))


def counts(scenarios: dict[str, int]) -> str:
    skipped = f", {scenarios['skipped']} skipped" if scenarios["skipped"] else ""
    return f"{scenarios['passed']} passed, {scenarios['failed']} failed{skipped}"


def table(tallies: list[dict[str, Any]]) -> str:
    languages = [tally["language"] for tally in tallies]
    lines = [row(["RPC", *languages]), row(["---"] * (1 + len(languages)))]
    for rpc in tallies[0]["rpcs"] if tallies else ():
        lines.append(row([rpc, *(cell(tally["rpcs"].get(rpc)) for tally in tallies)]))
    lines.append(row(["all scenarios", *(cell(_all(tally["scenarios"])) for tally in tallies)]))
    return "".join(lines)


def times_table(times: dict[str, Any]) -> str:
    lines = [row(["client", "through it", "bare stub", "ratio"]), row(["---"] * 4)]
    for language, one in times.items():
        lines.append(row([language, f"{one['client_us']} µs", f"{one['stub_us']} µs", f"{one['ratio']:.2f}"]))
    return "".join(lines)


def row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |\n"


def cell(counted: dict[str, int] | None) -> str:
    """How many scenarios passed; of how many, where not all did."""
    if not counted or not counted["scenarios"]:
        return "-"
    passed, played = counted["passed"], counted["scenarios"]
    return str(passed) if passed == played else f"{passed} of {played}"


def _all(scenarios: dict[str, int]) -> dict[str, int]:
    return {"passed": scenarios["passed"], "scenarios": scenarios["passed"] + scenarios["failed"]}


if __name__ == "__main__":
    sys.exit(main())
