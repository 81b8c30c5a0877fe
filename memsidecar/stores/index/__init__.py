"""The index of episodes on LanceDB. Only the modules named lance* import lancedb, which takes 2 seconds."""
