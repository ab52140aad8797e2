"""A study whose task spins under SCHED_FIFO where its load is to run: once as a mistake, once as it is expected."""

from typing import Any


def starving(load: str) -> str:
    """With the load on the measuring CPU."""
    part = f"""
[[part]]
id = "{{part}}"
title = "{{part}}"
test = "preemption"
{{key}}
[part.settings]
points = "{{points}}"
[part.axes]
load = ["none", "{load}"]
"""
    return (
        """schema = 1
id = "starving"
title = "A task that leaves its load nothing"
question = "Is a cell loaded that says so?"
"""
        + part.format(part="mistaken", key="", points=40)
        + part.format(part="meant", key='starvation = "expected"', points=41)
    )


def check(cells: list[dict[str, Any]], load: str) -> None:
    """What a run of it must say."""
    found = {(cell["labels"]["part"], cell["labels"]["load"]): cell for cell in cells}
    for part in ("mistaken", "meant"):
        calm = found[part, "none"]
        assert calm["loads"] == [] and "starved" not in calm
        assert not [text for text in calm["warnings"] if "load" in text]
        (its,) = found[part, load]["loads"]
        assert its["spec"] == load and (its["unit"], its["target"], its["reference"]) == ("CPU", 1.0, None)
        assert its["share"] == its["achieved"] == its["achieved_cpu"] < 0.5
    mistaken, meant = found["mistaken", load], found["meant", load]
    assert not mistaken["valid"] and "starved" not in mistaken
    assert mistaken["warnings"][0].startswith(f"not loaded: the load {load} achieved "), mistaken["warnings"]
    assert mistaken["warnings"][0].endswith(" and its target is 100 % CPU.")
    assert meant["valid"] and meant["starved"]
    assert f"starved, as the study expects: the load {load} achieved " in " ".join(meant["warnings"])
