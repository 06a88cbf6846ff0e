"""The lists of tests/mutants. <core>.txt says which sources and scenarios belong to a core and which bugs are planted in
it; equivalent.txt names mutants that nobody can tell from the original. A list is made of paragraphs of `key: value`;
a value goes on in the lines that are indented; a line that begins with # is a comment."""

import dataclasses
import fnmatch
import re

from mutants.mutant import Mutant, flat, reading
from mutants.operators import Edit, findings
from mutants.source import Source, words_of

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.MULTILINE)


class Mistake(Exception):
    """Said to whoever wrote the list."""


@dataclasses.dataclass
class Core:
    name: str
    sources: list  # patterns of files
    spared: list
    scenarios: list  # patterns of scenarios
    bugs: list  # paragraphs


@dataclasses.dataclass
class Paragraph:
    file: str
    line: int
    fields: list  # pairs (key, value)

    def all(self, key):
        return [value for name, value in self.fields if name == key]

    def one(self, key, default=None):
        values = self.all(key)
        if len(values) > 1 or (not values and default is None):
            raise Mistake(f"{self.place()}: expected one '{key}:', found {len(values)}")
        return values[0] if values else default

    def place(self):
        return f"{self.file}:{self.line}"

    def only(self, *keys):
        for name, _ in self.fields:
            if name not in keys:
                raise Mistake(f"{self.place()}: '{name}:' means nothing here; known are {', '.join(keys)}")


def paragraphs(text, file):
    found, current = [], None
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("#"):
            continue
        if not line.strip():
            current = None
        elif line[0].isspace():
            if current is None:
                raise Mistake(f"{file}:{number}: an indented line belongs to a 'key: value' above it")
            key, value = current.fields[-1]
            current.fields[-1] = key, f"{value}\n{line.strip()}".strip()
        else:
            key, colon, value = line.partition(":")
            if not colon:
                raise Mistake(f"{file}:{number}: expected 'key: value', found '{line}'")
            if current is None:
                current = Paragraph(file, number, [])
                found.append(current)
            current.fields.append((key.strip(), value.strip()))
    return found


def core_of(name, text, file):
    core = Core(name, [], [], [], [])
    for paragraph in paragraphs(text, file):
        if paragraph.all("bug"):
            paragraph.only("bug", "says", "file", "from", "to")
            core.bugs.append(paragraph)
            continue
        paragraph.only("sources", "spared", "scenarios")
        core.sources += paragraph.one("sources", "").split()
        core.spared += paragraph.one("spared", "").split()
        core.scenarios += paragraph.one("scenarios", "").split()
    if not core.sources or not core.scenarios:
        raise Mistake(f"{file}: a core needs 'sources:' and 'scenarios:'")
    return core


def product_files(root):
    """The sources of src/ without tests, and the headers that these reach: others are what tests are made of."""
    waiting = [path.relative_to(root).as_posix() for path in sorted((root / "src").rglob("*.cpp"))
               if not path.name.endswith(("_test.cpp", "_fuzz.cpp"))]
    found = set()
    while waiting:
        name = waiting.pop()
        if name not in found and (root / name).is_file():
            found.add(name)
            waiting += [f"src/{header}" for header in INCLUDE.findall((root / name).read_text())]
    return sorted(found)


def files_of(core, names):
    """The files of a core among those that there are."""
    found = [name for name in names
             if any(fnmatch.fnmatch(name, pattern) for pattern in core.sources)
             and not any(fnmatch.fnmatch(name, pattern) for pattern in core.spared)]
    for pattern in core.sources + core.spared:
        if not fnmatch.filter(names, pattern):
            raise Mistake(f"{core.name}: no file matches '{pattern}'")
    return sorted(found)


def mechanical(core, file, source: Source):
    found, seen = [], {}
    for finding in findings(source, file.endswith(".h")):
        function = source.functions[finding.function]
        line = source.line(finding.edit.start)
        original, changed = reading(source, function, finding.edit)
        name = f"{file.rsplit('/', 1)[-1].removesuffix('.cpp')}:{line} {finding.kind}"
        seen[name] = seen.get(name, 0) + 1
        found.append(Mutant(
            core=core.name, name=name if seen[name] == 1 else f"{name} {seen[name]}", kind=finding.kind, sentence="",
            file=file, line=line, function=function.name, original=original, changed=changed,
            edits={(file, finding.function): [finding.edit]}))
    return found


