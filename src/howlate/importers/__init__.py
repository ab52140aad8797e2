"""Files of other programs. ONE FILE = ONE FOREIGN FORMAT with `IMPORTER`; files that begin with an underscore are
shared. A format is found by its name or by its content."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from howlate.errors import UsageError
from howlate.importers._importer import Imported, Importer
from howlate.model.decode import suggestion

__all__ = ["Imported", "Importer", "all_importers", "find_importer"]


@cache
def all_importers() -> tuple[Importer, ...]:
    """Every format of this folder; a file that cannot be imported is an error, never skipped."""
    names = sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_"))
    return tuple(importlib.import_module(f"{__name__}.{name}").IMPORTER for name in names)


def find_importer(text: str, file: str, name: str | None = None) -> Importer:
    """The format of that name, else the one that knows its own in the text."""
    known = {importer.name: importer for importer in all_importers()}
    if name is not None:
        if name not in known:
            raise UsageError(f'the format "{name}" is not known', suggestion(name, known))
        return known[name]
    found = [importer for importer in known.values() if importer.recognises(text)]
    if len(found) != 1:
        which = "none" if not found else "several (" + ", ".join(importer.name for importer in found) + ")"
        raise UsageError(
            f"{file} looks like {which} of the formats that can be imported",
            f"say --format {' or '.join(known)}",
        )
    return found[0]
