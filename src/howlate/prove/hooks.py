"""What this room adds to howlate, by the names of the hook functions (howlate/rooms.py)."""

from __future__ import annotations

from howlate.rooms import modules_in

modules_of_results = modules_in("howlate.prove", without="forked_part measured_steps")
"""For words/rooms.py: the modules here whose texts are translated."""
