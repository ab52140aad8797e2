"""The addresses of a distribution's archive in this machine's apt, a line each.

    tools/archive_addresses.py ORIGIN SUITE

ORIGIN is Debian or Ubuntu. An archive has all suites of its distribution, so SUITE need not be the machine's own.
Addresses that only apt can fetch from are left out.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress

from howlate.errors import NotPossibleError
from howlate.lab.archive.apt import RELEASES, addresses_of, fetchable, machine_rows


def addresses(rows: Iterable[Sequence[str]], origin: str, suite: str) -> list[str]:
    known = RELEASES if origin == "Debian" else (suite,)
    return [each for address in addresses_of(rows, origin, known)[0] for each in fetchable(address)]


if __name__ == "__main__":
    with suppress(NotPossibleError):  # without apt there is no address
        for address in addresses(machine_rows(), *sys.argv[1:]):
            print(address)
