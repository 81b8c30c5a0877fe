"""Everything that one scenario has around it: a sidecar, what stands before it, the driver's clients, variables."""

import uuid
from contextlib import ExitStack
from typing import Any, Self

from conductor.driver import Driver
from conductor.fixtures import Fixtures, Sidecar
from conductor.proxy import Proxy
from conductor.relay import Relay
from conductor.values import filled

MAIN = "main"


class ClientRefused(Exception):
    """The client did not want to be opened like this."""


class Stage:
    def __init__(self, scenario: dict[str, Any], fixtures: Fixtures, command: list[str], shared_driver: Driver) -> None:
        self.scenario = scenario
        self.unique = uuid.uuid4().hex[:12]
        self._opened: list[str] = []
        with ExitStack() as leaving:
            self.sidecar = self._enter_sidecar(fixtures, leaving)
            self.proxy = Proxy(self.sidecar.address) if scenario.get("behind") == "proxy" else None
            self.relay = Relay(self.sidecar.address) if scenario.get("behind") == "relay" else None
            before = self.proxy or self.relay
            if before:
                leaving.callback(before.close)
            address = (before or self.sidecar).address
            self.variables: dict[str, Any] = {**self.sidecar.variables(), "unique": self.unique, "address": address}
            self.driver = self._enter_driver(command, leaving) or shared_driver
            self._leaving = leaving.pop_all()

    def _enter_sidecar(self, fixtures: Fixtures, leaving: ExitStack) -> Sidecar:
        name = self.scenario["fixture"]
        if not self.scenario.get("alone"):
            return fixtures.shared(name)
        sidecar = fixtures.alone(name)
        leaving.callback(sidecar.close)
        return sidecar

    def _enter_driver(self, command: list[str], leaving: ExitStack) -> Driver | None:
        """One of its own where the environment matters."""
        environment = filled(self.scenario.get("environment", {}), self.variables)
        if not environment:
            return None
        driver = Driver(command, environment)
        leaving.callback(driver.end)
        return driver

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self._leaving:
            for name in list(self._opened):
                self.close_client(name)

    def open(self, name: str, given: dict[str, Any]) -> None:
        """With what the fixture says, unless given otherwise; null takes it away."""
        settings = {"address": self.variables["address"], **self.sidecar.client, **given}
        kept = {key: value for key, value in settings.items() if value is not None}
        answer = self.driver.tell(do="open", client=self._client_id(name), **kept)
        if "refused" in answer:
            raise ClientRefused(answer["refused"])
        self._opened.append(name)

    def close_client(self, name: str) -> None:
        self._opened.remove(name)
        self.driver.tell(do="close", client=self._client_id(name))

    def client(self, step: dict[str, Any]) -> str:
        """The driver's name of the client that a step speaks of; `main` is opened when it is first needed."""
        name = step.get("client", MAIN)
        if name == MAIN and MAIN not in self._opened:
            self.open(MAIN, filled(self.scenario.get("client", {}), self.variables))
        return self._client_id(name)

    def _client_id(self, name: str) -> str:
        """Of their own in each scenario, so that none inherits another's."""
        return f"{self.unique}/{name}"
