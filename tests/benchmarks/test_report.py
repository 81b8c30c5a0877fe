"""The figures in the README are the ones in the file that `make bench` wrote."""

import json

from benchmarks.report import BEGIN, END, README, RESULTS, table


def test_the_readme_shows_the_figures_of_the_last_full_run() -> None:
    shown = README.read_text().partition(BEGIN)[2].partition(END)[0]
    assert shown.strip() == table(json.loads(RESULTS.read_text())).strip()