def changes_of(bug):
    """What a paragraph changes: (file, text before, text after). A file is that of all that follows, up to the next."""
    changes, file, before = [], None, None
    for key, value in bug.fields:
        if key == "file":
            file = value
        elif key == "from" and before is None and file is not None:
            before = value
        elif key == "to" and before is not None:
            changes.append((file, before, value))
            before = None
        elif key in ("from", "to"):
            raise Mistake(f"{bug.place()}: '{key}:' out of turn; write 'file:', then 'from:' and 'to:' by turns")
    if not changes or before is not None:
        raise Mistake(f"{bug.place()}: '{bug.one('bug')}' needs as many 'from:' as 'to:', and one at least")
    return changes


def planted(core, bug, source_of):
    """The mutant of a paragraph; every text that it names must be there exactly once, in the body of a function."""
    name, changes = bug.one("bug"), changes_of(bug)
    edits, first = {}, None
    for file, original, changed in changes:
        source = source_of(file)
        if source is None:
            raise Mistake(f"{bug.place()}: there is no file {file}")
        edit = the_only(source, original, changed, f"{bug.place()}: '{name}'", file)
        number = next((number for number, function in enumerate(source.functions)
                       if source.tokens[function.open].start < edit.start and
                       edit.end <= source.tokens[function.close].start), None)
        if number is None or source.functions[number].constant:
            raise Mistake(f"{bug.place()}: '{name}': what changes in {file} must lie in the body of one function, "
                          f"not a constexpr one: {flat(original)}")
        edits.setdefault((file, number), []).append(edit)
        first = first or (file, source.line(edit.start), source.functions[number].name)
    return Mutant(core=core.name, name=name, kind="planted", sentence=flat(bug.one("says")), file=first[0], line=first[1],
                  function=first[2], original=" … ".join(flat(before) for _, before, _ in changes),
                  changed=" … ".join(flat(after) for _, _, after in changes), edits=edits)


def the_only(source, original, changed, whose, file):
    words = words_of(original)
    if not words:
        raise Mistake(f"{whose}: 'from:' is empty")
    all_words = [token.text for token in source.tokens]
    places = [index for index in range(len(all_words) - len(words) + 1)
              if all_words[index] == words[0] and tuple(all_words[index:index + len(words)]) == words]
    if len(places) != 1:
        raise Mistake(f"{whose}: this must be in {file} exactly once and is there {len(places)} times: {flat(original)}")
    return Edit(source.tokens[places[0]].start, source.tokens[places[0] + len(words) - 1].end, changed)


def mark_equivalent(text, file, mutants, cores, known_files):
    """Gives mutants the reason why they are equivalent; gives back the mistakes that were found."""
    mistakes = []
    for entry in paragraphs(text, file):
        try:
            mark_entry(entry, mutants, cores, known_files)
        except Mistake as mistake:
            mistakes.append(mistake)
    return mistakes


def mark_entry(entry, mutants, cores, known_files):
    entry.only("file", "in", "from", "to", "why")
    source, function, why = entry.one("file"), entry.one("in", ""), flat(entry.one("why"))
    before, after = entry.one("from"), entry.one("to")
    if source not in known_files:
        if any(fnmatch.fnmatch(source, pattern) for core in cores for pattern in core.sources):
            raise Mistake(f"{entry.place()}: there is no file {source}")
        return  # of a core that is not looked at
    named = [mutant for mutant in mutants
             if mutant.file == source and not mutant.planted and mutant.key()[2:] == (words_of(before), words_of(after))
             and function in ("", mutant.function)]
    if not named:
        raise Mistake(f"{entry.place()}: no mutant of {source} changes '{flat(before)}' to '{flat(after)}' any more: "
                      f"take the entry out or write it anew")
    if len({mutant.function for mutant in named}) > 1:
        raise Mistake(f"{entry.place()}: that change is possible in several functions; say which by 'in:'")
    for mutant in named:
        mutant.equivalent = why
