"""Texts for chunking: realistic and pathological ones."""

from hypothesis import strategies as st

LETTERS = [
    "a",
    "é",
    "e\u0301",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467",
    "\U0001f1e9\U0001f1ea",
    "\U0001f44d\U0001f3fd",
    "语",
    "か\u3099",
]

_FRAGMENTS = [
    "word",
    " ",
    "  ",
    "\n",
    "\n\n",
    "\r\n",
    "\t",
    "    indented = 1\n",
    "```\n",
    "```python\ndef f(x):\n    return x\n```\n",
    "~~~\n",
    "# Heading\n",
    "Heading\n=======\n",
    "A sentence. Another one! ",
    "我们今天去公园。",
    "不用空格的文字",
    "ไม่มีช่องว่าง",
    "\U0001f600\U0001f468\u200d\U0001f469\u200d\U0001f467",
    "\U0001f1e9\U0001f1ea\U0001f1eb",
    "e\u0301\u0302\u0303",
    "\0\x01\x1b",
    "\x0b\x0c\x1c\x85\u2028\u2029\xa0\u3000",
    "<|endoftext|>",
    "x" * 50,
    " " * 40,
    "-" * 20,
]
anything = st.text(max_size=400)
mixtures = st.lists(st.sampled_from(_FRAGMENTS), max_size=120).map("".join)
texts = st.one_of(anything, mixtures, st.tuples(mixtures, anything, mixtures).map("".join))

LARGE: dict[str, str] = {
    "prose": "The quick brown fox jumps over the lazy dog. It does so every day.\n\n" * 1_500,
    "one word": "abcdefghij" * 10_000,
    "one letter": "a" * 100_000,
    "Chinese without spaces": "我们今天去公园玩人工智能。" * 3_000,
    "emoji": "\U0001f600\U0001f468\u200d\U0001f469\u200d\U0001f467" * 4_000,
    "white space in between": "a" + " " * 100_000 + "b" + "\n" * 100_000 + "c",
    "islands in white space": ("x" + " " * 20_000) * 8,
    "line breaks": "x\r\n" * 30_000,
    "open fences": "```a\n" * 20_000,
    "headings": "# a\n" * 25_000,
    "underlines": "a\n--\n" * 20_000,
    "indents": "    a\n\n" * 15_000,
    "indents of nothing": "\t \n" * 30_000 + "x",
    "marks": "e" + "\u0301" * 50_000,
    "NULs": "\0" * 100_000,
    "sentences of a letter": "A. " * 30_000,
    "code": ("```\n" + "x = 1\n" * 30 + "```\n") * 500,
}
