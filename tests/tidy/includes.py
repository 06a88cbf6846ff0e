"""Rules about what includes what: room levels, purity, headers that stand alone."""

import concurrent.futures
import hashlib
import json
import os
import re
import subprocess

from tree import Violation, room_of

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)


def included(tree, name):
    """Pairs (line, target, is_system) of a file's includes."""
    text = tree.text(name)
    return [(text.count("\n", 0, match.start(2)) + 1, match.group(2), match.group(1) == "<")
            for match in INCLUDE.finditer(text)]


def room_levels(tree):
    """A room includes itself and lower levels only; src/CMakeLists.txt and ARCHITECTURE.md agree with tools/rooms.txt."""
    found = []
    for name in tree.cpp("src"):
        room = room_of(name)
        if room not in tree.rooms:
            found.append(Violation(name, 1, f"room '{room}' has no level: add it to tools/rooms.txt"))
            continue
        for line, target, is_system in included(tree, name):
            if is_system:
                continue
            other = target.split("/")[0]
            if "/" not in target or other not in tree.rooms:
                found.append(Violation(name, line, f'"{target}": includes are rooted at src/, as "room/file.h"'))
            elif other != room and tree.rooms[other].level >= tree.rooms[room].level:
                found.append(Violation(name, line, f"{room} (level {tree.rooms[room].level}) must not include "
                                                   f"{other} (level {tree.rooms[other].level})"))
    return found + linked_rooms(tree) + architecture(tree)


def linked_rooms(tree):
    name = "src/CMakeLists.txt"
    if name not in tree.files:
        return []
    found = []
    text = tree.text(name)
    for match in re.finditer(r"muster_room\((\w+)([^)]*)\)", text):
        room, rest = match.groups()
        line = text.count("\n", 0, match.start()) + 1
        linked = re.search(r"ROOMS([^)]*?)(?:LINK|$)", rest)
        for other in linked.group(1).split() if linked else []:
            levels = tree.rooms.get(other), tree.rooms.get(room)
            if None in levels or levels[0].level >= levels[1].level:
                found.append(Violation(name, line, f"{room} must not link {other}"))
    return found


def architecture(tree):
    name = "ARCHITECTURE.md"
    if name not in tree.files:
        return []
    stated = {match.group(2): int(match.group(1))
              for match in re.finditer(r"^\|\s*(\d+)\s*\|\s*`(\w+)/?`\s*\|", tree.text(name), re.MULTILINE)}
    found = []
    for room in sorted({room_of(file) for file in tree.cpp("src")} & set(tree.rooms)):
        level = tree.rooms[room].level
        if stated.get(room) != level:
            found.append(Violation(name, 1, f"the table of rooms must hold a row '| {level} | `{room}/` | … |'"))
    return found


IMPURE_INCLUDES = re.compile(
    r"(sys|netinet|arpa|net|linux|openssl)/.*|(unistd|poll|fcntl|signal|pthread|netdb|ares|stdio|dlfcn)\.h|"
    r"thread|mutex|shared_mutex|condition_variable|future|semaphore|latch|barrier|stop_token|coroutine|"
    r"iostream|fstream|filesystem|cstdio|csignal|random")
IMPURE_CALLS = re.compile(
    r"\b(?:steady_clock|system_clock|high_resolution_clock)\s*::\s*now\b|\bbase::now\s*\(|\bclock_gettime\b|"
    r"\brandom_device\b|\bstd::rand\b|\bgetenv\b|\bstd::time\s*\(|\bthread_local\b")


def pure_rooms(tree):
    """Pure rooms do no IO: no sockets, files, threads, clocks or unseeded randomness. Time and bytes are handed in."""
    found = []
    for name in tree.cpp("src"):
        room = tree.rooms.get(room_of(name))
        if not room or not room.pure or name.split("/", 2)[2] in room.exempt or name.endswith(("_test.cpp", "_fuzz.cpp")):
            continue
        found += [Violation(name, line, f"<{target}> has no place in a room without IO")
                  for line, target, is_system in included(tree, name) if is_system and IMPURE_INCLUDES.fullmatch(target)]
        code = tree.code(name)
        found += [Violation(name, code.count("\n", 0, match.start()) + 1,
                            f"`{match.group(0).strip()}` has no place in a room without IO: take it as an argument")
                  for match in IMPURE_CALLS.finditer(code)]
    return found


COMPILE = ["clang++-19", "-std=c++23", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", '-DMUSTER_VERSION="0"',
           "-x", "c++", "-"]


def self_contained(tree):
    """Every header compiles alone. The preset `dev` shows it for those that their own source includes first; the others are
    compiled here, and what compiled once is remembered by the content of all that it includes."""
    memory = tree.build / "self_contained.json"
    known = set(json.loads(memory.read_text())) if memory.exists() else set()
    keys = {name: content_key(tree, name) for name in tree.headers() if not is_first_in_own_source(tree, name)}
    waiting = [name for name in keys if keys[name] not in known]

    def compile_alone(name):
        source = f'#include "{name.removeprefix("src/")}"\n'
        run = subprocess.run([*COMPILE, f"-I{tree.root / 'src'}"], input=source, capture_output=True, text=True)
        return name, run.returncode, run.stderr

    found, compiled = [], {keys[name] for name in keys if keys[name] in known}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, status, errors in pool.map(compile_alone, waiting):
            if status == 0:
                compiled.add(keys[name])
            else:
                first = next((line for line in errors.splitlines() if "error:" in line), errors.strip())
                found.append(Violation(name, 1, f"does not compile alone: {first}"))
    tree.build.mkdir(parents=True, exist_ok=True)
    memory.write_text(json.dumps(sorted(compiled)))
    return found


def is_first_in_own_source(tree, name):
    source = name.removesuffix(".h") + ".cpp"
    if source not in tree.files:
        return False
    first = next(iter(included(tree, source)), None)
    return first is not None and first[1] == name.removeprefix("src/")


def content_key(tree, name):
    """A hash of the header and of every header of the repository that it reaches."""
    reached, waiting = set(), [name]
    while waiting:
        header = waiting.pop()
        if header not in reached and (tree.root / header).is_file():
            reached.add(header)
            waiting += [f"src/{target}" for _, target, is_system in included(tree, header) if not is_system]
    digest = hashlib.sha256(" ".join(COMPILE).encode())
    for header in [name, *sorted(reached)]:
        digest.update(f"{header}\0{tree.text(header)}\0".encode())
    return digest.hexdigest()
