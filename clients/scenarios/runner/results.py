"""Counts of passed and failed scenarios, in total and by RPC."""

import json
from dataclasses import dataclass, field
from pathlib import Path

from runner.contract import METHODS


@dataclass
class Results:
    variant: str
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
        return f"{self.variant}: {self.passed} passed, {self.failed} failed{skipped}"

    def write(self, file: Path) -> None:
        rpcs = {rpc: {"scenarios": self._scenarios[rpc], "passed": self._passed[rpc]} for rpc in METHODS}
        scenarios = {"passed": self.passed, "failed": self.failed, "skipped": self.skipped}
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps({"variant": self.variant, "scenarios": scenarios, "rpcs": rpcs}, indent=2) + "\n")
