"""tools/mutate without a simulator: what it reads of C++, which mutants it invents, and that a rewritten source behaves
as the original or as the mutant that is on."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from mutants import draw, lists, operators, trial, workshop  # noqa: E402
from mutants.mutant import applied, reading  # noqa: E402
from mutants.schemata import HEADER, rewrite, switch_header  # noqa: E402
from mutants.source import Source, words_of  # noqa: E402

SAMPLE = """// if (never) return;
#include <vector>
#define WORD if (x) { y(); }

namespace muster::cores {
namespace {

constexpr int kTable[] = {1, 2};
enum class Kind : int { kOne, kTwo };

constexpr bool small(int x) { return x < 3; }

}  // namespace

class Group {
 public:
  explicit Group(int size) : size_{size}, votes_(0) { reset(); }
  int majority() const { return size_ / 2 + 1; }
  bool operator==(const Group& other) const { return size_ == other.size_; }

 private:
  std::function<bool(int)> test_ = [](int x) { return x > 1; };
  int size_ = 0;
};

void Group::vote(std::uint64_t term, const std::vector<int>& from) {
  if (const auto found = names_.find(term); found != names_.end() && !closed_) return refuse(term);
  if (const auto* known = look(from)) use(*known);
  if (term < term_) return;
  std::vector<int> counted = from;
  Guard guard(term);
  term_ = term;
  write(term_);
  for (std::size_t i = 0; i < from.size(); ++i) votes_ += accept(from[i]) ? 1 : 0;
  std::ranges::sort(counted, [](int a, int b) { return a > b; });
  if (votes_ >= majority() && "a < b"[0] == 'a') lead();
  else { ++rounds_; }
}

}  // namespace muster::cores
"""


def mutations(text):
    source = Source(text)
    found = []
    for finding in operators.findings(source):
        before, after = reading(source, source.functions[finding.function], finding.edit)
        found.append((finding.kind, before, after))
    return found


def in_function(body, result="void"):
    return mutations(f"{result} f(int x) {{\n{body}\n}}\n")


class Reading(unittest.TestCase):
    def test_functions_are_found_in_namespaces_and_classes(self):
        names = [(function.name, function.result) for function in Source(SAMPLE).functions]
        self.assertEqual(names, [("small", "bool"), ("Group", ""), ("majority", "int"), ("operator==", "bool"),
                                 ("Group::vote", "void")])

    def test_comments_literals_and_directives_hold_no_code(self):
        words = words_of('a /* b */ + "c < d" // e\n#define F g \\\n  h\n')
        self.assertEqual(words, ("a", "+", '"c < d"'))

    def test_digits_may_be_separated(self):
        self.assertEqual(words_of("200'000 + 'x' + 1e-5"), ("200'000", "+", "'x'", "+", "1e-5"))

    def test_a_bracket_that_is_never_closed_is_told(self):
        with self.assertRaisesRegex(ValueError, "never closed"):
            Source("void f() {")


class Inventing(unittest.TestCase):
    def assert_invented(self, kind, before, after, found):
        self.assertIn((kind, before, after), found)

    def test_relations_change_but_not_templates_or_literals(self):
        relations = [after for kind, _, after in mutations(SAMPLE) if kind == "relation"]
        self.assertEqual(relations, [
            "bool operator==(const Group& other) const { return size_ != other.size_; }",
            "if (const auto found = names_.find(term); found == names_.end() && !closed_) return refuse(term);",
            "if (term <= term_) return;",
            "for (std::size_t i = 0; i <= from.size(); ++i) votes_ += accept(from[i]) ? 1 : 0;",
            "std::ranges::sort(counted, [](int a, int b) { return a >= b; });",
            "if (votes_ > majority() && \"a < b\"[0] == 'a') lead();",
            "if (votes_ >= majority() && \"a < b\"[0] != 'a') lead();"])

    def test_a_guard_is_negated_behind_its_declaration(self):
        found = in_function("if (auto y = g(x); y && x > 2) h();\nif (auto* z = g()) h();")
        self.assertEqual([after for kind, _, after in found if kind == "guard negated"],
                         ["if (auto y = g(x); !(y && x > 2)) h();"])

    def test_operands_are_negated_one_by_one(self):
        found = in_function("const bool y = a.b(x) && (c || !d) && e < 1;", "int")
        self.assertEqual([after for kind, _, after in found if kind == "operand negated"], [
            "const bool y = !a.b(x) && (c || !d) && e < 1;",
            "const bool y = a.b(x) && !(c || !d) && e < 1;",
            "const bool y = a.b(x) && (!c || !d) && e < 1;",
            "const bool y = a.b(x) && (c || d) && e < 1;",
            "const bool y = a.b(x) && (c || !d) && !(e < 1);"])

    def test_the_question_of_a_choice_is_negated(self):
        self.assert_invented("guard negated", "return x < 1 ? a : b;", "return !(x < 1) ? a : b;",
                             in_function("return x < 1 ? a : b;", "int"))

    def test_equality_alone_is_not_negated_twice(self):
        self.assertEqual([kind for kind, _, _ in in_function("if (x == 1) y = 2;")], ["relation", "assignment dropped"])

    def test_a_check_of_old_things_is_skipped(self):
        self.assert_invented("check skipped", "if (term < term_) return;", "if (false) return;", mutations(SAMPLE))
        self.assertNotIn("check skipped", [kind for kind, _, _ in in_function("if (size < x) return;")])

    def test_majorities_are_off_by_one(self):
        found = mutations(SAMPLE)
        self.assert_invented("majority", "int majority() const { return size_ / 2 + 1; }",
                             "int majority() const { return size_ / 2 ; }", found)
        line = "if (votes_ >= majority() && \"a < b\"[0] == 'a') lead();"
        for change in ("majority() - 1", "majority() + 1"):
            self.assert_invented("majority", line, line.replace("majority()", change), found)

    def test_calls_and_assignments_are_dropped_but_not_declarations(self):
        dropped = [(kind, before) for kind, before, _ in mutations(SAMPLE) if "dropped" in kind]
        self.assertEqual(dropped, [
            ("call dropped", "explicit Group(int size) : size_{size}, votes_(0) { reset(); }"),
            ("call dropped", "if (const auto found = names_.find(term); found != names_.end() && !closed_) return refuse(term);"),
            ("call dropped", "if (const auto* known = look(from)) use(*known);"),
            ("assignment dropped", "term_ = term;"),
            ("persist dropped", "write(term_);"),
            ("assignment dropped", "for (std::size_t i = 0; i < from.size(); ++i) votes_ += accept(from[i]) ? 1 : 0;"),
            ("call dropped", "std::ranges::sort(counted, [](int a, int b) { return a > b; });"),
            ("call dropped", "if (votes_ >= majority() && \"a < b\"[0] == 'a') lead();"),
            ("assignment dropped", "else { ++rounds_; }")])

    def test_cases_of_a_switch_hold_statements(self):
        found = in_function("switch (x) {\n  case Kind::kOne:\n    a();\n    return;\n  default: b = x;\n}")
        self.assertEqual([kind for kind, _, _ in found], ["call dropped", "assignment dropped"])

    def test_bool_functions_answer_a_constant(self):
        found = in_function("return x > 2;", "bool")
        self.assertEqual([after for kind, _, after in found if kind == "constant answer"], ["return true;", "return false;"])

    def test_constant_expressions_are_left_alone(self):
        self.assertNotIn("small", " ".join(before for _, before, _ in mutations(SAMPLE)))

    def test_every_change_is_one_of_the_text_between_its_ends(self):
        source = Source(SAMPLE)
        for finding in operators.findings(source):
            changed = applied(source, 0, len(source.text), [finding.edit])
            self.assertEqual(changed, SAMPLE[:finding.edit.start] + finding.edit.text + SAMPLE[finding.edit.end:])
            self.assertNotEqual(words_of(changed), words_of(SAMPLE))


CORE = "sources: src/cores/*.cpp\nspared: src/cores/*_codec.cpp\nscenarios: raft raft-*\n"
BUG = """
bug: two-votes
says: A second candidate
  gets a vote, too.
