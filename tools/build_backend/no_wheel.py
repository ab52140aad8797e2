"""The build backend of pyproject.toml: it refuses.

howlate is more than its Python code: the probe, the studies and the reference figures lie beside it. A wheel of the
checkout would install a command that knows no study and has no probe.
"""

from typing import Any, NoReturn


def _refuse(*_arguments: Any, **_options: Any) -> NoReturn:
    raise SystemExit(
        "howlate: pip cannot install it: a wheel would hold neither the probe nor the studies. Nothing needs to be "
        "installed: call ./howlate in the checkout; its first call sets up there what it needs. To call it from "
        "anywhere, as root: "
        'ln -s "$PWD/howlate" /usr/local/bin/howlate'
    )


get_requires_for_build_wheel = get_requires_for_build_sdist = get_requires_for_build_editable = _refuse
prepare_metadata_for_build_wheel = prepare_metadata_for_build_editable = _refuse
build_wheel = build_sdist = build_editable = _refuse
