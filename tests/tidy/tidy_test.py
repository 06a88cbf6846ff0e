"""A rule that cannot fail is worthless: each is shown a small clean tree, which it must pass, and the same tree with a
planted fault, which it must name. tidy_test.py RULE runs the cases of one rule."""

import pathlib
import sys
import tempfile
import unittest

from tidy import RULES
from tree import Tree

HEADER = "// What a thing is.\n#pragma once\n\nnamespace muster::base {\n\nstruct Thing {};\n\n}  // namespace muster::base\n"
CLEAN = {
    ".clang-format": "BasedOnStyle: Google\n",
    "tools/rooms.txt": "0 base pure clock.h\n1 protocol pure\n1 metrics pure\n3 reactor\n8 app\n",
    "tests/tidy/exceptions.txt": "# nothing\n",
    "src/base/thing.h": HEADER,
    "src/base/clock.h": "// Tells the time.\n#pragma once\n\n#include <chrono>\n\nnamespace muster::base {\n\n"
                        "inline auto now() { return std::chrono::steady_clock::now(); }\n\n}  // namespace muster::base\n",
    "src/protocol/parser.cpp": '#include "base/thing.h"\n\nusing namespace std::literals;\n',
    "src/reactor/loop.cpp": '#include <sys/socket.h>\n\n#include "protocol/parser.h"\n',
    "src/protocol/parser.h": HEADER.replace("base", "protocol"),
    "src/app/main.cpp": "int main() { return 0; }\n",
    "README.md": "# Nothing to see\n",
}


def body(lines):
    return "int long_one(int x) {\n" + "  x += 1;\n" * (lines - 3) + "  return x;\n}\n"


