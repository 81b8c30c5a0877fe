"""Check the subjects of the commits since this rule was made: imperative, and at most 60 characters."""

import re
import subprocess
import sys
from collections.abc import Iterator

RULE_SINCE = "348d24a"
MAX_CHARACTERS = 60
_NO_VERBS = re.compile(
    r"(a|all|an|and|any(body)?|at|by|each|every(body|thing)?|for|from|how|if|in|its?|my|no(body|t)?|of|on|one|only|our"
    r"|some(body)?|the(ir|se|y)?|this|those|to|two|we|what|when|where|which|who(ever|se)?|with|your?)"
)
_IMPERATIVES = re.compile(
    r"(access|address|bring|bypass|compress|cross|discuss|dismiss|embed|feed|focus|guess|miss|need|pass|ping|press"
    r"|process|seed|shed|spring|string|suppress|witness)"
)
_OTHER_FORMS = re.compile(r"(ed|ing|s)$")


def faults_of(subject: str) -> Iterator[str]:
    """Say what is wrong with a subject."""
    if len(subject) > MAX_CHARACTERS:
        yield f"{len(subject)} characters, at most {MAX_CHARACTERS}"
    if subject.endswith("."):
        yield "ends with a period"
    first = subject.partition(" ")[0]
    if not re.fullmatch(r"[A-Z][a-z-]+", first):
        yield f"{first!r} is no verb with a capital letter"
    elif _NO_VERBS.fullmatch(first.lower()) or (
        _OTHER_FORMS.search(first) and not _IMPERATIVES.fullmatch(first.lower())
    ):
        yield f"{first!r} is no imperative, such as Add, Fix, Move"


def git(*arguments: str) -> str | None:
    """Return the output of git; None where it fails."""
    try:
        done = subprocess.run(["git", *arguments], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return None
    return done.stdout if done.returncode == 0 else None


def main() -> int:
    if git("rev-parse", "--is-inside-work-tree") is None:
        print("NOT CHECKED: there is no git repository, or no git.")
        return 0
    if git("merge-base", "--is-ancestor", RULE_SINCE, "HEAD") is None:
        print(f"NOT CHECKED: {RULE_SINCE} is not in the history of this clone.")
        return 0
    log = git("log", "--no-merges", "--format=%h %s", f"{RULE_SINCE}..HEAD")
    if log is None:
        print("git log failed.")
        return 1
    subjects = log.splitlines()
    found = [f"{line}: {fault}" for line in subjects for fault in faults_of(line.partition(" ")[2])]
    print("\n".join(found) if found else f"{len(subjects)} subjects are well-formed.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
