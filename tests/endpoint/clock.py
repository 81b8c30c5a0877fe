"""A manual clock and a recorded sleep."""

from dataclasses import dataclass, field


@dataclass
class Waits:
    """Records sleeps instead of sleeping."""

    seconds: list[float] = field(default_factory=list)

    def sleep(self, seconds: float) -> None:
        self.seconds.append(seconds)


@dataclass
class Clock:
    now: float = 1_000.0
    step: float = 0.0

    def __call__(self) -> float:
        self.now += self.step
        return self.now
