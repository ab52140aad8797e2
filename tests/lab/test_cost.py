"""What this host was seen to take beside the cost model."""

import math
from pathlib import Path

from howlate.lab.cost import Costs
from howlate.model.plan import Cell


def cell(load: str) -> Cell:
    loads = () if load == "none" else (load,)
    return Cell(f"{load}-1", "cyclic", {"load": loads}, {"load": load, "period": "1ms"}, 1, 1.0)


def test_what_was_seen_is_learned_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "costs.json"
    costs = Costs(path)
    assert costs.of(cell("none")) == 1.0
    for _ in range(8):
        costs.learn(cell("cpu:100"), 10.0, 30.0)
    assert math.isclose(Costs(path).of(cell("cpu:100")), 3.0, rel_tol=0.01)
    assert Costs(path).of(cell("hackbench:10")) == Costs(path).of(cell("cpu:100"))  # of this host
    costs.learn(cell("none"), 1.0, 50.0)  # too short to tell
    assert math.isclose(Costs(path).of(cell("none")), 3.0, rel_tol=0.01)
    path.write_text('{"factors": {"*": "x"}}')
    assert Costs(path).of(cell("none")) == 1.0
