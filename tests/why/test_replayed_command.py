from pathlib import Path

from msgspec.structs import replace

from cli.commands import Run
from howlate.store.activations import Activation, Activations
from store.runs import a_folder, a_run
from store.streams import stream


def test_the_warm_up_is_none_of_the_worst() -> None:
    each = tuple(Activation(0, n, n * 1000, latency, n == 0) for n, latency in enumerate((90, 10, 30, 20)))
    assert [found.latency_ns for found in Activations(0, each).worst(2)] == [30, 20]


def test_only_a_run_of_the_lab_can_be_played_again(howlate: Run) -> None:
    assert howlate("run", "mine.toml", "--out", "r").code == 0
    done = howlate("lab", "why", "r")
    assert done.code == 2 and "virtual time" in done.err
    assert howlate("lab", "why", "r", "--worst", "0").code == 2
    assert howlate("lab", "why", "nowhere").code == 2


def test_a_place_where_no_file_can_be_is_refused_before_anything_is_played(howlate: Run) -> None:
    for option in ("-o", "--stacks", "--speedscope"):
        done = howlate("lab", "why", "nowhere", option, "absent/file")
        assert done.code == 4 and "absent/file" in done.err and option in done.err


def test_a_cell_of_a_machine_without_facts_is_a_sentence(howlate: Run) -> None:
    run = replace(a_run("none"), machines={"6.1": {"facts": 1, "values": {}, "missing": {}}}, clock="virtual")
    a_folder(Path("run"), {"none": stream([1000, 2000])}, run=run)
    done = howlate("lab", "why", "run")
    assert done.code == 4 and "run.json" in done.err
