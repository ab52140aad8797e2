"""What comes from outside goes through one decoder, and every read of it has a limit."""

import ast
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from howlate.lab.archive.manifest import NAME, unchanged
from howlate.lab.cache import write_entry, write_sealed
from howlate.lab.cost import Costs
from howlate.model.decode import json_value
from howlate.model.facts import Facts
from howlate.prove.forked_part import KeptProbes
from howlate.store.loaded import command_line
from howlate.system.paths import ROOT
from howlate.targets._session import session_of

SOURCES = ROOT / "src" / "howlate"
DECODER = "model/decode.py"
DECODED_ELSEWHERE = {
    "cli/_of_others.py": "howlate's own file",
    "imports/formats/_text.py": "names the line of a fault, and what is said twice; the decoder reads it too",
    "model/seal.py": "howlate's own value, as JSON has it",
    "plan/changes.py": "a word of the command line",
}
WHOLE = {
    "cli/_of_others.py": "howlate's own file",
    "cli/settings.py": "howlate's own file",
    "rooms.py": "howlate's own file, and what installed packages declare",
    "document/html.py": "howlate's own file",
    "measure/quiet.py": "the kernel's",
    "targets/_session.py": "the kernel's",
    "why/remedy_trial.py": "the kernel's",
    "lab/guests/watch.py": "the kernel's",
    "history/query.py": "the kernel's",
    "lab/libraries.py": "a probe that was checked, and this machine's libraries",
    "targets/ssh.py": "howlate's own probe",
    "lab/targets/lab.py": "howlate's own probe, a kernel's configuration in the cache, the kernel's own files",
    "targets/local.py": "what howlate's own probe said of a failure",
    "lab/build_module.py": "sources that are compiled and loaded as root",
    "lab/kernels/headers.py": "headers whose packages were checked, or a tree that is executed",
    "lab/guests/guest.py": "what howlate's own QEMU said of a failure",
    "lab/guests/execution_log.py": "what howlate's own QEMU wrote",
    "lab/guests/console.py": "the end of a file, whose size was looked at",
    "lab/guests/fork.py": "what howlate's own QEMU wrote",
    "lab/guests/snapshot.py": "what howlate's own QEMU wrote",
    "lab/archive/mirror.py": "what gpgv said",
    "lab/kernels/image.py": "what is unpacked with a limit",
    "lab/kernels/modules.py": "what is unpacked with a limit",
}
"""Files of the sources that read something whole without a limit of their own, and why they may."""


def calls() -> Iterator[tuple[str, ast.Call, str]]:
    for path in sorted(SOURCES.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                yield str(path.relative_to(SOURCES)), node, node.func.attr


def test_json_and_toml_are_decoded_in_one_place() -> None:
    places = {
        place
        for place, call, name in calls()
        if name in ("loads", "load", "decode")
        and isinstance(call.func, ast.Attribute)
        and ast.unparse(call.func.value) in ("json", "tomllib", "msgspec.json", "orjson", "pickle", "marshal")
    }
    assert places == {DECODER, *DECODED_ELSEWHERE}


def test_what_is_read_whole_is_howlates_own_or_trusted() -> None:
    whole = {
        place
        for place, call, name in calls()
        if name in ("read_text", "read_bytes")
        or (name in ("read", "readline", "readlines") and not call.args)
    }
    assert whole == WHOLE.keys()


ODD = [
    "[" * 100_000,
    "[" * 2_000 + "]" * 2_000,
    '[{"a":' * 150 + "1" + "}]" * 150,
    "9" * 5_000,
    str(2**64),
    "1e999",
    "NaN",
    "Infinity",
    '"\\ud800"',
    '"\udc80"',
    "",
    "{",
    '{"a": 1',
    "1 2",
]
"""No JSON, or none that howlate writes."""


@pytest.mark.parametrize("text", ODD, ids=lambda text: text[:12])
def test_the_decoder_refuses_it_in_one_way(text: str) -> None:
    data = text.encode("utf-8", "surrogateescape")
    with pytest.raises(ValueError):
        json_value(data)


def test_what_is_not_nested_too_deep_is_read_whatever_it_has() -> None:
    """A thousand lists beside each other, and brackets in a text."""
    assert json_value("[" + ",".join(["[[1]]"] * 1_000) + "]") == [[[1]]] * 1_000
    assert json_value('"' + "[" * 1_000 + '"') == "[" * 1_000


def of_facts(text: str, place: Path) -> object:
    return command_line(Facts({"lab.arguments": text, "kernel.cmdline": "quiet"}, {}))


def of_session(text: str, place: Path) -> object:
    return session_of(text)


def of_costs(text: str, place: Path) -> object:
    write_entry(place / "costs.json", text.encode())
    return Costs(place / "costs.json")._factors


def of_kept(text: str, place: Path) -> object:
    write_sealed(place / "kept", text.encode())
    return KeptProbes.read(place / "kept", fresh=False).latencies_ns


def of_manifest(text: str, place: Path) -> object:
    write_sealed(place / NAME, text.encode())
    return unchanged()(place)


READERS: dict[Callable[[str, Path], object], object] = {
    of_facts: "quiet",
    of_session: None,
    of_costs: {},
    of_kept: {},
    of_manifest: False,
}
"""With what each says of nothing."""
SHAPES = [
    *ODD,
    "[]",
    "{}",
    "null",
    "[1]",
    '{"factors": [1]}',
    '{"factors": {"a": 1e308}}',
    '{"probes": 1}',
    '["-append"]',
]


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.__name__)
@pytest.mark.parametrize("text", [text for text in SHAPES if text.isascii()], ids=lambda text: text[:24])
def test_each_reader_takes_it_as_nothing(
    reader: Callable[[str, Path], object], text: str, tmp_path: Path
) -> None:
    assert reader(text, tmp_path) == READERS[reader]
