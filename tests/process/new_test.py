"""`muster new`: every kind of file is accepted by `muster check` and runs against the embedded target as it is."""

import json
import os
import subprocess
import unittest

from harness import MUSTER, ProcessTest

PROGRAM = os.path.abspath(MUSTER)


class New(ProcessTest):
    def ask(self, *words, code=0):
        run = subprocess.run([PROGRAM, *map(str, words)], cwd=self.folder, capture_output=True, text=True, timeout=60,
                             stdin=subprocess.DEVNULL, check=False)
        self.assertEqual(run.returncode, code, f"{words}\n{run.stdout}\n{run.stderr}")
        return run.stdout, run.stderr

    def files(self):
        return sorted(path.name for path in self.folder.iterdir())

    def test_every_kind_is_right_and_runs_as_it_is(self):
        for kind in ("simple", "flow", "open"):
            with self.subTest(kind=kind):
                out, _ = self.ask("new", f"{kind}.yaml", "--kind", kind)
                self.assertIn(f"wrote {kind}.yaml\n", out)
                self.ask("check", f"{kind}.yaml")
                self.ask("try", f"{kind}.yaml", "--target", "embedded")
                plan = json.loads(self.ask("explain", f"{kind}.yaml", "--json")[0])
                self.assertEqual([text for text in plan["warnings"] if "share a row" not in text], [])
                out, _ = self.ask("run", f"{kind}.yaml", "--target", "embedded", "--ui", "none", "--json")
                result = json.loads(out)
                self.assertEqual(result["failed"], 0)
                self.assertGreater(result["requests"], 50)
                self.assertLess(max(map(len, (self.folder / f"{kind}.yaml").read_text().splitlines())), 81)
        self.assertEqual(self.files(), ["flow-users.csv", "flow.yaml", "open.yaml", "simple.yaml"])

    def test_a_file_that_ends_in_lua_is_a_script_that_runs_as_it_is(self):
        out, _ = self.ask("new", "shop.lua")
        self.assertIn("wrote shop.lua\n", out)
        text = (self.folder / "shop.lua").read_text()
        self.assertTrue(text.startswith("-- A load test"), text)
        self.assertLess(max(map(len, text.splitlines())), 81)
        self.ask("check", "shop.lua")
        self.ask("try", "shop.lua", "--target", "embedded")
        result = json.loads(self.ask("run", "shop.lua", "--target", "embedded", "--ui", "none", "--json")[0])
        self.assertEqual(result["failed"], 0)
        self.assertGreater(result["requests"], 50)
        self.assertIn("there is none in Lua", self.ask("new", "x.lua", "--kind", "flow", code=2)[1])
        self.assertEqual(self.files(), ["shop.lua"])

    def test_an_address_that_is_no_text_is_refused(self):
        _, err = self.ask("new", "x.yaml", "--target", os.fsdecode(b"http://a.test/\xff"), code=2)
        self.assertIn("--target: expected UTF-8 text, found byte 0xff at position 15", err)
        self.assertEqual(self.files(), [])

    def test_an_address_that_check_would_refuse_is_refused(self):
        for target, told in (("http://x/${y}", "expected a plain address, found '${y}'"),
                             ("http://x/?a=1", "a target is where paths begin, so it cannot end in '?a=1'")):
            with self.subTest(target=target):
                self.assertIn(f"muster new: --target: {told}", self.ask("new", "x.yaml", "--target", target, code=2)[1])
                self.assertEqual(self.files(), [])

    def test_without_words_it_writes_test_yaml(self):
        self.ask("new")
        self.assertEqual(self.files(), ["test.yaml"])

    def test_nothing_that_is_there_is_replaced_unless_forced(self):
        self.write("flow-users.csv", "mine")
        _, err = self.ask("new", "flow.yaml", "--kind", "flow", code=2)
        self.assertIn("'flow-users.csv' is there already; --force replaces it", err)
        self.assertEqual(self.files(), ["flow-users.csv"])
        self.assertEqual((self.folder / "flow-users.csv").read_text(), "mine")
        self.ask("new", "flow.yaml", "--kind", "flow", "--force")
        self.assertIn("ada", (self.folder / "flow-users.csv").read_text())

    def test_a_dash_is_standard_output(self):
        out, err = self.ask("new", "-", "--kind", "open", "--target", "https://shop.test")
        self.assertIn("target: https://shop.test", out)
        self.assertEqual((err, self.files()), ("", []))
        self.write("x.yaml", out)
        self.ask("check", "x.yaml")
        self.assertIn("users.csv", self.ask("new", "-", "--kind", "flow")[1])

    def test_editors_are_pointed_to_a_schema_only_where_there_is_one(self):
        self.ask("new", "a.yaml")
        self.assertNotIn("$schema", (self.folder / "a.yaml").read_text())
        self.write("muster.schema.json", self.ask("schema")[0])
        self.ask("new", "b.yaml")
        self.assertTrue((self.folder / "b.yaml").read_text().startswith("# yaml-language-server: $schema=./muster.schema.json\n"))
        self.ask("check", "b.yaml")

    def test_wrong_words_are_told(self):
        self.assertIn("ftp", self.ask("new", "--target", "ftp://x", code=2)[1])
        self.assertIn("simpel", self.ask("new", "--kind", "simpel", code=2)[1])
        self.assertIn("no/such/folder", self.ask("new", "no/such/folder/x.yaml", code=1)[1])


if __name__ == "__main__":
    unittest.main()
