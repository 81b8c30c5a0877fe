"""Token counters: exact if the vocabulary is known, else estimated and calibrated."""
