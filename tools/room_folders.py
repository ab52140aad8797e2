"""The folders of the installed packages that add to howlate, for the build of a probe with their timers and loads.

They are on one line, with semicolons between them, as CMake takes a list. Packages that cannot be used are named on
standard error.
"""

import warnings

from howlate.rooms import outside


def _sentence(message: Warning | str, *_: object, **__: object) -> str:
    return f"howlate: {message}\n"


if __name__ == "__main__":
    warnings.formatwarning = _sentence
    print(*(room.folder for room in outside().values()), sep=";")
