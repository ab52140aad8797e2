"""From the probe's stream to a cell's Parquet files and cell.json. Bounded memory, whatever the stream's
length."""

from __future__ import annotations

from pathlib import Path

from howlate.store.frames import End


def ingest(stream: Path, folder: Path) -> End:
    """Decodes `stream` into samples.parquet, cpus.parquet, loads.parquet and cell.json of `folder` (a `.part`
    folder).

    Returns how the stream ended: a cut or altered one gives its whole batches, and summarise() calls the cell
    invalid. DamagedError where there is not even a header; StorageError where the folder cannot be written.
    """
    raise NotImplementedError
