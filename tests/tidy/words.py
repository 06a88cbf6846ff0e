"""Rules about names and words: what must not be called so, and what must not be written at all."""

import re
import subprocess

from tree import Violation, line_at, room_of

VAGUE = {"util", "utils", "utility", "utilities", "helper", "helpers", "common", "misc", "stuff"}
TYPE = re.compile(r"\b(?:class|struct|union|enum|concept|namespace|using)\s+(?:class\s+|struct\s+)?(?:\[\[\w+\]\]\s*)?([A-Za-z_][\w:]*)"
                  r"(?=\s*(?:[{:=;<]|final\b|$))", re.MULTILINE)


def words_of(name):
    return {word.lower() for word in re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])", name)}


def vague_names(tree):
    """No util, helper, common or misc in the name of a file, type or namespace: name what it is."""
    found = []
    for name in tree.files:
        if words_of(name.rsplit(".", 1)[0]) & VAGUE:
            found.append(Violation(name, 1, "a file is named after what it holds, not " + "/".join(sorted(VAGUE)[:4])))
    for name in tree.cpp():
        code = tree.code(name)
        found += [Violation(name, line_at(code, match.start(1)), f"'{match.group(1)}' says nothing: name what it is")
                  for match in TYPE.finditer(code) if words_of(match.group(1)) & VAGUE]
    return found


# Written in pieces so that this file does not accuse itself.
MARKERS = re.compile(r"\b(?:TO" r"DO|FIX" r"ME|XX" r"X)\b")
MACHINE_PATHS = re.compile(r"(?<![\w./:}-])/(?:wo" r"rk|ro" r"ot|ho" r"me)/[\w.]")
REGISTRIES = re.compile(r"registry\.npm" r"js|pypi\." r"org|python" r"hosted|pkg\." r"dev\b|gcr\." r"io\b|docker\." r"io\b|"
                        r"proxy\.gol" r"ang|node" r"source\.com|artifact" r"ory|ne" r"xus\.")
USING_NAMESPACE = re.compile(r"\busing\s+namespace\s+(?!std::(?:\w+::)*\w*literals\s*;)")
TEXT_SUFFIXES = (".cpp", ".h", ".py", ".md", ".txt", ".cmake", ".json", ".yaml", ".yml", ".sh", ".lua", ".ts", ".js", ".html",
                 ".css", ".toml")


def forbidden_words(tree):
    """No notes to self, no paths or registries of somebody's machine, no `using namespace`."""
    found = []
    for name in tree.files:
        if name.startswith("tests/corpus/") or not (name.endswith(TEXT_SUFFIXES) or "." not in name.rsplit("/", 1)[-1]):
            continue
        text = tree.text(name)
        for pattern, message in (
                (MARKERS, "is a note to self: do it, or open an issue"),
                (MACHINE_PATHS, "is a path of one machine"),
                (REGISTRIES, "is a package registry: what is installed is the business of tools/setup and the machine")):
            found += [Violation(name, line_at(text, match.start()), f"'{match.group(0)}' {message}")
                      for match in pattern.finditer(text)]
    for name in tree.cpp():
        code = tree.code(name)
        found += [Violation(name, line_at(code, match.start()), "no `using namespace` (std literals apart): name what is used")
                  for match in USING_NAMESPACE.finditer(code)]
    return found


SLEEPS = re.compile(r"\b(?:sleep_for|sleep_until|usleep|nanosleep)\s*\(|(?<![\w.>])sleep\s*\(")


def no_sleeps(tree):
    """Unit tests do not sleep: they wait for a condition, with a bound, or bring their own time."""
    found = []
    for name in tree.cpp("src"):
        if name.endswith("_test.cpp"):
            code = tree.code(name)
            found += [Violation(name, line_at(code, match.start()), "a unit test does not sleep: wait for the condition")
                      for match in SLEEPS.finditer(code)]
    return found


def header_shape(tree):
    """A header begins with a comment on its purpose, has #pragma once, and opens its room's namespace."""
    found = []
    for name in tree.headers():
        text = tree.text(name)
        if not text.startswith("//"):
            found.append(Violation(name, 1, "begins without saying what it is for, who owns it and on which thread it runs"))
        if "\n#pragma once\n" not in text:
            found.append(Violation(name, 1, "has no #pragma once"))
        code = tree.code(name)
        if "namespace" in code and f"namespace muster::{room_of(name)}" not in code:
            found.append(Violation(name, 1, f"opens no namespace muster::{room_of(name)}: a folder is a namespace"))
    return found


def formatting(tree):
    """clang-format-19 would change nothing."""
    files = tree.cpp()
    if not files:
        return []
    run = subprocess.run(["clang-format-19", "--dry-run", "-Werror", *files], cwd=tree.root, capture_output=True, text=True)
    found = {}
    for match in re.finditer(r"^(\S+?):(\d+):\d+: error:", run.stderr, re.MULTILINE):
        found.setdefault(match.group(1), Violation(match.group(1), int(match.group(2)), "not formatted: run ./dev format"))
    if run.returncode != 0 and not found:
        found[""] = Violation(".clang-format", 1, run.stderr.strip())
    return list(found.values())
