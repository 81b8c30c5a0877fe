"""The resources of one scenario: its sidecar, proxy or relay, the driver's clients, and the variables."""

import uuid
from contextlib import ExitStack
from typing import Any, Self

from runner.driver import Driver
from runner.fixtures import Fixtures, Sidecar
from runner.proxy import Proxy
from runner.relay import Relay
from runner.variables import substitute

MAIN = "main"


class ClientRefused(Exception):
    """The client rejected its settings."""


class ScenarioContext:
    def __init__(self, scenario: dict[str, Any], fixtures: Fixtures, command: list[str], shared_driver: Driver) -> None:
        self.scenario = scenario
        self.unique = uuid.uuid4().hex[:12]
        self._opened: list[str] = []
        with ExitStack() as resources:
            self.sidecar = self._enter_sidecar(fixtures, resources)
            self.proxy = Proxy(self.sidecar.address) if scenario.get("behind") == "proxy" else None
            self.relay = Relay(self.sidecar.address) if scenario.get("behind") == "relay" else None
            intermediary = self.proxy or self.relay
            if intermediary:
                resources.callback(intermediary.close)
            address = (intermediary or self.sidecar).address
            self.variables: dict[str, Any] = {**self.sidecar.variables(), "unique": self.unique, "address": address}
            self.driver = self._enter_driver(command, resources) or shared_driver
            self._resources = resources.pop_all()

    def _enter_sidecar(self, fixtures: Fixtures, resources: ExitStack) -> Sidecar:
        name = self.scenario["fixture"]
        if not self.scenario.get("dedicated"):
            return fixtures.shared(name)
        sidecar = fixtures.dedicated(name)
        resources.callback(sidecar.close)
        return sidecar

    def _enter_driver(self, command: list[str], resources: ExitStack) -> Driver | None:
        """Start a driver for a scenario with environment variables; return None for others."""
        environment = substitute(self.scenario.get("environment", {}), self.variables)
        if not environment:
            return None
        driver = Driver(command, environment)
        resources.callback(driver.stop)
        return driver

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self._resources:
            for name in list(self._opened):
                self.close_client(name)

    def open(self, name: str, given: dict[str, Any]) -> None:
        """Open a client with the fixture's settings, overridden by `given`; None removes a setting."""
        settings = {"address": self.variables["address"], **self.sidecar.client, **given}
        present = {key: value for key, value in settings.items() if value is not None}
        answer = self.driver.execute(do="open", client=self._client_id(name), **present)
        if "refused" in answer:
            raise ClientRefused(answer["refused"])
        self._opened.append(name)

    def close_client(self, name: str) -> None:
        self._opened.remove(name)
        self.driver.execute(do="close", client=self._client_id(name))

    def client(self, step: dict[str, Any]) -> str:
        """Return the driver's id of a step's client. `main` is opened on first use."""
        name = step.get("client", MAIN)
        if name == MAIN and MAIN not in self._opened:
            self.open(MAIN, substitute(self.scenario.get("client", {}), self.variables))
        return self._client_id(name)

    def _client_id(self, name: str) -> str:
        """Return an id that is unique among all scenarios of the driver."""
        return f"{self.unique}/{name}"
