"""A kernel of the user's own: a file with a name, its config, and a copy that QEMU boots."""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from contextlib import suppress
from pathlib import Path

from howlate.errors import UsageError
from howlate.lab.archive.deb import MOST_FILE
from howlate.lab.archive.packages import Say, silent
from howlate.lab.cache import cache_folder, entry_hash, made, read_entry, storing
from howlate.lab.kernels.image import read_image
from howlate.lab.kernels.kernel import VMLINUZ, Kernel
from howlate.lab.kernels.label import Label, split_own
from howlate.lab.tidy import OWN
from howlate.model.decode import UNREADABLE
from howlate.system.opening import read_bytes


def own_kernel(text: str, cache: Path | None = None, say: Say = silent) -> tuple[Label, Kernel]:
    """The bzImage or Image that `PATH`, `NAME=PATH` or either with `[parameters]` means: unchanged, or
    unpacked into the cache if QEMU cannot boot it directly.

    Its config is looked for in the image, its folder (`config-*` of the same name, `NAME.config`, `config`)
    and in its build tree.
    """
    name, path, parameters = split_own(text)
    try:
        data = read_entry(path, MOST_FILE)
    except OSError as error:
        raise UsageError(UNREADABLE(path=path, reason=error.strerror)) from None
    image = read_image(data, str(path))
    label = Label.of_file(name or path.name, image.arch, parameters)
    digest = hashlib.sha256(image.data).hexdigest()
    folder = (cache or cache_folder()) / "kernels" / f"{OWN}{digest[:32]}"
    config = image.config if image.config is not None else _config_beside(path)

    def make(beside: Path) -> None:
        with storing(beside):
            (beside / VMLINUZ).write_bytes(image.data)

    made(folder, make, lambda place: _has(place / VMLINUZ, digest), say)
    with suppress(OSError):
        os.utime(folder)  # in use: `tidy` keeps it
    config_path = None
    if config is not None:  # keyed by its content: the same image may come with another config the next time
        config_path = folder / f"config-{hashlib.sha256(config.encode()).hexdigest()[:16]}"
        with storing(config_path):
            with tempfile.NamedTemporaryFile(dir=folder, prefix=".config-", delete=False) as file:
                file.write(config.encode())
            Path(file.name).chmod(0o644)
            Path(file.name).rename(config_path)
    kernel = Kernel(label.base, image.release, folder / VMLINUZ, digest, config_path, tree=_tree_of(path))
    kernel.check(label)
    return label, kernel


def _has(path: Path, digest: str) -> bool:
    try:
        return entry_hash(path) == digest
    except OSError:
        return False


def _config_beside(path: Path) -> str | None:
    name = re.sub(r"^(vmlinuz|vmlinux|bzImage|Image)", "config", path.name)
    places = [path.with_name(f"{path.name}.config"), path.with_name("config"), path.with_name(".config")]
    if name.startswith("config"):
        places.insert(0, path.with_name(name))
    tree = _tree_of(path)
    if tree is not None:
        places.append(tree / ".config")
    for place in places:
        if place.is_file():
            text = read_bytes(place, links=True).decode("utf-8", "replace")
            if "CONFIG_" in text:
                return text
    return None


def _tree_of(path: Path) -> Path | None:
    """The build tree of a file in its arch/*/boot; None of another file."""
    folder = path.resolve().parent
    return folder.parent.parent.parent if folder.name == "boot" else None
