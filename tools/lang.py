"""The catalogues of the languages, kept in step with the sources (docs/how-to/languages.md).

python tools/lang.py update     every catalogue anew from the sources; translations of texts that still exist stay
python tools/lang.py reworded   also keeps that of a reworded message with the same fields; another reworded text gets
                                Babel's guess, marked as fuzzy
python tools/lang.py check      counts the missing translations, which appear in English; fails where a catalogue is
                                out of step, or a translation is fuzzy or has other fields than its text
"""

import string
import sys
from io import BytesIO
from typing import Any

from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_from_file
from babel.messages.pofile import read_po, write_po

from howlate.words.language import SOURCE, languages, path_of
from howlate.words.rooms import messages_of_results, modules_of_results

KEYWORDS = {"Caption": (1,), "_": (1,), "N_": (1,), "ngettext": (1, 2)}
"""What marks a text outside of messages, in Babel's terms: which arguments are texts."""
HEADER = "# howlate in another language: docs/how-to/languages.md\n#"


def extracted() -> Catalog:
    """What the rooms say that say what a result says: their messages, and the texts that are marked."""
    template = Catalog(charset="utf-8")
    for one in sorted(messages_of_results(), key=lambda one: one.id):
        template.add((one.text, one.many) if one.many else one.text, context=one.id)
    for path in sorted(module.__file__ for module in modules_of_results() if module.__file__):
        for _, message, _, context in extract_from_file("python", path, keywords=KEYWORDS):
            template.add(message, context=context)
    return template


def updated(language: str, template: Catalog, *, guess: bool = False) -> Catalog:
    """A catalogue in step with the sources; with `guess` translations of reworded texts are kept or guessed."""
    with path_of(language).open("rb") as file:
        catalogue = read_po(file, locale=language, abort_invalid=True)
    by_rule = {message.context: message for message in catalogue if message.context}
    catalogue.update(template, update_creation_date=False, no_fuzzy_matching=not guess)
    for message in catalogue if guess else ():
        before = by_rule.get(message.context or "")
        if (
            before
            and fields_of(before.id) == fields_of(message.id)
            and len(forms_of(before.id)) == len(forms_of(message.id))
        ):
            message.string, message.flags, message.previous_id = before.string, before.flags, []
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


def forms_of(texts: Any) -> tuple[str, ...]:
    """The singular and the plural of a text or translation."""
    return tuple(texts) if isinstance(texts, tuple | list) else (texts,)


def fields_of(texts: Any) -> set[str]:
    """The fields of the last form, each with its format: `{count:,}`."""
    parts = string.Formatter().parse(forms_of(texts)[-1])
    return {f"{name}!{conversion}:{spec}" for _, name, spec, conversion in parts if name is not None}


def is_missing(message: Message) -> bool:
    return bool(message.id) and not any(forms_of(message.string))


def is_wrong(message: Message) -> bool:
    """Whether a translation is a guess, lacks a plural form or has other fields than its text."""
    if not message.id or is_missing(message):
        return False
    forms = forms_of(message.string)
    return message.fuzzy or not all(forms) or fields_of(forms) != fields_of(message.id)


def main(arguments: list[str]) -> int:
    if arguments not in (["update"], ["reworded"], ["check"]):
        print(__doc__, file=sys.stderr)
        return 2
    template, failed = extracted(), 0
    for language in languages():
        if language == SOURCE:
            continue
        path, catalogue = path_of(language), updated(language, template, guess=arguments == ["reworded"])
        if arguments != ["check"]:
            path.write_bytes(written(catalogue))
        elif path.read_bytes() != written(catalogue):
            print(f"{language}: not in step with the sources. Call `./dev lang`")
            failed = 1
        missing = sum(map(is_missing, catalogue))
        print(f"{language}: {missing} of {len(catalogue)} translations are missing")
        for message in filter(is_wrong, catalogue):
            print(f"{language}: fuzzy or wrong: {forms_of(message.id)[-1]}")
            failed = int(arguments == ["check"])
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
