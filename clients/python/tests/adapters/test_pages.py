"""The examples and the code of ADAPTERS.md run."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from runner.sidecar_process import SidecarProcess

HERE = Path(__file__).parents[2]
BLOCKS = re.findall(r"```python\n(.*?)```", (HERE / "ADAPTERS.md").read_text(), re.DOTALL)
WEATHER = "21 degrees and sunny"
EXAMPLES = {
    "openai_agents_session.py": WEATHER,
    "langchain_history.py": WEATHER,
    "langgraph_store.py": 'You said: "I live in Lisbon."',
    "strands_agent.py": WEATHER,
    "llamaindex_memory.py": WEATHER,
}


def python(*arguments: str, address: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(HERE), "MEMSIDECAR_ADDRESS": address}
    command = [sys.executable, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_remembers_across_sessions(sidecar: SidecarProcess, name: str) -> None:
    told = python(str(HERE / "examples" / name), address=sidecar.address)
    assert EXAMPLES[name] in told.splitlines()[-1]


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_the_code_of_the_page_runs(sidecar: SidecarProcess, number: int) -> None:
    assert len(BLOCKS) == len(EXAMPLES)
    told = python("-c", BLOCKS[number], address=sidecar.address)
    assert "Lisbon" in told or "blue stone" in told