file: src/cores/vote.cpp
from: if (voted_)   return false;
to:
"""
VOTE = "bool Node::vote(int to) {\n  if (voted_) return false;  // once\n  voted_ = true;\n  return true;\n}\n"


class Lists(unittest.TestCase):
    def planted(self, text, source=VOTE):
        core = lists.core_of("raft", CORE + text, "raft.txt")
        return [lists.planted(core, bug, {"src/cores/vote.cpp": Source(source)}.get) for bug in core.bugs]

    def test_a_bug_is_found_whatever_its_spaces(self):
        bug, = self.planted(BUG)
        self.assertEqual((bug.name, bug.sentence, bug.line, bug.function),
                         ("two-votes", "A second candidate gets a vote, too.", 2, "Node::vote"))

    def test_a_bug_may_change_several_places(self):
        bug, = self.planted(BUG + "from: return true;\nto: return voted_;\n")
        self.assertEqual([len(edits) for edits in bug.edits.values()], [2])

    def test_a_bug_may_change_several_files(self):
        core = lists.core_of("raft", CORE + BUG + "file: src/cores/other.cpp\nfrom: return true;\nto: return false;\n", "raft.txt")
        other = "bool other() {\n  return true;\n}\n"
        sources = {"src/cores/vote.cpp": Source(VOTE), "src/cores/other.cpp": Source(other)}
        bug = lists.planted(core, core.bugs[0], sources.get)
        self.assertEqual(bug.files, set(sources))
        bug.number = 7
        rewritten = rewrite(sources["src/cores/other.cpp"], "src/cores/other.cpp", [bug], lambda number: number)
        self.assertEqual(len(rewritten.spans), 1)
        self.assertIn("case 7:\n{\n  return false;\n}", rewritten.text)

    def test_changes_without_their_file_are_a_mistake(self):
        for text in (BUG.replace("file: src/cores/vote.cpp\n", ""), BUG + "from: return true;\n", BUG + "to: x\n"):
            with self.assertRaises(lists.Mistake):
                self.planted(text)

    def test_a_text_that_is_there_twice_or_never_is_a_mistake(self):
        for source, times in ((VOTE.replace("voted_)", "gone_)"), 0), (VOTE + VOTE, 2)):
            with self.assertRaisesRegex(lists.Mistake, f"exactly once and is there {times} times"):
                self.planted(BUG, source)

    def test_a_bug_outside_of_functions_is_a_mistake(self):
        with self.assertRaisesRegex(lists.Mistake, "in the body of one function"):
            self.planted(BUG, "struct Node { bool x = false; };\nif (voted_) return false;\n")

    def test_an_unknown_key_is_a_mistake(self):
        with self.assertRaisesRegex(lists.Mistake, "'form:' means nothing here"):
            self.planted(BUG.replace("from:", "form:"))

    def test_files_of_a_core_are_those_of_its_patterns(self):
        core = lists.core_of("raft", CORE, "raft.txt")
        names = ["src/cores/raft.cpp", "src/cores/raft_codec.cpp", "src/base/x.cpp"]
        self.assertEqual(lists.files_of(core, names), ["src/cores/raft.cpp"])

    def test_what_only_tests_include_is_no_product(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in {"raft.cpp": '#include "cores/raft.h"\n', "raft.h": '#include "cores/log.h"\n', "log.h": "\n",
                               "raft_test.cpp": '#include "cores/group.h"\n', "group.h": "\n"}.items():
                path = pathlib.Path(folder, "src", "cores", name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            self.assertEqual(lists.product_files(pathlib.Path(folder)),
                             ["src/cores/log.h", "src/cores/raft.cpp", "src/cores/raft.h"])

    def mark(self, entry, source=VOTE):
        core = lists.core_of("raft", CORE, "raft.txt")
        mutants = lists.mechanical(core, "src/cores/vote.cpp", Source(source))
        for mistake in lists.mark_equivalent(entry, "equivalent.txt", mutants, [core], {"src/cores/vote.cpp": None}):
            raise mistake
        return [mutant.name for mutant in mutants if mutant.equivalent]

    ENTRY = "file: src/cores/vote.cpp\nfrom: if (voted_) return false;\nto: if (!voted_) return false;\nwhy: because\n"

    def test_an_equivalent_mutant_is_named_by_its_texts(self):
        self.assertEqual(self.mark(self.ENTRY), ["vote:2 guard negated"])
        self.assertEqual(self.mark(self.ENTRY, "\n\n" + VOTE), ["vote:4 guard negated"])

    def test_an_entry_that_names_nothing_is_a_mistake(self):
        with self.assertRaisesRegex(lists.Mistake, "take the entry out"):
            self.mark(self.ENTRY, VOTE.replace("voted_", "chosen_"))

    def test_an_entry_that_fits_two_functions_is_a_mistake(self):
        twice = VOTE + VOTE.replace("Node::", "Other::")
        with self.assertRaisesRegex(lists.Mistake, "say which by 'in:'"):
            self.mark(self.ENTRY, twice)
        self.assertEqual(self.mark("in: Other::vote\n" + self.ENTRY, twice), ["vote:7 guard negated"])


PROGRAM = """#include <cstdio>

