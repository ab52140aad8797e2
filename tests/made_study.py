"""The text of a small study."""

import json
from collections.abc import Mapping


def study_text(name: str = "mine", axes: Mapping[str, object] | None = None, **settings: object) -> str:
    """Of `cyclic`, with these settings and axes."""
    lines = ["schema = 1", f'id = "{name}"', f'title = "{name}"', 'question = "?"', 'test = "cyclic"']
    for table, members in (("settings", settings), ("axes", dict(axes or {}))):
        lines += [f"[{table}]", *(f"{key} = {json.dumps(value)}" for key, value in members.items())]
    return "\n".join(lines) + "\n"
