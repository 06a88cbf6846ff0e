"""`muster explain`: what it says of real files, to the letter. After a change that was meant, MUSTER_REWRITE_EXPECTED=1 writes
tests/data/explain/*.txt anew; read the differences before committing."""

import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

from harness import MUSTER, ROOT

PROGRAM = os.path.abspath(MUSTER)
EXAMPLES = sorted((ROOT / "examples").glob("*.yaml"))
EXPECTED = ROOT / "tests/data/explain"


def explain(*words, code=0):
    run = subprocess.run([PROGRAM, "explain", *map(str, words)], cwd=ROOT, capture_output=True, text=True, timeout=30, check=False,
                         env={**os.environ, "PASSWORD": "swordfish"})
    if run.returncode != code:
        raise AssertionError(f"exit {run.returncode}\n{run.stdout}{run.stderr}")
    return run.stdout + run.stderr


class Explain(unittest.TestCase):
    maxDiff = None

    def test_every_file_has_its_exact_plan(self):
        files = [ROOT / "examples" / f"{name}.yaml" for name in ("quick", "login", "data", "open-model")]
        for file in [*files, *sorted(EXPECTED.glob("*.yaml"))]:
            with self.subTest(file=file.name):
                said = explain(file.relative_to(ROOT), "--cores", "4", "--bytes", "120")
                said = re.sub(r"about [\d.]+ [KMG]iB", "about N MiB", said)  # grows and shrinks with the code
                said = re.sub(r"muster/[\d.]+", "muster/VERSION", said)
                expected = EXPECTED / f"{file.stem}.txt"
                if "MUSTER_REWRITE_EXPECTED" in os.environ:
                    expected.write_text(said)
                self.assertEqual(said, expected.read_text())

    def test_every_example_fits_80_columns_and_tells_the_same_in_json(self):
        for file in EXAMPLES:
            with self.subTest(file=file.name):
                text = explain(file)
                self.assertLess(max(map(len, text.splitlines())), 81, text)
                plan = json.loads(explain(file, "--json"))
                for flow in plan["workflows"]:
                    self.assertIn(f"workflow {flow['name']}", text)
                    self.assertEqual(sum(core["vus"] for core in flow["cores"]), flow["load"]["peak_vus"])

    def test_an_address_is_explained_as_well_as_a_file(self):
        text = explain("--url", "http://127.0.0.1:8080/x", "-R", "200", "-d", "1m")
        self.assertIn("arrivals at 200/s for 1m", text)
        self.assertIn("12,000 arrivals", text)
        self.assertIn("`max_vus` is not given", text)

    def test_what_a_script_does_is_not_counted(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "script.lua"
            file.write_text("""
job { target = "http://127.0.0.1:8080", load = { vus = 1, iterations = 5 } }
local a = http.get("/a", { name = "a" })
local b = http.get("/b", { name = "b" })
function run() for i = 1, 7 do a() end end
""")
            text = " ".join(explain(file).split())
            self.assertIn("5 iterations · the script decides what each one sends", text)
            self.assertNotIn("in each", text)
            self.assertIn("steps, which the script calls as it decides", text)
            flow = json.loads(explain(file, "--json"))["workflows"][0]
            self.assertEqual((flow["scripted"], flow["requests_per_iteration"]), (True, {"least": 0, "most": None}))

            file.write_text("wrk.method = 'POST'")
            text = explain(file, "--url", "http://127.0.0.1:8080/x", "-d", "1s")
            self.assertIn("requests: made by the script", text)
            self.assertNotIn("GET", text)
            step = json.loads(explain(file, "--url", "http://127.0.0.1:8080/x", "-d", "1s", "--json"))["workflows"][0]["steps"][0]
            self.assertEqual(step["name"], "POST /x")
            self.assertIn("sends what the script makes", step["does"])
            self.assertNotIn("request", step)

    def test_a_secret_is_named_and_not_shown(self):
        text = explain("tests/data/explain/everything.yaml") + explain("tests/data/explain/everything.yaml", "--json")
        self.assertIn("PASSWORD", text)
        self.assertNotIn("swordfish", text)

    def test_mistakes_are_told_as_check_tells_them(self):
        self.assertIn("top_unknown_key.yaml:3:1: unknown key", explain("tests/data/wrong/top_unknown_key.yaml", code=2))


if __name__ == "__main__":
    unittest.main()
