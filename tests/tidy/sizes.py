"""Rules about length: files, functions, mains. What is over a limit stands in exceptions.txt, a list that only shrinks."""

import re

from tree import Violation, line_at

FILE_LINES = 800
SOURCE_P90 = 400
HEADER_P90 = 200
FUNCTION_LINES = 70
MAIN_LINES = 60
EXCEPTIONS = "tests/tidy/exceptions.txt"


def file_length(tree):
    """No file over 800 lines; nine of ten sources within 400 and nine of ten headers within 200."""
    files = tree.cpp() + [name for name in tree.files if name.endswith((".py", ".lua", ".js", ".ts")) or name == "dev"]
    lengths = {name: len(tree.lines(name)) for name in files}
    over = {name: (1, length) for name, length in lengths.items() if length > FILE_LINES}
    found = judge(tree, "file", over, FILE_LINES)
    for kind, suffix, limit in (("source", ".cpp", SOURCE_P90), ("header", ".h", HEADER_P90)):
        ranked = sorted((length, name) for name, length in lengths.items() if name.endswith(suffix))
        if ranked:
            length, name = ranked[(len(ranked) * 9 - 1) // 10]
            if length > limit:
                found.append(Violation(name, 1, f"nine of ten {kind} files must be within {limit} lines; this one, "
                                                f"with {length}, is at that place"))
    return found


def function_length(tree):
    """No function over 70 lines."""
    over = {}
    for name in tree.cpp():
        for function, line, length in functions(tree.code(name)):
            if length > FUNCTION_LINES:
                over[f"{name}:{function}"] = (line, length)
    return judge(tree, "function", over, FUNCTION_LINES)


def main_length(tree):
    """app/ holds wiring only: no file over 60 lines."""
    return [Violation(name, MAIN_LINES + 1, f"{len(tree.lines(name))} lines; a main is wiring only, within {MAIN_LINES}")
            for name in tree.cpp("src") if name.startswith("src/app/") and len(tree.lines(name)) > MAIN_LINES]


def judge(tree, kind, over, limit):
    """What is too long and not excepted, what outgrew its exception, and exceptions that are not needed any more."""
    allowed = exceptions(tree, kind)
    found = []
    for what, (line, length) in over.items():
        path, _, function = what.partition(":")
        label = f"{function}() has" if function else "has"
        if what not in allowed:
            found.append(Violation(path, line, f"{label} {length} lines, over {limit}: it is two things"))
        elif length > allowed[what][1]:
            found.append(Violation(path, line, f"{label} grew to {length} lines; {EXCEPTIONS} allows {allowed[what][1]}"))
        elif length < allowed[what][1]:
            found.append(Violation(EXCEPTIONS, allowed[what][0], f"{what} is down to {length} lines: write that here"))
    found += [Violation(EXCEPTIONS, line, f"{what} is within the limit now: delete this exception")
              for what, (line, _) in allowed.items() if what not in over]
    return found


def exceptions(tree, kind):
    allowed = {}
    if EXCEPTIONS in tree.files:
        for number, line in enumerate(tree.lines(EXCEPTIONS), 1):
            words = line.split("#")[0].split()
            if words and words[0] == kind:
                allowed[words[1]] = (number, int(words[2]))
    return allowed


NOT_A_FUNCTION = re.compile(r"\b(namespace|class|struct|union|enum|extern|concept)\b[^()]*$|=\s*$|\breturn\s*$|,\s*$|\($")
MEMBER_INITIALISER = re.compile(r"(?<=[\w>])\{([^{};]*)\}(?=\s*[,{])")
NAME = re.compile(r"(?!(?:requires|noexcept|decltype|alignas)\b)(\boperator\s*\S+?|[\w~][\w:~<>]*)\s*\(")


def functions(code):
    """Yields (name, line, lines from its opening to its closing brace) for each outermost function body."""
    code = re.sub(r"^[ \t]*#.*?(?<!\\)$", lambda m: re.sub(r"[^\n]", " ", m.group(0)), code, flags=re.MULTILINE | re.DOTALL)
    code = MEMBER_INITIALISER.sub(r"(\1)", code)
    stack, head_start = [], 0
    body = None  # (depth, name, offset of its brace)
    for match in re.finditer(r"[{};]", code):
        offset, mark = match.start(), match.group(0)
        if mark == "{":
            if body is None and is_body(code[head_start:offset]):
                body = (len(stack), name_of(code[head_start:offset]), offset)
            stack.append(offset)
        elif mark == "}" and stack:
            stack.pop()
            if body and len(stack) == body[0]:
                first, last = line_at(code, body[2]), line_at(code, offset)
                yield body[1], first, last - first + 1
                body = None
        if body is None:
            head_start = match.end()


def is_body(head):
    return ")" in head and not NOT_A_FUNCTION.search(head.strip())


def name_of(head):
    match = NAME.search(head)
    if not match:
        return "?"
    test = re.match(r"(?:TEST|TEST_F|TEST_P|RC_GTEST_PROP)$", match.group(1))
    if test:
        return ".".join(re.findall(r"\w+", head[match.end():])[:2])
    return re.sub(r"\s+", "", match.group(1))
