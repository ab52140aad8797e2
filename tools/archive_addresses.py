"""The addresses of a distribution's archive in this machine's apt, a line each.

    tools/archive_addresses.py ORIGIN SUITE

ORIGIN is Debian or Ubuntu. An archive has all suites of its distribution, so SUITE need not be the machine's own.
Addresses that only apt can fetch from are left out. Where apt cannot read its own files, the sentence on standard
error says so, and the exit code is 4.
"""

import sys
from collections.abc import Iterable, Sequence

from howlate.errors import HowlateError, NotPossibleError
from howlate.lab.archive.apt import RELEASES, addresses_of, fetchable, machine_rows
from howlate.words.printable import without_controls
from howlate.words.say import advice


def addresses(rows: Iterable[Sequence[str]], origin: str, suite: str) -> list[str]:
    known = RELEASES if origin == "Debian" else (suite,)
    return [each for address in addresses_of(rows, origin, known)[0] for each in fetchable(address)]


if __name__ == "__main__":
    try:
        for address in addresses(machine_rows(), *sys.argv[1:]):
            print(address)
    except NotPossibleError:  # without apt there is no address
        pass
    except HowlateError as problem:
        print(f"howlate: {without_controls(advice(problem.message, problem.remedy))}", file=sys.stderr)
        sys.exit(problem.exit_code)
