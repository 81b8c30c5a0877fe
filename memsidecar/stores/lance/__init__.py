"""The index of episodes in LanceDB tables."""