namespace {

int middle(int size) {
  return size / 2 + 1;
}

bool enough(int votes, int size) {
  if (votes < 0) return false;
  return votes >= middle(size);
}

void tell(int votes) {
  std::printf("%d", enough(votes, 5) ? 1 : 0);
}

}  // namespace

int main() {
  for (int votes = -1; votes <= 5; ++votes) tell(votes);
}
"""


class Running(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        folder = pathlib.Path(cls.folder.name)
        core = lists.core_of("raft", CORE, "raft.txt")
        source = Source(PROGRAM)
        cls.mutants = lists.mechanical(core, "src/cores/program.cpp", source)
        for number, mutant in enumerate(cls.mutants, 1):
            mutant.number = number
        functions = sorted({number for mutant in cls.mutants for _, number in mutant.edits})
        (folder / "mutants").mkdir()
        (folder / HEADER).write_text(switch_header(len(functions)))
        rewritten = rewrite(source, "src/cores/program.cpp", cls.mutants, functions.index)
        (folder / "program.cpp").write_text(rewritten.text)
        cls.reach = {source.functions[number].name: functions.index(number) for number in functions}
        cls.program = folder / "program"
        subprocess.run(["clang++-19", "-std=c++23", "-O1", "-w", f"-I{folder}", str(folder / "program.cpp"), "-o", str(cls.program)],
                       check=True)

    def outcome(self, number, **environment):
        return subprocess.run([self.program], capture_output=True, text=True, check=True, timeout=60,
                              env=os.environ | {"MUSTER_MUTANT": str(number)} | environment).stdout

    def of(self, after):
        return next(mutant.number for mutant in self.mutants if mutant.changed == after)

    def test_without_a_mutant_the_program_is_the_original(self):
        self.assertEqual(self.outcome(0), "0000111")

    def test_a_mutant_is_on_alone(self):
        self.assertEqual(self.outcome(self.of("return votes > middle(size);")), "0000011")
        self.assertEqual(self.outcome(self.of("return size / 2 ;")), "0001111")
        self.assertEqual(self.outcome(self.of('std::printf("%d", !enough(votes, 5) ? 1 : 0);')), "1111000")
        self.assertEqual(self.outcome(self.of("for (int votes = -1; votes < 5; ++votes) tell(votes);")), "000011")
        self.assertEqual(self.outcome(self.of("for (int votes = -1; votes <= 5; ++votes) ;")), "")

    def test_what_was_reached_is_told(self):
        table = pathlib.Path(self.folder.name, "reached")
        self.assertEqual(self.outcome(-1, MUSTER_MUTANTS_REACHED=str(table)), "0000111")
        self.assertEqual({int(line) for line in table.read_text().split()}, set(self.reach.values()))


class Drawing(unittest.TestCase):
    def setUp(self):
        core = lists.Core("one", [], [], [], [])
        self.mutants = lists.mechanical(core, "src/cores/group.cpp", Source(SAMPLE))

    def names(self, mutants, count, seed):
        return {(mutant.original, mutant.changed) for mutant in draw.sample(mutants, {"one": count}, seed)}

    def test_a_sample_has_its_size_and_follows_from_the_seed(self):
        self.assertEqual(len(draw.sample(self.mutants, {"one": 5}, 1)), 5)
        self.assertEqual(self.names(self.mutants, 5, 1), self.names(self.mutants, 5, 1))
        self.assertNotEqual(self.names(self.mutants, 5, 1), self.names(self.mutants, 5, 2))
        self.assertEqual(draw.sample(self.mutants, None, 1), self.mutants)

    def test_a_change_elsewhere_leaves_the_sample_alone(self):
        moved = lists.mechanical(lists.Core("one", [], [], [], []), "src/cores/group.cpp", Source("\n\n" + SAMPLE))
        self.assertEqual(self.names(self.mutants, 5, 1), self.names(moved, 5, 1))
        self.assertLess(self.names(self.mutants, 5, 1), self.names(self.mutants, 6, 1))


class Building(unittest.TestCase):
    def test_errors_are_laid_to_the_mutant_in_whose_code_they_are(self):
        core = lists.core_of("raft", CORE, "raft.txt")
        source = Source(PROGRAM)
        mutants = lists.mechanical(core, "src/program.cpp", source)
        rewritten = {"src/program.cpp": rewrite(source, "src/program.cpp", mutants, lambda number: number)}
        first, last, mutant = rewritten["src/program.cpp"].spans[2]
        copy = pathlib.Path("/copy")
        for line, guesses, expected in ((first + 1, 1, [mutant]), (last, 1, [mutant]), (1, 2, mutants[:2])):
            output = f"In file included from x\n../../src/program.cpp:{line}:7: error: no such thing\n"
            blamed, _ = workshop.blame(output, rewritten, copy, copy / "build" / "release", guesses)
            self.assertEqual(blamed, expected)

    def test_errors_elsewhere_are_laid_to_nobody(self):
        copy = pathlib.Path("/copy")
        output = "/copy/src/sim/world.cpp:3:1: error: no such thing\nninja: build stopped\n"
        self.assertEqual(workshop.blame(output, {}, copy, copy / "build", 1), ([], False))


class Script:
    """A simulator that answers from a list: (mutant, scenario) → the first seed that fails, and how."""

    def __init__(self, falls):
        self.falls = falls
        self.calls = []

    def run(self, number, scenario, first, last, limit, reached=None):
        self.calls.append((number, scenario, first, last))
        seed, end = self.falls.get((number, scenario), (None, None))
        if seed is None or not first <= seed <= last:
            return trial.Run("passed", 0.1 * (last - first + 1))
        return trial.Run(end, 0.1, str(seed) if end == "violated" else "", "1" if end == "violated" else "")


class Judging(unittest.TestCase):
    def judge(self, falls, seconds=20, reached=("near",)):
        mutant = lists.mechanical(lists.core_of("raft", CORE, "raft.txt"), "src/cores/vote.cpp", Source(VOTE))[0]
        mutant.number = 7
        simulator = Script(falls)
        baselines = {name: trial.Baseline(0.1, 10, {0} if name in reached else set()) for name in ("near", "far")}
        court = trial.Court(simulator, baselines, {("src/cores/vote.cpp", 0): 0}, seconds, {})
        return court.judge(mutant, ["*"]), simulator.calls, court

    def test_a_mutant_that_breaks_a_law_is_killed(self):
        verdict, _, _ = self.judge({(7, "near"): (5, "violated")})
        self.assertEqual((verdict.end, verdict.scenario, verdict.seed, verdict.invariant), ("violated", "near", "5", "1"))

    def test_the_seed_of_a_crash_or_a_hang_is_found(self):
        for end in ("crashed", "hung"):
            verdict, _, _ = self.judge({(7, "near"): (6, end)})
            self.assertEqual((verdict.end, verdict.seed), (end, "6"))

    def test_scenarios_that_run_the_function_come_first(self):
        _, calls, _ = self.judge({(7, "far"): (1, "violated")})
        self.assertEqual([scenario for _, scenario, _, _ in calls][:2], ["near", "near"])
        _, calls, _ = self.judge({(7, "far"): (1, "violated")}, reached=())
        self.assertEqual(calls[1][1], "far")

    def test_every_seed_is_tried_once_until_the_time_is_spent(self):
        verdict, calls, _ = self.judge({})
        self.assertEqual(verdict.end, "survived")
        self.assertAlmostEqual(verdict.seconds, 20, delta=0.2)
        for name in ("near", "far"):
            seeds = [seed for _, scenario, first, last in calls if scenario == name for seed in range(first, last + 1)]
            self.assertEqual(seeds, list(range(1, len(seeds) + 1)))

    def test_the_original_is_known_before_mutants_are_tried(self):
        unsound = {}
        known = trial.baseline(Script({(-1, "near"): (5, "violated")}), "near", unsound)
        self.assertEqual(list(unsound), [("near", "5..5")])
        self.assertAlmostEqual(known.seconds, 0.1, delta=0.05)

    def test_what_the_original_does_too_proves_nothing(self):
        verdict, _, court = self.judge({(7, "near"): (5, "violated"), (0, "near"): (5, "violated")})
        self.assertEqual(verdict.end, "survived")
        self.assertEqual(list(court.unsound), [("near", "5..5")])

    def test_how_a_run_ended_is_told_apart(self):
        failed = '{"failures": [{"seed": 7, "invariant": "1", "seen": "two leaders"}], "unseen": []}\n'
        silent = '{"failures": [], "unseen": ["split vote"]}\n'
        for code, text, end, seed, invariant in (
                (0, "{}", "passed", "", ""), (1, failed, "violated", "7", "1"), (1, silent, "violated", "", "counter"),
                (-6, "", "crashed", "", ""), (-11, "", "crashed", "", ""), (-24, "", "hung", "", ""), (2, "what?", "refused", "", "")):
            run = trial.verdict_of(code, text, 1.0)
            self.assertEqual((run.end, run.seed, run.invariant), (end, seed, invariant))


if __name__ == "__main__":
    unittest.main()
