"""The catalogues of the languages, kept in step with the sources (docs/how-to/languages.md).

python tools/lang.py update    every catalogue anew from the sources; translations of texts that are still there stay
python tools/lang.py check     fails where a catalogue is out of step, or a translation is missing or fuzzy
"""

from __future__ import annotations

import sys
from io import BytesIO

from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_from_file
from babel.messages.pofile import read_po, write_po

from howlate.words.language import SOURCE, languages, path_of
from howlate.words.rooms import modules_of_results, rules_of_results

KEYWORDS = {"Caption": (1,), "_": (1,), "N_": (1,), "ngettext": (1, 2)}
"""What marks a text that is no rule's, in Babel's terms: which arguments are texts."""
HEADER = "# howlate in another language: docs/how-to/languages.md\n#"


def extracted() -> Catalog:
    """What the rooms say that say what a result says: their rules, and the texts that are marked."""
    template = Catalog(charset="utf-8")
    for rule in sorted(rules_of_results(), key=lambda rule: rule.id):
        template.add((rule.text, rule.many) if rule.many else rule.text, context=rule.id)
    for path in sorted(module.__file__ for module in modules_of_results() if module.__file__):
        for _, message, _, context in extract_from_file("python", path, keywords=KEYWORDS):
            template.add(message, context=context)
    return template


def updated(language: str, template: Catalog) -> Catalog:
    """A catalogue in step with the sources."""
    with path_of(language).open("rb") as file:
        catalogue = read_po(file, locale=language, abort_invalid=True)
    catalogue.update(template, update_creation_date=False)
    catalogue.obsolete.clear()
    catalogue.fuzzy = False
    catalogue.header_comment = HEADER
    return catalogue


def written(catalogue: Catalog) -> bytes:
    """Without what changes by itself: dates, versions, places in the sources. Without Babel's guesses at formats,
    too: it takes "99 % of" for one."""
    for message in catalogue:
        message.flags -= {"python-format", "python-brace-format"}
    file = BytesIO()
    write_po(file, catalogue, width=0, no_location=True, ignore_obsolete=True)
    head, _, messages = file.getvalue().partition(b"\n\n")
    kept = (b"#", b"msg", b'"Language:', b'"Plural-Forms:', b'"MIME', b'"Content-')
    return b"\n".join(line for line in head.splitlines() if line.startswith(kept)) + b"\n\n" + messages


def is_open(message: Message) -> bool:
    """Whether a translation is missing or fuzzy."""
    forms = message.string if isinstance(message.string, tuple | list) else (message.string,)
    return bool(message.id) and (message.fuzzy or not all(forms))


def main(arguments: list[str]) -> int:
    if arguments not in (["update"], ["check"]):
        print(__doc__, file=sys.stderr)
        return 2
    template, failed = extracted(), 0
    for language in languages():
        if language == SOURCE:
            continue
        path, catalogue = path_of(language), updated(language, template)
        if arguments == ["update"]:
            path.write_bytes(written(catalogue))
        elif path.read_bytes() != written(catalogue):
            print(f"{language}: not in step with the sources. Call `./dev lang`")
            failed = 1
        missing = [message.id for message in catalogue if is_open(message)]
        print(f"{language}: {len(missing)} of {len(catalogue)} translations are missing or fuzzy")
        failed = failed or int(bool(missing) and arguments == ["check"])
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
