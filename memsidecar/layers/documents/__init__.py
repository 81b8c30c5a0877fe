"""Documents: what was given to know, cut into chunks that can be found."""
