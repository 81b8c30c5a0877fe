"""Episodic memory: ranked search over messages and document chunks."""

from memsidecar.layers.episodic.memory import EpisodicLimits, EpisodicMemory

__all__ = ["EpisodicLimits", "EpisodicMemory"]
