"""Mechanical mutants: small changes such as programmers make by mistake, found in the bodies of functions. Each is a
replacement of text; whether it compiles is seen when it is built."""

import dataclasses
import re

from mutants.source import OPENING, Source

RELATIONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
ASSIGNMENTS = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="}
# An operand of a logical operator ends here at the latest.
BOUNDS = ASSIGNMENTS | {",", ";", "?", ":", "return", "co_return", "co_await", "case", "else", "throw"}
OTHER_STATEMENTS = {
    "if", "for", "while", "do", "switch", "return", "break", "continue", "case", "default", "else", "goto", "throw", "try",
    "using", "static", "static_assert", "assert", "const", "constexpr", "auto", "typedef", "struct", "class", "enum", "delete",
    "co_return", "co_yield"}
PERSISTS = re.compile(r"write|wrote|persist|store|save|sync|checkpoint|append|truncate")
# A guard that speaks of these keeps out what is old, foreign or not allowed any more.
FENCES = re.compile(r"fence|epoch|attempt|token|term|incarnation|version|lease|expired|stale|outsider|member|stamp|round|ticket")
MAJORITIES = re.compile(r"(\w+_)?(majority|quorum)")


@dataclasses.dataclass(frozen=True)
class Edit:
    start: int
    end: int
    text: str


@dataclasses.dataclass(frozen=True)
class Finding:
    kind: str
    function: int  # which of the source's
    edit: Edit


def findings(source: Source, in_header=False):
    """All mechanical mutants of a source in the order of their places. Constant expressions are left alone, and so are
    templates in headers, which this source may not use."""
    found = []
    for number, function in enumerate(source.functions):
        if not function.constant and not (function.templated and in_header):
            found += [Finding(kind, number, edit) for kind, edit in Body(source, function).edits()]
    unique = {}
    for finding in sorted(found, key=lambda finding: (finding.edit.start, finding.edit.end, finding.kind)):
        unique.setdefault((finding.edit.start, finding.edit.end, finding.edit.text), finding)
    return list(unique.values())