# rule: list of (what is planted over the clean tree, part of a violation that must be reported)
PLANTED = {
    "room_levels": [
        ({"src/base/thing.cpp": '#include "protocol/parser.h"\n'}, "thing.cpp:1: base (level 0) must not include protocol"),
        ({"src/metrics/sum.cpp": '\n#include "protocol/parser.h"\n'}, "sum.cpp:2: metrics (level 1) must not include"),
        ({"src/protocol/other.cpp": '#include "parser.h"\n'}, "includes are rooted at src/"),
        ({"src/attic/old.cpp": "\n"}, "room 'attic' has no level"),
        ({"src/CMakeLists.txt": "muster_room(base ROOMS protocol LINK fmt::fmt)\n"}, "base must not link protocol"),
        ({"ARCHITECTURE.md": "| 0 | `base/` | x |\n| 2 | `protocol/` | x |\n| 3 | `reactor/` | x |\n| 8 | `app/` | x |\n"},
         "a row '| 1 | `protocol/`"),
    ],
    "pure_rooms": [
        ({"src/protocol/io.cpp": "#include <sys/socket.h>\n"}, "<sys/socket.h> has no place"),
        ({"src/base/worker.h": "#include <thread>\n"}, "<thread> has no place"),
        ({"src/protocol/io.cpp": "auto t = std::chrono::steady_clock::now();\n"}, "steady_clock::now"),
        ({"src/protocol/io.cpp": "auto t = base::now();\n"}, "base::now("),
    ],
    "self_contained": [
        ({"src/base/list.h": "// Things.\n#pragma once\ninline std::vector<int> things;\n"}, "list.h:1: does not compile alone"),
        ({"src/base/thing.h": HEADER.replace("{}", "{ int size }")}, "thing.h:1: does not compile alone"),
        ({"src/base/list.h": "// Things.\n#pragma once\ninline std::vector<int> things;\n",
          "src/base/list.cpp": "#include <vector>\n\n#include \"base/list.h\"\n"}, "list.h:1: does not compile alone"),
    ],
    "file_length": [
        ({"src/base/long.cpp": "\n" * 801}, "has 801 lines, over 800"),
        ({f"src/base/file{n}.cpp": "\n" * 401 for n in range(9)}, "nine of ten source files must be within 400"),
        ({f"src/base/file{n}.h": "\n" * 201 for n in range(9)}, "nine of ten header files must be within 200"),
        ({"tests/tidy/exceptions.txt": "file src/base/thing.h 900\n"}, "within the limit now: delete this exception"),
        ({"tests/tidy/exceptions.txt": "file src/base/long.cpp 900\n", "src/base/long.cpp": "\n" * 901}, "grew to 901"),
        ({"tests/tidy/exceptions.txt": "file src/base/long.cpp 900\n", "src/base/long.cpp": "\n" * 850}, "down to 850"),
    ],
    "function_length": [
        ({"src/base/long.cpp": body(71)}, "long.cpp:1: long_one() has 71 lines"),
        ({"src/base/long.cpp": "namespace muster {\nclass Thing {\n" + body(71) + "};\n}\n"}, "long_one() has 71"),
        ({"src/base/long.cpp": "Thing::Thing(int x)\n    : x_{x} {\n" + "  ++x_;\n" * 70 + "}\n"}, "Thing::Thing() has 72"),
        ({"src/base/long_test.cpp": "TEST(Thing, IsLong) {\n" + "  run(\"}\");\n" * 70 + "}\n"}, "Thing.IsLong() has 72"),
        ({"src/base/long.cpp": body(72), "tests/tidy/exceptions.txt": "function src/base/long.cpp:long_one 71\n"}, "grew to 72"),
        ({"src/base/long.cpp": body(70), "tests/tidy/exceptions.txt": "function src/base/long.cpp:long_one 71\n"}, "delete"),
    ],
    "main_length": [({"src/app/main.cpp": "\n" * 61}, "61 lines; a main is wiring only")],
    "own_names": [
        ({f"src/base/{name}.cpp": "namespace {\n\nconstexpr int kMost = 3;\n\n}  // namespace\n" for name in "ab"},
         "b.cpp:3: 'kMost' is declared in src/base/a.cpp too"),
        ({f"src/base/{name}.cpp": "namespace {\nclass Thing {\n};\n}\n" for name in "ab"}, "b.cpp:2: 'Thing'"),
        ({f"src/base/{name}_test.cpp": "namespace {\nstd::vector<int> things(const Thing& thing) {\n}\n}\n" for name in "ab"},
         "b_test.cpp:2: 'things'"),
    ],
    "vague_names": [
        ({"src/base/string_util.cpp": "\n"}, "string_util.cpp:1: a file is named after"),
        ({"src/base/helpers/x.cpp": "\n"}, "a file is named after"),
        ({"src/base/thing.cpp": "\nclass ParseHelper {\n};\n"}, "thing.cpp:2: 'ParseHelper'"),
        ({"src/base/thing.cpp": "namespace muster::common {}\n"}, "'muster::common'"),
        ({"src/base/thing.cpp": "using MiscMap = int;\n"}, "'MiscMap'"),
    ],
    "forbidden_words": [
        ({"README.md": "\nTO" "DO: write it\n"}, "README.md:2: 'TO" "DO'"),
        ({"src/base/thing.cpp": "// FIX" "ME\n"}, "'FIX" "ME'"),
        ({"dev": "cd /ho" "me/somebody/x\n"}, "is a path of one machine"),
        ({"docs/x.md": "see `/ro" "ot/x`\n"}, "is a path of one machine"),
        ({"tools/get": "npm --registry https://registry.npm" "js.example/\n"}, "is a package registry"),
        ({"src/base/thing.cpp": "using namespace std;\n"}, "no `using namespace`"),
    ],
    "no_sleeps": [({"src/base/x_test.cpp": "void f() { std::this_thread::sleep_for(1s); }\n"}, "does not sleep")],
    "header_shape": [
        ({"src/base/thing.h": HEADER.split("\n", 1)[1]}, "begins without saying"),
        ({"src/base/thing.h": HEADER.replace("#pragma once\n", "")}, "no #pragma once"),
        ({"src/base/thing.h": HEADER.replace("::base", "::other")}, "no namespace muster::base"),
    ],
    "formatting": [({"src/base/thing.cpp": "int  f( ) {return 1 ;}\n"}, "thing.cpp:1: not formatted")],
}


class PlantedFaults(unittest.TestCase):
    rules = sorted(RULES)

    def check(self, rule, planted):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in (CLEAN | planted).items():
                path = pathlib.Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return [str(violation) for violation in RULES[rule](Tree(folder))]

    def test_a_clean_tree_passes(self):
        for rule in self.rules:
            with self.subTest(rule=rule):
                self.assertEqual(self.check(rule, {}), [])

    def test_a_planted_fault_is_named(self):
        for rule in self.rules:
            self.assertTrue(PLANTED.get(rule), f"rule {rule} has no planted fault")
            for planted, expected in PLANTED[rule]:
                with self.subTest(rule=rule, expected=expected):
                    found = self.check(rule, planted)
                    self.assertTrue(any(expected in line for line in found), f"expected {expected!r} among {found}")


if __name__ == "__main__":
    if len(sys.argv) > 1 and sys.argv[1] in RULES:
        PlantedFaults.rules = [sys.argv.pop(1)]
    unittest.main()
