"""The files a rule looks at: those git tracks or would track, or, where there is no git, all files below the root."""

import dataclasses
import functools
import pathlib
import re
import subprocess

SKIPPED_FOLDERS = {".git", "build", "node_modules", "__pycache__"}


@dataclasses.dataclass(frozen=True)
class Violation:
    path: str
    line: int
    message: str

    def __str__(self):
        return f"{self.path}:{self.line}: {self.message}"


@dataclasses.dataclass(frozen=True)
class Room:
    level: int
    pure: bool
    exempt: frozenset


class Tree:
    def __init__(self, root, build=None):
        self.root = pathlib.Path(root).resolve()
        self.build = pathlib.Path(build) if build else self.root / "build" / "tidy"

    @functools.cached_property
    def files(self):
        """Paths relative to the root, with forward slashes, sorted."""
        if (self.root / ".git").exists():
            listing = subprocess.run(
                ["git", "-c", f"safe.directory={self.root}", "ls-files", "-z", "-co", "--exclude-standard"],
                cwd=self.root, capture_output=True, text=True, check=True).stdout
            found = {name for name in listing.split("\0") if name and (self.root / name).is_file()}
        else:
            found = {path.relative_to(self.root).as_posix() for path in self.root.rglob("*") if path.is_file()}
        return sorted(name for name in found if not SKIPPED_FOLDERS & set(name.split("/")))

    def cpp(self, *folders):
        """C++ files below the given top folders."""
        return [name for name in self.files
                if name.endswith((".cpp", ".h")) and name.split("/")[0] in (folders or ("src", "tests", "bench"))]

    def headers(self):
        return [name for name in self.cpp("src") if name.endswith(".h")]

    @functools.cache
    def text(self, name):
        return (self.root / name).read_text(encoding="utf-8", errors="replace")

    def lines(self, name):
        return self.text(name).splitlines()

    def code(self, name):
        return code_only(self.text(name))

    @functools.cached_property
    def rooms(self):
        rooms = {}
        for line in self.lines("tools/rooms.txt"):
            words = line.split("#")[0].split()
            if words:
                rooms[words[1]] = Room(int(words[0]), "pure" in words[2:], frozenset(words[3:]))
        return rooms


def room_of(name):
    """`base` for src/base/error.h; None outside src/ and for files directly in it."""
    parts = name.split("/")
    return parts[1] if parts[0] == "src" and len(parts) > 2 else None


TOKENS = re.compile(
    r'R"(?P<tag>[^()\\\s]{0,16})\(.*?\)(?P=tag)"'  # raw strings
    r'|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'"  # a quote between digits separates them
    r"|//[^\n]*|/\*.*?\*/", re.DOTALL)


@functools.cache
def code_only(text):
    """The text with comments and the contents of literals blanked; lines and columns stay."""

    def blank(match):
        token = match.group(0)
        keep = '"' if token[0] in '"R' else "'" if token[0] == "'" else ""
        blanked = re.sub(r"[^\n]", " ", token)
        return keep + blanked[1:-1] + keep if keep else blanked

    return TOKENS.sub(blank, text)


def line_at(text, offset):
    return text.count("\n", 0, offset) + 1
