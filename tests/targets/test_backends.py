"""The one suite that every backend passes."""

import contextlib
import functools
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet
from msgspec.structs import replace

from fakes import FakeTarget
from howlate.errors import ExitCode, NotPossibleError, TargetError, UsageError
from howlate.lab.targets.lab import open_lab
from howlate.model.facts import Facts
from howlate.model.run import VIRTUAL
from howlate.store.frames import EndKind
from howlate.system import paths as places
from howlate.targets import Progress, Target, names, open_target
from lab import guests
from lacks import skip
from processes import until, with_word
from rights import without_rights
from ssh.server import Server, alone_where_shared, serving
from targets.cells import cell_of, nothing, rows_of


def local() -> Target:
    try:
        return open_target("local")
    except TargetError as problem:
        skip(f"the probe ({problem.message})", "./dev probe")


def lab() -> Target:
    return open_lab(guests.RT, cache=LAB)


def over_ssh() -> Target:
    assert SERVER is not None
    return open_target(SERVER.target)


BACKENDS: dict[str, Callable[[], Target]] = {"fake": FakeTarget, "lab": lab, "local": local, "ssh": over_ssh}
SERVER: Server | None = None
"""The machine to reach by ssh, for the tests of a session."""
LAB = Path()
"""The lab's cache for the tests of a session: its own, but for kernels and booted guests, which outlast it."""


@pytest.fixture(scope="session")
def lab_cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    global LAB
    LAB = guests.warm_cache(tmp_path_factory.mktemp("lab"))


@pytest.fixture(scope="session")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], Server]]:
    """Starts the machine to reach by ssh when it is first asked for."""
    with contextlib.ExitStack() as stack:

        @functools.cache
        def started() -> Server:
            patch = stack.enter_context(pytest.MonkeyPatch.context())
            return stack.enter_context(serving(tmp_path_factory.mktemp("ssh"), patch))

        yield started


MARKS = {"ssh": alone_where_shared()}
"""By backend, where it may not run beside others."""


def backends(*names: str) -> list[ParameterSet]:
    return [pytest.param(name, marks=MARKS.get(name, [])) for name in sorted(names)]


@pytest.fixture(params=backends(*BACKENDS))
def target(
    request: pytest.FixtureRequest, lab_cache: None, machine: Callable[[], Server]
) -> Iterator[Target]:
    global SERVER
    if request.param == "ssh":
        SERVER = machine()
    opened = BACKENDS[request.param]()
    yield opened
    opened.close()
    if request.param == "ssh":
        assert machine().folders() == []


def test_every_backend_is_tested() -> None:
    assert set(names()) <= set(BACKENDS)


def test_it_says_what_it_can_do(target: Target) -> None:
    can = target.capabilities()
    assert "cyclic" in {t.name for t in can.tests}
    assert "clock_nanosleep" in {t.name for t in can.timers}
    assert "cpu" in {load.name for load in can.loads}
    assert can.probe


def test_it_says_what_it_is(target: Target) -> None:
    assert Facts.from_json(target.facts()).text("kernel.release")


def test_it_says_what_it_would_refuse_and_measures_nothing_for_it(target: Target) -> None:
    good, wrong = ("cyclic", "--period=1000us", "--duration=2s"), ("cyclic", "--period=1us")
    found = target.answer([good, wrong, good])
    assert [type(its.refusal) for its in found] == [type(None), UsageError, type(None)]
    assert found[1].refusal is not None and "a period of 1us" in found[1].refusal.message
    assert found[0].options == {"period": "1ms", "duration": "2s"} and found[0].length.measuring_s == 2


@pytest.mark.parametrize("target", backends(*(set(BACKENDS) - {"fake"})), indirect=True)
def test_a_cpu_that_is_not_there_is_not_possible_and_says_what_is(target: Target) -> None:
    for command in (("cyclic", "--cpus=4095"), ("cyclic", "--load=cpu:50,cpus=4095")):
        (found,) = target.answer([command])
        assert isinstance(found.refusal, NotPossibleError)
        assert "CPU 4095" in found.refusal.message


def test_a_cell_leaves_a_whole_stream(target: Target, tmp_path: Path) -> None:
    stream = tmp_path / "stream"
    outcome = target.run_cell(cell_of(target), stream, nothing)
    assert outcome.measured, outcome.message
    assert outcome.message == ""
    rows, reader = rows_of(stream)
    assert reader.end is not None
    assert reader.end.kind is EndKind.WHOLE, reader.end.reason
    assert reader.trailer is not None
    account = reader.trailer["accounting"]
    assert sum(a["releases"] - a["overruns"] - a["dropped"] for a in account) == rows


def test_progress_only_grows(target: Target, tmp_path: Path) -> None:
    seen: list[Progress] = []
    cell = cell_of(target, 100_000, duration="2500ms")
    if target.clock == VIRTUAL:  # a guest is faster than the clock, and tells once a second of the host's
        cell = cell_of(target, 60_000, duration="3s", period="50us")
    assert target.run_cell(cell, tmp_path / "stream", seen.append).measured
    assert seen
    for one, other in pairwise(seen):
        assert one.activations <= other.activations
        assert one.elapsed_s < other.elapsed_s
        assert one.latency_ns_max <= other.latency_ns_max


def test_what_the_probe_refuses_is_its_sentence(target: Target, tmp_path: Path) -> None:
    cell = cell_of(target)
    wrong = replace(cell, parameters={**cell.parameters, "no-such-option": "1"})
    outcome = target.run_cell(wrong, tmp_path / "stream", nothing)
    assert outcome.exit_code is ExitCode.USAGE
    assert "no-such-option" in outcome.message
    assert not outcome.measured


def test_an_interrupt_stops_in_order_and_leaves_nothing_running(target: Target, tmp_path: Path) -> None:
    stream = tmp_path / "interrupted"

    def interrupt(progress: Progress) -> None:
        raise KeyboardInterrupt

    cell = cell_of(target, 10_000_000, duration="1h")
    if isinstance(target, FakeTarget):
        cell = cell_of(target)
    with pytest.raises(KeyboardInterrupt):
        target.run_cell(cell, stream, interrupt)
    if target.clock == VIRTUAL:
        assert not with_word(str(LAB))
        assert not stream.exists()  # its samples were in the guest's memory
        return
    assert until(lambda: not with_word(str(stream)))
    _, reader = rows_of(stream)
    assert reader.trailer is not None
    assert reader.trailer["stop_reason"] == "stopped"


def test_an_unknown_target_names_the_nearest() -> None:
    with pytest.raises(UsageError) as caught:
        open_target("locl")
    assert 'did you mean "local"' in caught.value.remedy


def test_local_takes_no_argument() -> None:
    with pytest.raises(UsageError, match="--target must be local"):
        open_target("local:here")


def test_a_probe_that_is_not_built_is_a_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOWLATE_PROBE", str(tmp_path / "none"))
    with pytest.raises(TargetError, match="does not exist"):
        places.probe_path()
    monkeypatch.setenv("HOWLATE_PROBE_RISCV64", str(tmp_path / "none"))
    with pytest.raises(TargetError, match="does not exist") as caught:
        places.machine_probe_path("riscv64")
    assert "HOWLATE_PROBE_RISCV64" in caught.value.remedy
    (tmp_path / "none").write_text("")
    with pytest.raises(TargetError, match="could not be started"):
        places.probe_path()
    (tmp_path / "none").chmod(0o755)
    with without_rights(tmp_path), pytest.raises(TargetError, match="Permission denied"):
        places.probe_path()
