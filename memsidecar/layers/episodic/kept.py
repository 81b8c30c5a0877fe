"""Rankings that pages go on in: among candidates, the same question would be answered otherwise a moment later."""

import threading
from collections import OrderedDict
from collections.abc import Hashable

from memsidecar.layers.episodic.asking import Findings, Question, Range

MOST_KEPT = 8
"A few, because each may have thousands of pointers: who turns a page does it soon. Later, the question is asked anew."


class KeptFindings:
    """The newest few. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._findings: OrderedDict[Hashable, Findings] = OrderedDict()

    def get(self, question: Question, within: Range, min_score: float) -> Findings | None:
        with self._lock:
            return self._findings.get(_key(question, within, min_score))

    def put(self, question: Question, within: Range, min_score: float, findings: Findings) -> None:
        with self._lock:
            self._findings[_key(question, within, min_score)] = findings
            while len(self._findings) > MOST_KEPT:
                self._findings.popitem(last=False)


def _key(question: Question, within: Range, min_score: float) -> Hashable:
    asked = (question.text, question.mode, None if question.vector is None else question.vector.tobytes())
    where = (within.namespace, tuple(within.shelves), within.session, within.roles, within.hidden)
    return (
        *asked,
        *where,
        within.repeats,
        within.as_of,
        within.after_us,
        within.before_us,
        tuple(within.owners),
        min_score,
    )
