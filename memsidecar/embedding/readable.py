"""Texts as a model can take them."""


def readable(text: str, longest_bytes: int) -> str:
    """The beginning of the text, without the white space around it; empty where there is nothing to embed.

    The bound is in bytes of UTF-8, for they follow the number of tokens in any script; no character is cut in two.
    Lone surrogates, which no tokenizer and no JSON reader takes, become question marks.
    """
    beginning = text.strip()[:longest_bytes].encode("utf-8", "replace")
    return beginning[:longest_bytes].decode("utf-8", "ignore")
