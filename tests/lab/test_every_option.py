"""Every option of every command of the lab is given once, for real: to guests, and to an archive that is made. The
options of advise and calibrate that need a guest are here too. All else is in tests/cli/test_every_option.py."""

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from cli.commands import is_a_sentence
from cli.test_every_option import LAB, OF_GUESTS, called
from howlate.lab.archive.apt import AptArchive
from howlate.lab.kernels.catalogue import get
from howlate.lab.kernels.label import Label
from howlate.system.paths import probe_path
from lab.guests import KERNELS, STANDARD, warm_cache
from lab.made_archive import MadeArchive, made_key, served
from lab.test_archive import DYNAMIC, old_layout
from lacks import lack
from made_study import study_text
from tree_of_commands import leaves, options_in, options_of

pytestmark = pytest.mark.skipif(shutil.which("gpg") is None, reason=lack("gpg", "apt-get install gpg"))

STUDY = study_text(period="1ms", activations=40, dither=True, axes={"load": ["none"]})
FROM = "--mirror MIRROR --keyring KEYRING"
"""An archive that nothing can be booted from: what asks it is refused, or lists it."""
GUEST = f"--kernels {STANDARD}"

Call = tuple[str, Sequence[int]]
QUICK: dict[str, Sequence[Call]] = {
    "lab bisect": (
        (f"lab bisect mine.toml --good 6.1 --bad 6.12 --limit 1ms --refresh {FROM}", (2, 3, 4)),
        ("lab bisect mine.toml --limit 1ms --revisions names --build false", (4, 5)),
    ),
    "lab clean": (("lab clean", (0,)),),
    "lab fetch": ((f"lab fetch 6.1 {FROM} --refresh --with-module ext4", (0,)),),
    "lab kernels": (
        (f"lab kernels --arch amd64 --all --json {FROM} --refresh", (0,)),
        ("lab kernels --mirror http://127.0.0.1:1", (4,)),
    ),
    "lab prove": ((f"lab prove --kernels 6.12 {FROM} --refresh", (2, 3, 4)),),
    "lab run": (
        (
            f"lab run mine.toml {GUEST} --clock virtual --guest-cpus 1 --set period=2ms "
            "--seeds 1 --scale 0.5 --out r --most-cells 9 --histogram --jobs 1 --no-cache",
            (0,),
        ),
        (f"lab run mine.toml {GUEST} --mips 500 --seeds 1 --dry-run --json", (0,)),
        (
            f"lab run mine.toml {GUEST} --dry-run --period 2ms --policy rr --priority 9 --load none --deadline 1ms "
            "--warm-up 10ms -D 1s",
            (0,),
        ),
        (f"lab run mine.toml {GUEST} --dry-run --cell-duration 1s", (0,)),
        ("lab run mine.toml --resume --brief", (2,)),
        (f"lab run mine.toml --kernels 6.12 {FROM} --refresh", (2, 3, 4)),
        ("lab run mine.toml --own-kernel absent --probe /bin/ls", (2,)),
    ),
    "lab why": ((f"lab why absent --refresh {FROM}", (2,)),),
}
DEAR: dict[str, Sequence[Call]] = {
    "advise": (
        (
            f"advise {GUEST} --guest-cpus 1 --knobs thp --load none --cell-duration 100ms --pairs 8 "
            "--quantile 0.5 --out a",
            (0, 3),
        ),
    ),
    "calibrate": ((f"calibrate {GUEST} --guest-cpus 1 --kinds irqs-off --count 10 --out c", (0, 1, 3)),),
    "lab bisect": (
        (
            f"lab bisect mine.toml --good 6.1[preempt=full] --bad {STANDARD} --limit 1s --set activations=20 "
            "--out b --json --module MODULE",
            (5,),
        ),
        (
            f"lab bisect mine.toml --good 6.1[preempt=full] --bad {STANDARD} --limit 1s --window 5ms --out w",
            (5,),
        ),
    ),
    "lab prove": (
        (
            f"lab prove --load none {GUEST} --window 5ms --begin 10ms --within 50% --checks 2 --jobs 1 --no-cache "
            "--worst 1 -o p.html --json --accept-sampled-premises",
            (0, 5),
        ),
        (f"lab prove mine.toml {GUEST} --window 5ms --deadline 1us --checks 0 --json", (1,)),
        ("lab prove --load none --own-kernel mine=VMLINUZ --window 5ms --checks 0 --within 1ms", (4, 5)),
        (f"lab prove --load none {GUEST} --window 5ms --checks 0 --within 1ms --module MODULE", (5,)),
    ),
    "lab run": (
        (f"lab run mine.toml {GUEST} --guest-cpus 2 --turn 20us --seeds 1 --out two", (0,)),
        ("lab run mine.toml --own-kernel mine=VMLINUZ --probe PROBE --seeds 1 --out own", (0,)),
        (f"lab run mine.toml {GUEST} --module MODULE --seeds 1 --out module", (0,)),
    ),
    "lab why": (
        (
            f"lab why r --worst 1 --against {STANDARD} -o w.html --stacks s.txt --speedscope s.json --json",
            (0, 2),
        ),
        ("lab why r --debuginfo MODULE --all", (2, 3, 4)),
        ("lab why r --own-kernel mine=VMLINUZ", (0, 2)),
        ("lab why r --module MODULE", (0, 2)),
    ),
}
"""By command; the words are those that a user types."""


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """With one kernel, and the keys that sign it."""
    place = tmp_path_factory.mktemp("archive")
    with made_key(place / "home") as key, served(place / "www") as at:
        made = MadeArchive(place / "www" / "debian", key)
        made.add(
            "bookworm",
            "linux-image-6.1.0-56-amd64",
            "6.1.56-1",
            "amd64",
            old_layout("6.1.0-56-amd64", DYNAMIC),
        )
        for suite in ("bookworm", "trixie"):
            made.publish(suite)
        yield f"{at.address}/debian", key.keyring