class Body:
    def __init__(self, source, function):
        self.source = source
        self.tokens = source.tokens
        self.partner = source.partner
        self.function = function

    def edits(self):
        inside = range(self.function.open + 1, self.function.close)
        for index in inside:
            text = self.tokens[index].text
            if text in ("if", "while") and self.source.word(index + 1) == "(":
                yield from self.guard(index)
            elif text in RELATIONS and self.source.spaced(index):
                yield "relation", self.replace(index, index + 1, RELATIONS[text])
            elif text == "?" and self.source.spaced(index):
                yield from self.negation("guard negated", self.operand_before(index, set()), index)
            elif text in ("&&", "||") and self.source.spaced(index):
                yield from self.operands(index)
            elif MAJORITIES.fullmatch(text) and [self.source.word(index + 1), self.source.word(index + 2)] == ["(", ")"]:
                yield "majority", self.insert(index + 2, " - 1")
                yield "majority", self.insert(index + 2, " + 1")
            elif text == "2" and [self.source.word(index + n) for n in (-1, 1, 2)] == ["/", "+", "1"]:
                yield "majority", self.replace(index + 1, index + 3, "")
                yield "majority", self.replace(index + 2, index + 3, "2")
        for first in self.statements():
            yield from self.dropped(first)
        yield from self.constants()

    def replace(self, first, last, text):
        """Instead of the tokens from first up to, not including, last."""
        return Edit(self.tokens[first].start, self.tokens[last - 1].end, text)

    def insert(self, behind, text):
        return Edit(self.tokens[behind].end, self.tokens[behind].end, text)

    def guard(self, keyword):
        first, last = keyword + 2, self.partner[keyword + 1]
        ends = [index for index in self.level(first, last) if self.tokens[index].text == ";"]
        first = ends[-1] + 1 if ends else first
        if any(self.tokens[index].text in ASSIGNMENTS for index in self.level(first, last)):
            return  # `if (const auto found = …)`
        yield from self.negation("guard negated", first, last)
        if self.tokens[keyword].text == "if" and self.leaves(last + 1) and FENCES.search(self.between(first, last)):
            yield "check skipped", self.replace(first, last, "false")

    def leaves(self, index):
        return self.source.word(index + 1 if self.source.word(index) == "{" else index) in ("return", "continue", "break")

    def negation(self, kind, first, last):
        """`a == b` alone is left to the change of its operator, which gives the same."""
        if first >= last:
            return
        level = [index for index in self.level(first, last)]
        logical = any(self.tokens[index].text in ("&&", "||", "?") and self.source.spaced(index) for index in level)
        if not logical and any(self.tokens[index].text in ("==", "!=") for index in level):
            return
        single = not any(self.tokens[index].kind == "punctuation" and self.source.spaced(index) for index in level)
        if self.tokens[first].text == "!" and single:
            yield kind, self.replace(first, first + 1, "")
        elif single:
            yield kind, Edit(self.tokens[first].start, self.tokens[first].start, "!")
        else:
            yield kind, self.replace(first, last, f"!({self.between(first, last)})")

    def operands(self, index):
        stops = {"||", "&&"} if self.tokens[index].text == "&&" else {"||"}
        yield from self.negation("operand negated", self.operand_before(index, stops), index)
        yield from self.negation("operand negated", index + 1, self.operand_behind(index, stops))

    def operand_before(self, index, stops):
        while True:
            text = self.tokens[index - 1].text
            if index - 1 in self.partner and text in OPENING:
                return index
            if text in BOUNDS or (text in stops and self.source.spaced(index - 1)):
                return index
            index = self.partner[index - 1] if index - 1 in self.partner else index - 1

    def operand_behind(self, index, stops):
        index += 1
        while True:
            text = self.tokens[index].text
            if index in self.partner and text not in OPENING:
                return index
            if text in BOUNDS or (text in stops and self.source.spaced(index)):
                return index
            index = self.partner[index] + 1 if index in self.partner else index + 1

    def level(self, first, last):
        """The tokens of a range that are in no bracket within it."""
        index = first
        while index < last:
            yield index
            index = self.partner[index] + 1 if self.tokens[index].text in OPENING and index in self.partner else index + 1

    def between(self, first, last):
        return self.source.text[self.tokens[first].start:self.tokens[last - 1].end]

    def statements(self):
        """The first tokens of statements, in this body and in lambdas in it."""
        blocks = [self.function.open]
        for index in range(self.function.open, self.function.close):
            text, before = self.tokens[index].text, self.source.word(index - 1)
            if text == "{" and index != self.function.open:
                opens = before in (")", "else", "do", "]", "mutable", "noexcept", "const") or self.has_result_type(index)
                inner = before in ("{", "}", ";", ":") and self.enclosing(index) in blocks
                if opens or inner:
                    blocks.append(index)
        for block in blocks:
            yield from self.statements_of(block)

    def statements_of(self, block):
        index, close = block + 1, self.partner[block]
        start = True
        while index < close:
            text = self.tokens[index].text
            if start and text not in ("{", "}"):
                yield index
            start = False
            if text in ("if", "for", "while", "switch"):
                index += 1
                if self.source.word(index) == "constexpr":
                    index += 1
                index = self.partner[index] + 1
                start = True
                continue
            if text in ("else", "do", ";"):
                start = True
            elif text == ":" and self.label(index):
                start = True
            elif text in OPENING and index in self.partner:
                index = self.partner[index]
                start = text == "{"
            index += 1

    def label(self, colon):
        index = colon - 1
        while self.tokens[index].text not in ("case", "default", ";", "{", "}", "?", "(", ")"):
            index -= 1
        return self.tokens[index].text in ("case", "default")

    def has_result_type(self, brace):
        """`[](int x) -> bool {`"""
        index = brace - 1
        while index > 0 and (self.tokens[index].kind == "word" or self.tokens[index].text in ("::", "<", ">", "&", "*")):
            index -= 1
        return self.tokens[index].text == "->" and self.source.word(index - 1) == ")"

    def enclosing(self, index):
        index -= 1
        while index >= 0:
            if index in self.partner:
                if self.tokens[index].text in OPENING:
                    return index
                index = self.partner[index]
            index -= 1
        return -1

    def dropped(self, first):
        if self.tokens[first].text == "return" and self.function.result == "void":
            end = self.end_of(first)
            if first + 1 < end and self.call_at(first + 1) == end:
                yield self.drop_kind(first + 1, end), self.replace(first + 1, end, "")
            return
        if self.tokens[first].text in OTHER_STATEMENTS:
            return
        end = self.end_of(first)
        last = self.call_at(first)
        if last is None or end is None or "abort" in (self.source.word(first), self.source.word(first + 2)):
            return
        if last == end:
            changes = {"++", "--"} & {self.tokens[first].text, self.tokens[end - 1].text}
            if changes or self.tokens[end - 1].text == ")":
                yield "assignment dropped" if changes else self.drop_kind(first, end), self.replace(first, end, "")
        elif self.tokens[last].text in ASSIGNMENTS:
            kind = self.drop_kind(last + 1, end) if self.call_at(last + 1) == end else ""
            yield kind if kind == "persist dropped" else "assignment dropped", self.replace(first, end, "")

    def end_of(self, index):
        while index < self.function.close:
            if self.tokens[index].text == ";":
                return index
            index = self.partner[index] + 1 if self.tokens[index].text in OPENING and index in self.partner else index + 1
        return None

    def call_at(self, index):
        """Where a chain such as `a::b(c).d[e]->f` ends; None if this is no such thing but a declaration."""
        while self.source.word(index) in ("++", "--", "*"):
            index += 1
        wants_name = True
        while index < self.function.close:
            token = self.tokens[index]
            if token.kind == "word":
                if not wants_name:
                    return None
                wants_name = False
            elif token.text in ("::", ".", "->"):
                wants_name = True
            elif token.text in ("(", "["):
                index = self.partner[index]
                wants_name = False
            elif token.text == "<" and not self.source.spaced(index):
                index = self.behind_template(index)
                if index is None or self.source.word(index + 1) not in ("(", "::"):
                    return None
            elif token.text in ("++", "--"):
                return index + 1
            else:
                return index if token.text in ASSIGNMENTS or token.text == ";" else None
            index += 1
        return None

    def behind_template(self, index):
        depth = 0
        while index < self.function.close and self.tokens[index].text not in (";", "{"):
            depth += {"<": 1, ">": -1}.get(self.tokens[index].text, 0)
            if depth == 0:
                return index
            index += 1
        return None

    def drop_kind(self, first, end):
        open_ = self.partner.get(end - 1, first)
        name = self.source.word(open_ - 1)
        arguments = " ".join(self.tokens[index].text for index in range(open_, end) if self.tokens[index].kind == "word")
        persists = PERSISTS.match(name) or PERSISTS.match(arguments)
        return "persist dropped" if persists else "call dropped"

    def constants(self):
        if self.function.result != "bool":
            return
        first, last = self.function.open + 1, self.function.close
        for value in ("true", "false"):
            if first < last and [self.source.word(index) for index in range(first, last)] != ["return", value, ";"]:
                yield "constant answer", self.replace(first, last, f"return {value};")
