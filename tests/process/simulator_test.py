"""muster-sim as a program: exit codes, what it prints, and that a seed gives the same again."""

import json
import os
import pathlib
import signal
import subprocess
import unittest

from harness import ROOT

SIMULATOR = os.environ.get("MUSTER_SIM", str(ROOT / "build/release/muster-sim"))


def simulate(*words):
    return subprocess.run([SIMULATOR, *words], capture_output=True, text=True, timeout=500, stdin=subprocess.DEVNULL,
                          check=False)


def catches(pid, number):
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    caught = next(line.split()[1] for line in status.splitlines() if line.startswith("SigCgt:"))
    return int(caught, 16) >> (number - 1) & 1


class Simulator(unittest.TestCase):
    def test_seeds_that_hold_end_with_0_and_tell_their_figures(self):
        run = simulate("--scenario", "register", "--seed", "1..3", "--jobs", "2")
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        self.assertRegex(run.stdout, r"register: 3 seeds, \d+ events, \d+ virtual s, \d+ faults, \d+ events/s")

    def test_json_is_one_object_a_scenario(self):
        run = simulate("--scenario", "register,raft-restart", "--seed", "7", "--json")
        results = [json.loads(line) for line in run.stdout.splitlines()]
        self.assertEqual([each["scenario"] for each in results], ["register", "raft-restart"])
        self.assertTrue(all(each["passed"] and each["seeds"] == 1 for each in results))

    def test_the_same_seed_gives_the_same_hash(self):
        once, twice = (json.loads(simulate("--scenario", "raft", "--seed", "3", "--json").stdout) for _ in range(2))
        self.assertEqual(once["hash"], twice["hash"])
        self.assertEqual(simulate("--scenario", "raft", "--seed", "3", "--repeat-check").returncode, 0)

    def test_every_scenario_is_listed_and_every_invariant_named(self):
        listed = simulate("--list").stdout
        for name in ("register", "raft", "raft-election", "raft-overclaim", "raft-membership-rollback"):
            self.assertIn(f"\n{name} ", "\n" + listed)
        laws = simulate("--invariants").stdout
        for number in range(1, 31):
            self.assertRegex("\n" + laws, rf"\n{number} +\w+ +[EFS/]+ ")

    def test_lists_are_json_where_that_is_asked_for(self):
        names = [each["name"] for each in json.loads(simulate("--list", "--json").stdout)]
        self.assertIn("cluster", names)
        laws = json.loads(simulate("--invariants", "--json").stdout)
        self.assertIn("raft", next(each for each in laws if each["name"] == "1")["watched_by"])

    def test_it_tells_its_version(self):
        self.assertRegex(simulate("--version").stdout, r"^muster-sim \d+\.\d+\.\d+\n$")

    def test_ctrl_c_ends_it_with_what_there_is(self):
        process = subprocess.Popen([SIMULATOR, "--scenario", "register", "--seed", "1..1000000000", "--json"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        while not catches(process.pid, signal.SIGINT):
            self.assertIsNone(process.poll())
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)
        self.assertTrue(json.loads(out)["interrupted"])

    def test_a_wrong_flag_ends_with_2_and_says_what_is_wrong(self):
        for words, message in (
                (["--scenario", "rfat"], "there is no scenario 'rfat'; did you mean 'raft'?"),
                (["--seed", "x", "--scenario", "raft"], "--seed takes a number up to"),
                (["--frobnicate"], "unknown flag '--frobnicate'"),
                ([], "--scenario NAME says what to simulate")):
            run = simulate(*words)
            self.assertEqual(run.returncode, 2, words)
            self.assertIn(message, run.stderr)


if __name__ == "__main__":
    unittest.main()
