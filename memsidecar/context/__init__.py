"""BuildContext: what a model should see, inside a hard budget, with an account of it."""
