"""Facts and summaries out of what was said: by rule, or by a language model where one is configured."""
