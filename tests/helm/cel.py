"""Parser of the CEL literals of the chart: JSON, except for dyn() and commas before a closing bracket."""

import json
import re
from typing import Any

STRING_OR_CEL = re.compile(r'("(?:[^"\\]|\\.)*")|dyn\(|\)|,(?=\s*[\]}])')


def literal(expression: str) -> Any:
    return json.loads(STRING_OR_CEL.sub(lambda found: found[1] or "", expression))
