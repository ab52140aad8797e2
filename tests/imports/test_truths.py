"""Files whose truth is known: what is imported of them is the truth, and each of six alterations is refused with the
line, leaves the truth, or is one that the format cannot show. `./dev imports` does the same with a thousand files of
each format."""

from pathlib import Path

import pytest

from howlate.errors import UsageError
from howlate.imports.flow import as_run
from howlate.imports.formats import RunImporter, all_importers
from howlate.imports.formats._checks import UNIT_OPEN
from howlate.store.run_folder import RunFolder
from imports.mutate import IMPORTERS
from imports.shown import SHOWN, table
from imports.truths import ALTERATIONS, MAKERS, Outcome, columns_of, made, outcome, recognised, untrue

FILES, ALTERED, ALTERED_AT_LENGTH = 20, 6, 200
PAGE = Path(__file__).parents[2] / "docs" / "import.md"
SWEEP = pytest.mark.sweep


def _true(format: str, seed: int) -> None:
    data = made(format, seed)
    found, damaged = columns_of(data)
    assert not damaged and untrue(found, data.truth) == [], f"{format}, seed {seed}"
    assert recognised(data) == format, f"{format}, seed {seed}"


def test_every_format_has_files_whose_truth_is_known() -> None:
    formats = {importer.name for importer in all_importers() if isinstance(importer, RunImporter)}
    assert formats - {"job", "stream"} == set(MAKERS) == set(SHOWN)


@pytest.mark.parametrize("files", [FILES, pytest.param(1000, marks=SWEEP)])
@pytest.mark.parametrize("format", MAKERS)
def test_what_is_imported_is_the_truth(format: str, files: int) -> None:
    for seed in range(files):
        _true(format, seed)


@pytest.mark.parametrize("format", MAKERS)
def test_the_run_says_the_truth_too(format: str, tmp_path: Path) -> None:
    """Through the run folder, with its Parquet files."""
    data = made(format, 3)
    path = tmp_path / data.name
    path.write_bytes(data.data)
    as_run(IMPORTERS[format].read([path], {}, data.mapping), tmp_path / "run")
    (cell,) = RunFolder.open(tmp_path / "run").summaries()
    assert untrue(cell.columns, data.truth) == []
    assert cell.valid


@pytest.mark.parametrize("format", [name for name in MAKERS if IMPORTERS[name].maps])
def test_only_files_that_leave_their_unit_open_are_asked_about(format: str) -> None:
    """The maker knows which: these are refused without the unit, and no other is."""
    for seed in range(FILES):
        data = made(format, seed)
        mapping = {name: text for name, text in data.mapping.items() if name != "unit"}
        bare = type(data)(data.format, data.name, data.data, data.truth, mapping)
        if data.asks:
            with pytest.raises(UsageError) as raised:
                columns_of(bare)
            assert raised.value.statement.values["reason"] == UNIT_OPEN
        else:
            columns_of(bare)


@pytest.mark.parametrize("files", [ALTERED, pytest.param(ALTERED_AT_LENGTH, marks=SWEEP)])
@pytest.mark.parametrize("alteration", ALTERATIONS)
@pytest.mark.parametrize("format", MAKERS)
def test_an_altered_file_is_refused_or_true_or_the_page_says_so(
    format: str, alteration: str, files: int
) -> None:
    found = {outcome(format, alteration, seed) for seed in range(files)}
    assert found <= SHOWN[format][alteration]
    if files == ALTERED_AT_LENGTH:  # the page excuses nothing that is always seen
        assert (Outcome.NOT_SHOWN in found) == (Outcome.NOT_SHOWN in SHOWN[format][alteration])


def test_the_page_has_the_table_of_alterations() -> None:
    assert table() in PAGE.read_text(encoding="utf-8")


def test_an_alteration_alters_the_file() -> None:
    """Nothing is called refused or equal of a file that is still the same."""
    for format in MAKERS:
        for name, alter in ALTERATIONS.items():
            same = [seed for seed in range(ALTERED) if alter(format, seed).data == made(format, seed).data]
            assert len(same) < ALTERED or (format, name) == ("csv", "unit changed"), (format, name)


def test_nothing_that_the_page_calls_refused_is_imported_silently() -> None:
    """Two results in one file and a doubled row are refused by every format that has any way to tell."""
    silent = {
        (format, name)
        for format, of in SHOWN.items()
        for name in ("doubled", "two results joined")
        if Outcome.NOT_SHOWN in of[name]
    }
    assert silent == {
        ("csv", "doubled"),
        ("csv", "two results joined"),
        ("jitterdebugger-raw", "two results joined"),
    }
