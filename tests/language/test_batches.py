"""Batches hold all texts, in order, and none of them is too long."""

import json

from hypothesis import given
from hypothesis import strategies as st

from memsidecar.language.batches import MIN_BISECT_CHARACTERS, PromptMessage, batches, bisect, render
from tests.language.model_server import user

texts = st.lists(st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from(" \n"), max_size=1_500), max_size=8)


def tokens(text: str) -> int:
    return len(text) // 4 + 1


def is_too_short_to_bisect(batch: list[PromptMessage]) -> bool:
    return len(batch) == 1 and len(batch[0].text) <= MIN_BISECT_CHARACTERS


@given(texts=texts, max_tokens=st.integers(1, 400))
def test_nothing_is_lost_and_no_batch_is_too_long(texts: list[str], max_tokens: int) -> None:
    said = [user(str(at), text) for at, text in enumerate(texts)]
    found = list(batches(said, tokens, max_tokens))
    messages = [message for batch in found for message in batch]
    together = ["".join(message.text for message in messages if message.utterance is each) for each in said]
    assert together == [text if text.strip() else "" for text in texts]
    for batch in found:
        lines = render(batch).splitlines()
        assert [json.loads(line)["text"] for line in lines] == [message.text for message in batch]
        assert is_too_short_to_bisect(batch) or sum(map(tokens, lines)) <= max_tokens


@given(texts=texts)
def test_halves_are_shorter_and_whole_together(texts: list[str]) -> None:
    said = [user(str(at), text) for at, text in enumerate(texts)]
    for batch in batches(said, tokens, 10_000):
        halves = bisect(batch)
        if halves is None:
            assert is_too_short_to_bisect(batch)
        else:
            assert all(len(render(half)) < len(render(batch)) for half in halves)
            assert "".join(message.text for half in halves for message in half) == "".join(
                message.text for message in batch
            )
