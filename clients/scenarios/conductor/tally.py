"""What came of the scenarios: for a person, and for the table of what each language can do."""

import json
from dataclasses import dataclass, field
from pathlib import Path

from conductor.contract import METHODS


@dataclass
class Tally:
    language: str
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    _scenarios: dict[str, int] = field(default_factory=lambda: dict.fromkeys(METHODS, 0))
    _passed: dict[str, int] = field(default_factory=lambda: dict.fromkeys(METHODS, 0))

    def count(self, called: set[str], passed: bool) -> None:
        self.passed += passed
        self.failed += not passed
        for rpc in called:
            self._scenarios[rpc] += 1
            self._passed[rpc] += passed

    def last_line(self) -> str:
        skipped = f", {self.skipped} skipped" if self.skipped else ""
        return f"{self.language}: {self.passed} passed, {self.failed} failed{skipped}"

    def write(self, file: Path) -> None:
        rpcs = {rpc: {"scenarios": self._scenarios[rpc], "passed": self._passed[rpc]} for rpc in METHODS}
        whole = {"passed": self.passed, "failed": self.failed, "skipped": self.skipped}
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps({"language": self.language, "scenarios": whole, "rpcs": rpcs}, indent=2) + "\n")
