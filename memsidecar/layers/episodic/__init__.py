"""Episodic memory: what was said before, found again when it matters."""

from memsidecar.layers.episodic.memory import EpisodicLimits, EpisodicMemory

__all__ = ["EpisodicLimits", "EpisodicMemory"]
