"""Facts by rule: the few ways in which people plainly say something of themselves, and nothing cleverer than that."""
