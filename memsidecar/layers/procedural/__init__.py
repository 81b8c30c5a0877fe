"""What recurs in a user's conversations, counted as they come; a habit is what chance does not explain."""
