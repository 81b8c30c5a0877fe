"""Messages of OpenAI and Anthropic, as dicts, to and from messages of the sidecar. Needs no package of a provider.

`openai` and `anthropic` have the functions, `exchanges` the order of calls and results that all providers require, and
`values` the error for input that is not of the format.
"""
