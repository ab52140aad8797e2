"""What this room adds to howlate, by the names of the hook functions (howlate/rooms.py)."""

from __future__ import annotations

from howlate.rooms import later, modules_in

modules_of_results = modules_in("howlate.compare")
"""For words/rooms.py: the modules here whose texts are translated."""
comparison = later("howlate.compare.in_report", "comparison")
"""For document/of_runs.py: along the label `by`, else of kernels if there are several."""
parts = later("howlate.compare.in_report", "PARTS")
"""For document/of_runs.py: the comparison on the page, a study's tables in the terminal."""
lead = later("howlate.compare.in_report", "lead")
"""For document/of_runs.py: what its conclusions begin with."""
