"""What a mutant is, and how its change reads."""

import dataclasses

from mutants.operators import Edit
from mutants.source import words_of


@dataclasses.dataclass
class Mutant:
    core: str
    name: str  # of a planted bug, or file:line with the kind of the change
    kind: str  # "planted" or that of the mechanical change
    sentence: str  # what goes wrong, of a planted bug
    file: str  # where its first change is
    line: int
    function: str
    original: str  # the lines that change, and what they become
    changed: str
    edits: dict  # (file, index of the function in it) → its edits
    number: int = 0  # of its switch
    equivalent: str = ""  # why nobody can tell it from the original

    @property
    def planted(self):
        return self.kind == "planted"

    @property
    def files(self):
        return {file for file, _ in self.edits}

    def place(self):
        return f"{self.file}:{self.line}"

    def key(self):
        """Names the mutant over changes elsewhere in the file."""
        return self.file, self.function, words_of(self.original), words_of(self.changed)


def reading(source, function, edit: Edit):
    """The whole lines around an edit, before and after it, each as one line. Of a whole body only its first line."""
    body = source.tokens[function.open].end, source.tokens[function.close].start
    if body[0] <= edit.start and source.line(edit.end) - source.line(edit.start) > 6:
        first, last = source.lines(source.tokens[function.open].start, source.tokens[function.open].end)
        head = flat(source.text[first:last])
        return head, f"{head} {flat(edit.text)} }}"
    first, last = source.lines(edit.start, edit.end)
    return (flat(source.text[first:last]),
            flat(source.text[first:edit.start] + edit.text + source.text[edit.end:last]))


def flat(text):
    return " ".join(text.split())


def applied(source, start, end, edits):
    """The text from start to end with the edits, which do not overlap, made in it."""
    parts, position = [], start
    for edit in sorted(edits, key=lambda edit: edit.start):
        parts += [source.text[position:edit.start], edit.text]
        position = edit.end
    return "".join(parts) + source.text[position:end]
