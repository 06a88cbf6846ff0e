"""Names that belong to one source."""

import collections
import re

from tree import Violation, line_at, room_of

UNNAMED = re.compile(r"^namespace \{\n(?P<body>.*?)^\}", re.DOTALL | re.MULTILINE)
# What a line at the margin of an unnamed namespace declares. Functions are told apart by their parameters too, since they may
# be overloaded.
DECLARED = (
    re.compile(r"(?:struct|class|enum class|enum|union) (?P<name>\w+)(?P<more>)(?= |;|$)"),
    re.compile(r"(?:static |inline |constexpr |const )*[\w:<>,&* ]*?[ &*>](?P<name>\w+)\((?P<more>[^()=]*\)?)"),
    re.compile(r"(?:static |inline |constexpr |const )+[\w:<>,&* ]*?[ &*>](?P<name>\w+)(?P<more>)(?=\[|\{| =|;)"),
)
# Of tests each is a class with a name of its own.
NO_FUNCTIONS = ("TEST", "RC_GTEST", "INSTANTIATE_TEST")


def own_names(tree):
    """What stands in an unnamed namespace has a name of its own in its room: the room's sources are compiled together."""
    seen, found = collections.defaultdict(list), []
    for name in tree.cpp("src"):
        if not name.endswith(".cpp") or name.endswith("_fuzz.cpp") or room_of(name) is None:
            continue
        code = tree.code(name)
        for unnamed in UNNAMED.finditer(code):
            offset = unnamed.start("body")
            for line in unnamed.group("body").splitlines(keepends=True):
                if declared := declares(line.rstrip("\n")):
                    seen[(room_of(name), name.endswith("_test.cpp"), *declared)].append((name, line_at(code, offset)))
                offset += len(line)
    for (_, _, declared, _), places in seen.items():
        first = places[0][0]
        for name, line in places[1:]:
            if name != first:
                found.append(Violation(name, line, f"'{declared}' is declared in {first} too: share it, or name it anew"))
    return found


def declares(line):
    if line[:1] in ("", " ", "}", "/", "#") or line.startswith(NO_FUNCTIONS):
        return None
    for kind in DECLARED:
        if match := kind.match(line):
            return match.group("name"), match.group("more")
    return None
