"""A language's catalogue, read from its .po file: texts, plurals, and sentences by the template that made them."""

from __future__ import annotations

import gettext
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from howlate.errors import DamagedError
from howlate.language import FOLDER

FIELD = re.compile(r"\{(\w+)(?:![rsa])?(?::[^{}]*)?\}")
FEWEST_LETTERS, FEWEST_OF_A_PIECE, FEWEST_AROUND_WORDS = 3, 6, 12
"""A template with fewer of its own would fit sentences that it did not make: any, a piece of a sentence, one around
several words that nothing made."""
JOINTS = ("; ", ". ", ": ", ", ")
"""Where a sentence that no template made is taken apart."""
AND = " and "
TYPED = re.compile(r"`[^`]*`")
LONGEST, LONGEST_APART = 2000, 400
"""A line with more is none of ours (a guest's console, data): to look for templates in it takes long, and to take it
apart longer."""
_ESCAPE = re.compile(r"\\(.)")
_ESCAPED = {"n": "\n", "t": "\t", '"': '"', "\\": "\\", "r": "\r"}


@dataclass(frozen=True)
class Entry:
    """One message of a .po file."""

    text: str
    plural: str
    forms: tuple[str, ...]
    fuzzy: bool


def entries(content: str) -> Iterator[Entry]:
    """The messages of a .po file as gettext's tools write it, its head (an empty text) first; obsolete ones are
    comments."""
    for block in content.split("\n\n"):
        parts: dict[str, list[str]] = {}
        here: list[str] = []
        fuzzy = False
        for line in block.splitlines():
            if line.startswith("#"):
                fuzzy = fuzzy or (line.startswith("#,") and "fuzzy" in line)
                continue
            word, quote, rest = line.partition('"')
            if quote:
                if word:
                    here = parts.setdefault(word.strip(), [])
                here.append(rest[: rest.rindex('"')])
        if "msgid" in parts:
            texts = {word: _unescaped("".join(pieces)) for word, pieces in parts.items()}
            forms = tuple(texts[word] for word in texts if word.startswith("msgstr"))
            yield Entry(texts["msgid"], texts.get("msgid_plural", ""), forms, fuzzy)


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(lambda found: _ESCAPED[found[1]], text) if "\\" in text else text