def prepared(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    (folder / "mine.toml").write_text(STUDY)
    (folder / "names").write_text("one\ntwo\n")


def typed(words: str, mirror: str, keyring: Path) -> str:
    """With what stands for a path in its place."""
    own = get(Label.parse("6.1"), AptArchive(KERNELS / "apt"), KERNELS).vmlinuz if "VMLINUZ" in words else ""
    places = {
        "MIRROR": mirror,
        "KEYRING": keyring,
        "VMLINUZ": own,
        "PROBE": probe_path(),
        "MODULE": Path(__file__).parent / "module",
    }
    for name, place in places.items():
        words = words.replace(name, str(place))
    return words


def end(
    calls: Sequence[Call],
    folder: Path,
    archive: tuple[str, Path],
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Each as it should."""
    prepared(folder, monkeypatch)
    monkeypatch.setenv("HOWLATE_PROBE", str(probe_path()))
    for words, codes in calls:
        made = "MIRROR" in words
        cache = folder / ("made" if made else "cache")
        if not made and not cache.exists() and "absent" not in words:
            warm_cache(cache, STANDARD)
        monkeypatch.setenv("HOWLATE_CACHE", str(cache))
        words = typed(words, *archive)
        code = called(words)
        said = capfd.readouterr()
        assert code in codes, (words, code, said.err)
        assert "Traceback" not in said.out + said.err and "fault in howlate" not in said.err, words
        if code in (2, 3, 4):
            assert is_a_sentence(said.err.splitlines(keepends=True)[-1]), (words, said.err)


@pytest.mark.parametrize(
    "name", [name for name in (*leaves(), *OF_GUESTS) if name in OF_GUESTS or LAB in name]
)
def test_every_option_is_given_once(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prepared(tmp_path, monkeypatch)
    calls = [words for words, _ in (*QUICK.get(name, ()), *DEAR.get(name, ()))]
    given = {option for words in calls for option in options_in(typed(words, "M", tmp_path).split(" "))}
    assert (OF_GUESTS[name] if name in OF_GUESTS else options_of(leaves()[name])) <= given


@pytest.mark.parametrize("name", [*QUICK, *(pytest.param(name, marks=pytest.mark.sweep) for name in DEAR)])
def test_a_call_with_it_ends_as_it_should(
    name: str,
    request: pytest.FixtureRequest,
    tmp_path: Path,
    archive: tuple[str, Path],
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    if request.node.get_closest_marker("sweep") is None:
        end(QUICK[name], tmp_path, archive, monkeypatch, capfd)
        return
    run = QUICK["lab run"][:1] if name == "lab why" else ()
    end([*run, *DEAR[name]], tmp_path, archive, monkeypatch, capfd)
