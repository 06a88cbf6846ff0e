"""C++ as far as mutants need it: tokens without comments and preprocessor lines, which bracket belongs to which, and the
functions with their bodies. Formatted code is taken for granted: a binary operator has a space on both sides."""

import bisect
import dataclasses
import functools
import re

TOKEN = re.compile(
    r'(?P<skip>\s+|//[^\n]*|/\*.*?\*/)'
    r'|(?P<string>(?:u8|[uUL])?R"(?P<tag>[^()\\\s]{0,16})\(.*?\)(?P=tag)"|(?:u8|[uUL])?"(?:\\.|[^"\\\n])*")'
    r"|(?P<char>(?:u8|[uUL])?'(?:\\.|[^'\\\n])+')"
    r"|(?P<number>\.?\d(?:'?[\w.]|(?<=[eEpP])[+-])*)"
    r'|(?P<word>[A-Za-z_]\w*)'
    r'|(?P<punctuation><=>|<<=|>>=|->\*|\.\.\.|::|->|\+\+|--|&&|\|\||[-+*/%&|^=!<>]=|<<|.)', re.DOTALL)
DIRECTIVE = re.compile(r'^[ \t]*#(?:[^\n\\]|\\.)*', re.MULTILINE | re.DOTALL)

OPENING = {"(": ")", "[": "]", "{": "}"}
CLOSING = {close: open_ for open_, close in OPENING.items()}
# What may stand between the parameters of a function and its body.
QUALIFIERS = {"const", "noexcept", "override", "final", "mutable", "&", "&&", "try"}
TYPE_HEADS = {"class", "struct", "union"}


@dataclasses.dataclass(frozen=True)
class Token:
    kind: str
    text: str
    start: int
    end: int


@dataclasses.dataclass(frozen=True)
class Function:
    name: str
    result: str  # the words before the name, such as "bool"; empty for constructors
    open: int  # tokens of the body's braces
    close: int
    templated: bool
    constant: bool  # constexpr or consteval


class Source:
    def __init__(self, text):
        self.text = text
        self.tokens = tokens_of(text)
        self.partner = partners(self.tokens)
        self._line_starts = [0] + [match.end() for match in re.finditer(r"\n", text)]

    def line(self, offset):
        return bisect.bisect_right(self._line_starts, offset)

    def lines(self, start, end):
        """The whole lines that the offsets lie in, as offsets."""
        first = self.text.rfind("\n", 0, start) + 1
        last = self.text.find("\n", end)
        return first, len(self.text) if last < 0 else last

    def word(self, index):
        return self.tokens[index].text if 0 <= index < len(self.tokens) else ""

    def spaced(self, index):
        """A space or line end on both sides: a binary operator, not part of a type."""
        token = self.tokens[index]
        return self.text[token.start - 1:token.start].isspace() and self.text[token.end:token.end + 1].isspace()

    @functools.cached_property
    def functions(self):
        return list(Scopes(self).functions())


def tokens_of(text):
    hidden = DIRECTIVE.sub(lambda match: re.sub(r"[^\n]", " ", match.group(0)), text)
    return [Token(match.lastgroup if match.lastgroup != "tag" else "string", match.group(0), match.start(), match.end())
            for match in TOKEN.finditer(hidden) if match.lastgroup != "skip"]


def words_of(text):
    """Two texts are the same code if their words are: spaces, line ends and comments do not count."""
    return tuple(token.text for token in tokens_of(text))


def partners(tokens):
    partner, waiting = {}, []
    for index, token in enumerate(tokens):
        if token.kind != "punctuation":
            continue
        if token.text in OPENING:
            waiting.append(index)
        elif token.text in CLOSING:
            if not waiting or tokens[waiting[-1]].text != CLOSING[token.text]:
                raise ValueError(f"'{token.text}' without '{CLOSING[token.text]}'")
            partner[index] = waiting.pop()
            partner[partner[index]] = index
    if waiting:
        raise ValueError(f"'{tokens[waiting[-1]].text}' is never closed")
    return partner


class Scopes:
    """Walks namespaces and classes and tells the functions defined in them."""

    def __init__(self, source):
        self.source = source
        self.tokens = source.tokens
        self.partner = source.partner

    def functions(self, begin=0, end=None):
        end = len(self.tokens) if end is None else end
        head, index = begin, begin
        while index < end:
            text = self.tokens[index].text
            if text == "{" and self.tokens[index].kind == "punctuation":
                close = self.partner[index]
                kind = self.kind_of(head, index)
                if kind == "scope":
                    yield from self.functions(index + 1, close)
                elif kind == "function":
                    yield self.function(head, index)
                index = close
                if kind != "value":
                    head = index + 1
            elif text in OPENING and self.tokens[index].kind == "punctuation":
                index = self.partner[index]
            elif text == ";":
                head = index + 1
            elif text == ":" and self.source.word(index - 1) in ("public", "private", "protected"):
                head = index + 1
            index += 1

    def kind_of(self, head, brace):
        """What a brace opens, by the words since the last declaration: scope, function, enumeration, or a value."""
        outer = self.outer_words(head, brace)
        words = [text for _, text in outer]
        if "enum" in words:
            return "enumeration"
        if words[:1] in (["namespace"], ["extern"]) or words[:2] == ["inline", "namespace"]:
            return "scope"
        called = "(" in words
        if TYPE_HEADS & set(words) and not called:
            return "scope"
        if not called or ("=" in words and "operator" not in words):
            return "value"
        before = self.source.word(brace - 1)
        behind_parameters = words[len(words) - words[::-1].index("(") - 1:]
        if before in QUALIFIERS or before in (")", "}") or "->" in behind_parameters:
            return "function"
        return "value"

    def outer_words(self, head, brace):
        """Tokens outside of brackets; of a bracket only the opening one."""
        found, index = [], head
        while index < brace:
            found.append((index, self.tokens[index].text))
            index = self.partner[index] + 1 if self.tokens[index].text in OPENING and index in self.partner else index + 1
        return found

    def function(self, head, brace):
        outer = self.outer_words(head, brace)
        words = [text for _, text in outer]
        at = words.index("(")
        if words[at - 1] == "operator":  # operator()
            at = words.index("(", at + 1)
        first = at - 1
        if "operator" in words[:at]:
            first = words.index("operator")
        while first >= 2 and words[first - 1] == "::":
            first -= 2
        if first >= 1 and words[first - 1] == "~":
            first -= 1
        ignored = {"static", "inline", "virtual", "explicit", "friend", "constexpr", "consteval", "[", "template"}
        return Function(
            name="".join(words[first:at]), result=" ".join(word for word in words[:first] if word not in ignored),
            open=brace, close=self.partner[brace], templated="template" in words,
            constant=bool({"constexpr", "consteval"} & set(words)))
