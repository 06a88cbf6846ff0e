"""Mutant schemata: a source rewritten so that every mutant of it is a case of a switch. A function is given once as it
is and once for each of its mutants; which one runs is decided by a number that the program reads when it starts. So
a mutant may be any change within a function, and one build serves them all."""

import dataclasses

from mutants.mutant import applied
from mutants.source import Source

HEADER = "mutants/switch.h"


@dataclasses.dataclass
class Rewritten:
    text: str
    spans: list  # (first line, last line, mutant), both inclusive

    def suspects(self, line):
        """The mutant in whose code the line is; else those of the file, nearest first."""
        within = [mutant for first, last, mutant in self.spans if first <= line <= last]
        if within:
            return within, True
        return [mutant for first, last, mutant in sorted(self.spans, key=lambda span: abs(span[0] - line))], False


def rewrite(source: Source, file, mutants, reach_of):
    """The source, which is that of the file, with its mutants as cases. reach_of gives a function of this source its
    place in the table of what was reached."""
    by_function = {}
    for mutant in mutants:
        for (where, number), edits in mutant.edits.items():
            if where == file:
                by_function.setdefault(number, []).append((mutant, edits))
    parts, spans, position, line = [], [], 0, 1

    def put(text):
        nonlocal line
        parts.append(text)
        line += text.count("\n")

    put(f'#include "{HEADER}"\n')
    for number in sorted(by_function):
        function = source.functions[number]
        start, end = source.tokens[function.open].start, source.tokens[function.close].end
        put(source.text[position:start] + "{\nswitch (::muster_mutants::active) {\n")
        for mutant, edits in by_function[number]:
            first = line
            put(f"case {mutant.number}:\n{applied(source, start, end, edits)}\nbreak;\n")
            spans.append((first, line - 1, mutant))
        put(f"case -1:\n::muster_mutants::reach({reach_of(number)});\n[[fallthrough]];\ndefault:\n")
        put(source.text[start:end] + "\n}\n}")
        position = end
    put(source.text[position:])
    return Rewritten("".join(parts), spans)


def switch_header(functions, flags=""):
    """Says by which flags the mutants are compiled, so that a compiler's cache that passes flags over tells their code
    apart by the text. MUSTER_MUTANT=n turns mutant n on. With -1 none is on, and the file MUSTER_MUTANTS_REACHED is told at the end
    which functions ran."""
    return f"""// Which mutant is on: read once, before main, and never changed, so that threads may read it as they like.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>

namespace muster_mutants {{

inline int chosen() {{
  const char* const text = std::getenv("MUSTER_MUTANT");
  return text == nullptr ? 0 : std::atoi(text);
}}

inline constexpr char kFlags[] = "{flags}";
inline const int active = chosen();
inline std::atomic<bool> reached[{max(functions, 1)}];

inline void reach(std::size_t function) {{ reached[function].store(true, std::memory_order_relaxed); }}

struct Telling {{
  ~Telling() {{
    const char* const path = std::getenv("MUSTER_MUTANTS_REACHED");
    std::FILE* const file = active == -1 && path != nullptr ? std::fopen(path, "w") : nullptr;
    if (file == nullptr) return;
    for (std::size_t i = 0; i < {functions}; ++i)
      if (reached[i].load(std::memory_order_relaxed)) std::fprintf(file, "%zu\\n", i);
    std::fclose(file);
  }}
}};
inline const Telling telling;

}}  // namespace muster_mutants
"""
