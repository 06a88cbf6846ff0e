"""The copy of the sources in build/mutants, and the one muster-sim that is built of it. What does not compile is thrown
out by the places of the compiler's errors, until the rest builds."""

import hashlib
import json
import os
import pathlib
import re
import subprocess

from mutants.schemata import HEADER, rewrite, switch_header

COPIED = ("CMakeLists.txt", "CMakePresets.json", "cmake", "src", "bench", "packaging")
ERROR = re.compile(r"^(?P<file>[^\s:]+):(?P<line>\d+):\d+: (?:fatal )?error: (?P<what>.*)$", re.MULTILINE)
# Warnings say nothing about mutants. A path that forgets to return is a wrong answer, and a loop without an end hangs:
# neither is a licence to the optimiser.
FLAGS = "-w -fno-strict-return -fno-finite-loops -ferror-limit=0"


class Failure(Exception):
    """The build cannot be saved by throwing mutants out."""


class Workshop:
    def __init__(self, root, jobs):
        self.root = pathlib.Path(root)
        self.copy = self.root / "build" / "mutants"
        self.build = self.copy / "build" / "release"
        self.binary = self.build / "muster-sim"
        self.jobs = jobs
        self.reach = {}  # (file, number of the function) → place in the table of what was reached

    def make(self, sources, mutants, say):
        """Builds all mutants; gives those that had to go. `sources` maps files to what was read of them."""
        for number, mutant in enumerate(mutants, 1):
            mutant.number = number
        self.reach = {place: index for index, place in enumerate(sorted(
            {place for mutant in mutants for place in mutant.edits}))}
        self.configure()
        memory = Memory(self.copy / "uncompiled.json", self.root)
        gone, guessing = [mutant for mutant in mutants if memory.knows(mutant)], 1
        kept = [mutant for mutant in mutants if mutant not in gone]
        while True:
            rewritten = self.put(sources, kept)
            say(f"building muster-sim with {len(kept)} mutants")
            output = self.ninja()
            if output is None:
                memory.keep(gone)
                return gone
            blamed, certain = blame(output, rewritten, self.copy, self.build, guessing)
            if not blamed:
                raise Failure(f"muster-sim does not build, and no mutant is to blame; see {self.log()}")
            guessing = 1 if certain else guessing * 2
            say(f"{len(blamed)} mutants do not compile")
            gone += blamed
            kept = [mutant for mutant in kept if mutant not in blamed]

    def log(self):
        return self.copy / "build.log"

    def put(self, sources, mutants):
        """Brings the copy up to date, writing only what differs, so that the rest is not built again."""
        rewritten = {}
        for file, source in sources.items():
            mine = [mutant for mutant in mutants if file in mutant.files]
            if mine:
                rewritten[file] = rewrite(source, file, mine, lambda number, file=file: self.reach[file, number])
        wanted = {f"src/{HEADER}": switch_header(len(self.reach), FLAGS).encode()}
        for name in originals(self.root):
            text = rewritten.get(name)
            wanted[name] = text.text.encode() if text else (self.root / name).read_bytes()
        for name, content in wanted.items():
            path = self.copy / name
            if not path.is_file() or path.read_bytes() != content:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
        for name in originals(self.copy):
            if name not in wanted:
                (self.copy / name).unlink()
        return rewritten

    def configure(self):
        cache = self.build / "CMakeCache.txt"
        if (self.build / "build.ninja").exists() and f"={FLAGS}\n" in cache.read_text():
            return
        self.put({}, [])
        done = subprocess.run(["cmake", "--preset", "release", "-DMUSTER_TESTS=OFF", "-DMUSTER_TOGETHER=1", f"-DCMAKE_CXX_FLAGS={FLAGS}"],
                              cwd=self.copy, capture_output=True, text=True)
        if done.returncode:
            raise Failure(f"CMake cannot configure {self.copy}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")

    def ninja(self):
        """None if it builds, else what the compilers said."""
        # Files without mutants need none of the flags, so that they may come from a cache that other builds have filled;
        # those with mutants name the flags in their text.
        environment = os.environ | {"CCACHE_BASEDIR": str(self.copy), "CCACHE_NOHASHDIR": "1", "CCACHE_IGNOREOPTIONS": FLAGS}
        done = subprocess.run(["ninja", "-C", str(self.build), "-k", "0", "-j", str(self.jobs), "muster-sim"],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)
        self.log().write_text(done.stdout)
        return None if done.returncode == 0 else done.stdout


class Memory:
    """Which mutants did not compile, as long as no source has changed."""

    def __init__(self, path, root):
        self.path = path
        digest = hashlib.sha256()
        for name in originals(root):
            digest.update(name.encode() + b"\0" + (root / name).read_bytes())
        self.sources = digest.hexdigest()
        told = json.loads(path.read_text()) if path.exists() else {}
        self.known = set(told.get("gone", [])) if told.get("sources") == self.sources else set()

    def knows(self, mutant):
        return f"{mutant.file} {mutant.name}" in self.known

    def keep(self, gone):
        self.known |= {f"{mutant.file} {mutant.name}" for mutant in gone if not mutant.planted}
        self.path.write_text(json.dumps({"sources": self.sources, "gone": sorted(self.known)}))


def originals(root):
    """The files that a build of muster-sim needs, relative to the root."""
    found = []
    for name in COPIED:
        path = root / name
        paths = sorted(path.rglob("*")) if path.is_dir() else [path]
        found += [path.relative_to(root).as_posix() for path in paths
                  if path.is_file() and not path.name.endswith(("_test.cpp", "_fuzz.cpp")) and "__pycache__" not in path.parts]
    return found


def blame(output, rewritten, copy, build, guesses):
    """The mutants that errors point at, and whether that is certain. An error in no mutant's code is laid to the ones
    nearest to it, more of them each time, so that the search ends."""
    certain, nearest = [], []
    for match in ERROR.finditer(output):
        path = pathlib.Path(os.path.normpath(build / match.group("file")))
        name = path.relative_to(copy).as_posix() if path.is_relative_to(copy) else None
        if name not in rewritten:
            continue
        suspects, sure = rewritten[name].suspects(int(match.group("line")))
        if sure:
            certain += [mutant for mutant in suspects if mutant not in certain]
        else:
            nearest += [mutant for mutant in suspects[:guesses] if mutant not in nearest]
    return (certain, True) if certain else (nearest, False)
