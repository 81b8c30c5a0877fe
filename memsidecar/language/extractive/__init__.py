"""A summary without a model: the sentences that say most, as they were said."""
