from pathlib import Path

from howlate.lab.kernels.initramfs import build

FILES = {"init": b"program", "lib/modules/veth.ko": b"\x00\x01", "lib/modules/a.ko": b"", "odd": b"abc"}


def read_back(archive: bytes) -> dict[str, tuple[list[int], bytes]]:
    """A newc archive's entries: the numbers of the head, and the data."""
    found: dict[str, tuple[list[int], bytes]] = {}
    at = 0
    while True:
        assert archive[at : at + 6] == b"070701"
        numbers = [int(archive[at + 6 + 8 * i : at + 14 + 8 * i], 16) for i in range(13)]
        name_end = at + 110 + numbers[11]
        name = archive[at + 110 : name_end - 1].decode()
        data_at = name_end + -name_end % 4
        if name == "TRAILER!!!":
            assert not any(archive[data_at:])
            return found
        data = archive[data_at : data_at + numbers[6]]
        found[name] = (numbers, data)
        at = data_at + len(data) + -len(data) % 4


def test_what_goes_in_is_what_the_kernel_reads() -> None:
    entries = read_back(build(FILES))
    assert {name: data for name, (_, data) in entries.items() if data or name in FILES} == FILES
    assert entries["init"][0][1] == 0o100755
    assert entries["lib/modules"][0][1] == 0o040755
    assert entries["dev/console"][0][9:11] == [5, 1]


def test_a_folder_stands_before_what_is_in_it() -> None:
    names = list(read_back(build(FILES)))
    for name in names:
        for parent in Path(name).parents:
            assert str(parent) == "." or names.index(str(parent)) < names.index(name)


def test_equal_files_are_equal_bytes_in_whatever_order() -> None:
    assert build(FILES) == build(dict(reversed(FILES.items())))
    assert build(FILES) != build({**FILES, "odd": b"abd"})


def test_nothing_of_this_host_is_in_it() -> None:
    for numbers, _ in read_back(build(FILES)).values():
        _, _, owner, group, _, time, *_ = numbers
        assert (owner, group, time) == (0, 0, 0)


def test_inode_numbers_are_counted() -> None:
    inodes = [numbers[0] for numbers, _ in read_back(build(FILES)).values()]
    assert inodes == list(range(1, len(inodes) + 1))
