"""The commands by name, each imported when it is asked for, since to import all takes longer than most take to run."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, MutableMapping
from typing import Any

import typer
from typer.core import TyperGroup

# In the order of the help: the module of a command in this package, and the name of its function or group there.
_PLACES = {
    "run": "run:run",
    "verify": "verify:verify",
    "check": "check:check",
    "diff": "diff:diff",
    "review": "review:review",
    "status": "status:status",
    "show": "show:show",
    "bundle": "bundle:bundle",
    "import": "bundle:import_bundles",
    "export": "export:export",
    "host": "host:app",
    "new": "new:new",
    "prune": "prune:prune",
    "schema": "schema:schema",
}


def load_command(name: str) -> Any:
    """Import a command, or a group of commands, and return it as click calls it."""
    module, _, attribute = _PLACES[name].partition(":")
    command = getattr(importlib.import_module(f"capture.cli.{module}"), attribute)
    if not isinstance(command, typer.Typer):
        alone = typer.Typer(rich_markup_mode=None, add_completion=False)
        alone.command(name)(command)
        return typer.main.get_command(alone)
    group = typer.main.get_command(command)
    group.name = name
    return group


class _CommandsOnDemand(MutableMapping[str, Any]):
    """All commands by name; each is imported at the first look at it."""

    def __init__(self) -> None:
        self.loaded: dict[str, Any] = dict.fromkeys(_PLACES)

    def __getitem__(self, name: str) -> Any:
        if self.loaded[name] is None:
            self.loaded[name] = load_command(name)
        return self.loaded[name]

    def __setitem__(self, name: str, command: Any) -> None:
        self.loaded[name] = command

    def __delitem__(self, name: str) -> None:
        del self.loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.loaded)

    def __len__(self) -> int:
        return len(self.loaded)


class Commands(TyperGroup):
    """The group of all commands, as `capture` calls it."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.commands = _CommandsOnDemand()

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names in the order of the help, without importing what they name."""
        return list(self.commands)