class Template:
    """A message with fields, the other way round: from the sentence that it made to what was filled in. One that
    begins or ends as no sentence does (" and older ones", "known are: ") is a piece of one."""

    def __init__(self, text: str, translation: str) -> None:
        before = "{before}" if text[0] in " ;:,." else ""
        after = "{after}" if text[-1] == " " else ""
        self.fewest = FEWEST_OF_A_PIECE if before or after else FEWEST_LETTERS
        self.text, self.translation = f"{before}{text}{after}", f"{before}{translation}{after}"
        self.literals = FIELD.split(self.text)[::2]
        self.core = max(self.literals, key=len)
        self.letters = letters_of(text)
        self.typed = {name for command in TYPED.findall(text) for name in FIELD.findall(command)}
        """Fields of commands, which are the same in every language."""

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        seen: set[str] = set()
        pieces = []
        for i, piece in enumerate(FIELD.split(self.text)):
            if i % 2 == 0:
                pieces.append(re.escape(piece.replace("{{", "{").replace("}}", "}")))
            elif piece in seen:
                pieces.append(f"(?P={piece})")
            else:  # right behind another field it is nothing, or more of the sentence: no half of a word
                close = i > 1 and not self.literals[i // 2]
                pieces.append(f"(?P<{piece}>(?:\\W.*?)?)" if close else f"(?P<{piece}>.*?)")
                seen.add(piece)
        return re.compile("".join(pieces), re.DOTALL)

    def values(self, sentence: str) -> dict[str, str] | None:
        """None where it did not make this sentence."""
        if self.core not in sentence:
            return None
        found = self.pattern.fullmatch(sentence)
        return None if found is None else found.groupdict()

    def filled(self, values: Mapping[str, str]) -> str:
        """The translation with these values."""
        said = FIELD.sub(lambda field: values[field[1]], self.translation)
        return said.replace("{{", "{").replace("}}", "}") if "{{" in self.translation else said


def letters_of(text: str) -> int:
    """Of a message's own, without its fields."""
    return sum(letter.isalpha() for literal in FIELD.split(text)[::2] for letter in literal)


class Catalogue:
    """What one language says."""

    def __init__(
        self, language: str, messages: dict[str, str], plurals: dict[str, tuple[str, ...]], which: str
    ):
        self.language = language
        self._messages = messages
        self._plurals = plurals
        self._which: Callable[[int], int] = gettext.c2py(which)
        self._retold: dict[str, str] = {}

    @classmethod
    def read(cls, language: str, folder: Path = FOLDER) -> Catalogue:
        """Texts without a translation, or with a doubtful one, stay English."""
        path = folder / language / "LC_MESSAGES" / "howlate.po"
        try:
            content = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as problem:
            raise DamagedError(
                f"{path} cannot be read: {problem}", "howlate speaks English with --lang en"
            ) from None
        messages: dict[str, str] = {}
        plurals: dict[str, tuple[str, ...]] = {}
        which = "n != 1"
        for entry in entries(content):
            if not entry.text:
                rule = re.search(r"plural=([^;\n]+)", entry.forms[0])
                which = rule[1].strip() if rule else which
            elif entry.fuzzy or not all(entry.forms):
                continue
            elif entry.plural:
                plurals[entry.text] = entry.forms
                messages.setdefault(entry.text, entry.forms[0])  # the same word may also stand alone
            else:
                messages[entry.text] = entry.forms[0]
        return cls(language, messages, plurals, which)

    def message(self, text: str) -> str:
        return self._messages.get(text, text)

    def plural(self, one: str, many: str, count: int) -> str:
        forms = self._plurals.get(one)
        if forms is None:
            return one if count == 1 else many
        return forms[min(self._which(count), len(forms) - 1)]

    @cached_property
    def _templates(self) -> list[Template]:
        """Those with the most words of their own first, so that the closest one answers."""
        found = [
            Template(text, said)
            for text, said in self._messages.items()
            if text[0] in " ;:,." or text[-1] == " " or FIELD.search(text)
        ]
        fit = [template for template in found if template.letters >= template.fewest]
        return sorted(fit, key=lambda template: -template.letters)

    def retold(self, sentence: str) -> str:
        """The translation of the template that made this sentence, with what was filled in there; of a sentence made
        of several, each that is known."""
        known = self._retold.get(sentence)
        if known is None:
            lines = [sentence] if sentence in self._messages else sentence.split("\n")
            known = "\n".join(self._tell(line) if len(line) <= LONGEST else line for line in lines)
            self._retold[sentence] = known
        return known

    def _tell(self, sentence: str) -> str:
        whole = self._whole(sentence)
        halves = [told for half in sentence.split(AND) if (told := self._whole(half)) is not None]
        if (
            len(halves) == sentence.count(AND) + 1
            and sum(letters for _said, letters in halves) > (whole or ("", 0))[1]
        ):
            return self.message(AND).join(said for said, _letters in halves)
        if whole is not None:
            return whole[0]
        for joint in JOINTS if len(sentence) <= LONGEST_APART else ():
            first, found, rest = sentence.partition(joint)
            while found:
                one, other = self._whole(first), self._whole(rest)
                if one or other:
                    said = (one[0] if one else self.retold(first), other[0] if other else self.retold(rest))
                    return joint.join(said)
                more, found, rest = rest.partition(joint)
                first = f"{first}{joint}{more}"
        return sentence

    def _whole(self, sentence: str) -> tuple[str, int] | None:
        """What the closest template says, and how many letters of it stand there."""
        exact = self._messages.get(sentence)
        if exact is not None:
            return exact, letters_of(sentence)
        if " " not in sentence:
            return None
        told = self._fitting(sentence)
        if told is None and sentence[0].isupper():  # as it begins a line; it was made small
            small = self._whole(sentence[0].lower() + sentence[1:])
            return small and (small[0][:1].upper() + small[0][1:], small[1])
        return told

    def _fitting(self, sentence: str) -> tuple[str, int] | None:
        for template in self._templates:
            values = template.values(sentence)
            if values is not None:
                # One word is a name (a policy, a mode, a file), also where a heading has the same.
                told = {
                    name: self.retold(its) if " " in its and name not in template.typed else its
                    for name, its in values.items()
                }
                foreign = (its.count(" ") > 1 and told[name] == its for name, its in values.items())
                if template.letters >= FEWEST_AROUND_WORDS or not any(foreign):
                    return template.filled(told), template.letters
        return None


def teach_click(catalogue: Callable[[str], str], plural: Callable[[str, str, int], str]) -> None:
    """click says its own words through the standard library's gettext: it asks us."""

    def dgettext(domain: str, message: str) -> str:
        return catalogue(message)

    def dngettext(domain: str, msgid1: str, msgid2: str, n: int) -> str:
        return plural(msgid1, msgid2, n)

    gettext.dgettext, gettext.dngettext = dgettext, dngettext
