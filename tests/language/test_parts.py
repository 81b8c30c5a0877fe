"""What was said, in parts: all of it, in order, none of them too long."""

import json

from hypothesis import given
from hypothesis import strategies as st

from memsidecar.language.batches import SHORTEST_CUT_CHARACTERS, halves, parts, shown
from tests.language.model_server import user

texts = st.lists(st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from(" \n"), max_size=1_500), max_size=8)


def tokens(text: str) -> int:
    return len(text) // 4 + 1


@given(texts=texts, most_tokens=st.integers(1, 400))
def test_nothing_is_lost_and_no_part_is_too_long(texts: list[str], most_tokens: int) -> None:
    said = [user(str(at), text) for at, text in enumerate(texts)]
    found = list(parts(said, tokens, most_tokens))
    together = ["".join(p.text for part in found for p in part if p.utterance is each) for each in said]
    assert together == [text if text.strip() else "" for text in texts]
    for part in found:
        lines = shown(part).splitlines()
        assert [json.loads(line)["text"] for line in lines] == [piece.text for piece in part]
        short = len(part) == 1 and len(part[0].text) <= SHORTEST_CUT_CHARACTERS
        assert short or sum(map(tokens, lines)) <= most_tokens


@given(texts=texts)
def test_halves_are_shorter_and_whole_together(texts: list[str]) -> None:
    said = [user(str(at), text) for at, text in enumerate(texts)]
    for part in parts(said, tokens, 10_000):
        two = halves(part)
        if two is None:
            assert len(part) == 1 and len(part[0].text) <= SHORTEST_CUT_CHARACTERS
        else:
            assert all(len(shown(half)) < len(shown(part)) for half in two)
            assert "".join(p.text for half in two for p in half) == "".join(p.text for p in part)
