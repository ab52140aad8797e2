"""In the probe's place, for the faults that a real one does not show on demand; $STAND_IN says which."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "src")]


def main() -> int:
    what, options = sys.argv[1], dict(a.lstrip("-").partition("=")[::2] for a in sys.argv[2:])
    mode = os.environ.get("STAND_IN", "")
    import fakes

    if what in ("list", "facts"):
        print(json.dumps(fakes.LIST if what == "list" else fakes.FACTS))
        return 0
    if what == "plan":
        for _command in sys.stdin:
            print(json.dumps({"ok": True, "warnings": []}))
        return 0
    if what == "restore":
        return 0
    if mode == "no-fifo" and options.get("policy", "fifo:80") != "other":
        print("howlate-probe: SCHED_FIFO:80 is not permitted. Grant CAP_SYS_NICE.", file=sys.stderr)
        return 3
    if mode == "broken" and options.get("load"):
        return 4
    from store.streams import stream

    Path(options["stream"]).write_bytes(
        stream([1000 + n for n in range(int(options.get("activations", "100")))])
    )
    print("progress 100 100000000 1099", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
