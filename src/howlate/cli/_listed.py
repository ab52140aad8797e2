"""An option whose help lists the contents of a folder at the time when the help is shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import click


class ListedOption(click.Option):
    """`listed` gives each name with its line of help; these lines precede the option's own help."""

    def __init__(self, *args: Any, listed: Callable[[], Mapping[str, str]], **more: Any) -> None:
        super().__init__(*args, **more)
        self.listed = listed

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        record = super().get_help_record(ctx)
        if record is None:
            return None
        lines = [f"{name}: {line}" for name, line in self.listed().items()]
        return record[0], "; ".join(lines) + f". {record[1]}".rstrip()
