"""Runs that are kept: shown again, compared, judged against each other, and never in the way of a run."""

import contextlib
import json
import os
import pathlib
import re
import sqlite3
import subprocess
import time
import unittest

from harness import MUSTER, ProcessTest, wait_until

ID = re.compile(r"muster results show (r-\d{8}-[0-9a-z]{4})")


class HistoryTest(ProcessTest):
    def setUp(self):
        super().setUp()
        self.data = self.folder / "data"
        self.server = self.serve_http()

    @property
    def database(self):
        return self.data / "runs.db"

    def muster(self, *arguments, command="run", data=None, environment=None, **options):
        variables = {"MUSTER_DATA": str(data or self.data), **(environment or {})}
        return self.run_muster(*arguments, command=command, environment=variables, **options)

    def quick(self, *arguments, **options):
        return self.muster("--url", self.server.url, "-n", "20", "-c", "2", *arguments, **options)

    def results(self, *arguments, **options):
        return self.muster(*arguments, command="results", **options)

    def listed(self, *arguments):
        return json.loads(self.results("list", "--json", *arguments).out)


class Keeping(HistoryTest):
    def test_no_output_is_written_over_the_history(self):
        self.quick()
        kept = self.database
        for place in (kept, f"{kept}-wal", f"{self.data}/./runs.db"):
            with self.subTest(place=place):
                run = self.quick("--out", f"csv={place}")
                self.assertEqual(run.code, 2, run)
                self.assertIn("where muster keeps its runs; name another file", run.err)
        done = self.results("export", "latest", f"csv={kept}")
        self.assertEqual(done.code, 2, done)
        self.assertIn("where muster keeps its runs", done.err)
        self.assertEqual(len(self.listed()), 1)

    def test_a_run_is_kept_and_shown_again_as_it_was(self):
        run = self.quick()
        self.assertEqual(run.code, 0, run)
        name = ID.search(run.out).group(1)
        again = self.results("show", name)
        self.assertEqual(again.code, 0, again)
        summary = run.out[:run.out.index("to see this again")].strip()
        self.assertEqual(again.out[:len(summary)], summary)
        self.assertEqual(run.summary["id"], name)
        whole = json.loads(self.results("show", name, "--json").out)
        self.assertEqual(whole, run.summary)

    def test_the_list_fits_a_terminal_and_names_the_newest_first(self):
        self.assertIn("no run is kept yet", self.results().out)
        self.assertEqual(self.results("--json").out.strip(), "[]")
        first = self.quick("--label", "branch=main", "--label", "commit=abc").summary["id"]
        second = self.quick().summary["id"]
        table = self.results()
        self.assertEqual(table.code, 0, table)
        self.assertLess(table.out.index(second), table.out.index(first))
        self.assertIn("branch=main commit=abc", table.out)
        self.assertTrue(all(len(line) <= 80 for line in table.out.splitlines()), table.out)
        rows = self.listed()
        self.assertEqual([row["id"] for row in rows], [second, first])
        self.assertEqual(rows[1]["labels"], {"branch": "main", "commit": "abc"})
        self.assertEqual((rows[0]["requests"], rows[0]["failed"], rows[0]["verdict"]), (20, 0, "passed"))
        self.assertEqual(len(self.listed("--limit", "1")), 1)
        self.assertEqual(self.listed("--job", "another"), [])

    def test_nothing_is_kept_when_asked(self):
        run = self.quick("--no-save")
        self.assertEqual(run.code, 0, run)
        self.assertNotIn("muster results", run.out)
        self.assertFalse(self.data.exists())

    def test_runs_are_named_by_prefix_and_by_age(self):
        first, second = (self.quick().summary["id"] for _ in range(2))
        self.assertIn(second, self.results("show").out)
        self.assertIn(second, self.results("show", "latest").out)
        self.assertIn(first, self.results("show", "latest~1").out)
        self.assertIn(first, self.results("show", first.upper()).out)
        several = self.results("show", first[:6])
        self.assertEqual(several.code, 2, several)
        self.assertIn("fits several runs", several.err)
        other = self.results("show", first[:-1] + ("z" if first[-1] != "z" else "y"))
        self.assertEqual(other.code, 2, other)
        self.assertIn("did you mean", other.err)
        self.assertEqual(self.results("show", "latest~7").code, 2)

    def test_runs_are_removed(self):
        names = [self.quick().summary["id"] for _ in range(4)]
        self.assertEqual(self.results("rm").code, 2)
        self.assertIn("1 run removed", self.results("rm", names[0]).out)
        self.assertIn("1 run removed", self.results("rm", "--keep", "2").out)
        self.assertEqual([row["id"] for row in self.listed()], [names[3], names[2]])
        self.assertIn("0 runs removed", self.results("rm", "--before", "2020-01-01").out)
        self.assertEqual(self.results("rm", "--before", "soon").code, 2)
        self.assertIn("2 runs removed", self.results("rm", "--before", "0s").out)
        self.assertEqual(self.listed(), [])

    def test_how_many_runs_were_removed_is_told_as_json(self):
        self.quick()
        self.quick()
        removed = self.results("rm", "--keep", "0", "--json")
        self.assertEqual(removed.code, 0, removed)
        self.assertEqual(json.loads(removed.out), {"removed": 2})

    def test_a_run_is_exported_in_other_forms(self):
        name = self.quick().summary["id"]
        done = self.results("export", name, f"json={self.folder}/x.json", f"run={self.folder}/x.run")
        self.assertEqual(done.code, 0, done)
        self.assertEqual(json.loads((self.folder / "x.json").read_text())["id"], name)
        compared = self.results("compare", f"{self.folder}/x.run", name)
        self.assertEqual(compared.code, 0, compared)
        self.assertIn("x.run", compared.out)
        page = self.results("compare", f"{self.folder}/x.run", name, "--html", "-")
        self.assertTrue(page.out.startswith("<!") and page.out.rstrip().endswith("</html>"), page.out[-200:])
        self.assertIn("x.run", page.err)
        both = self.results("compare", f"{self.folder}/x.run", name, "--html", "-", "--json")
        self.assertEqual(both.code, 2, both)
        unknown = self.results("export", name, "jsno=x")
        self.assertEqual(unknown.code, 2, unknown)
        self.assertIn("jsno=x: there is no output named 'jsno'; did you mean 'json'?", unknown.err)
        self.assertNotIn("--out", unknown.err)
        self.assertEqual(self.results("export", name, f"json={self.folder}/none/x.json").code, 1)

    def test_two_forms_to_one_place_are_refused(self):
        self.quick()
        old = self.write("same", "precious")
        for forms in (("ndjson=same", "csv=same"), ("json=same", "junit=x", "csv=./same"), ("json=-", "ndjson=-")):
            with self.subTest(forms=forms):
                done = self.results("export", "latest", *forms)
                self.assertEqual(done.code, 2, done)
                self.assertRegex(done.err, f"{forms[0]} and {forms[-1]} write to .*; give each a file of its own")
                self.assertNotIn("--out", done.err)
                self.assertEqual((old.read_text(), done.out), ("precious", ""))

    def test_a_reader_of_an_export_that_has_seen_enough_is_no_error(self):
        self.quick()
        for form in ("html", "ndjson", "csv"):
            for beside, code in (("", 0), ("json=none/x.json", 1)):
                with self.subTest(form=form, beside=beside):
                    reader, writer = os.pipe()
                    os.close(reader)
                    with open(writer, "wb") as nobody_reads:
                        done = subprocess.run([MUSTER, "results", "export", "latest", f"{form}=-", *beside.split()],
                                              cwd=self.folder, env={**os.environ, "MUSTER_DATA": str(self.data)}, timeout=30,
                                              stdout=nobody_reads, stderr=subprocess.PIPE, text=True)
                    self.assertEqual(done.returncode, code, done.stderr)
                    self.assertNotIn("standard output", done.stderr)

    def test_secrets_are_not_kept(self):
        run = self.muster("--out", f"json={self.folder}/x.json", yaml=f"""
muster: 1
target: {self.server.url}
secrets: [ PASSWORD ]
load: {{ vus: 1, iterations: 3 }}
steps:
  - {{ name: login, post: /login, json: {{ password: "${{env.PASSWORD}}" }}, check: {{ status: 418 }}, expect: [418] }}
""", environment={"PASSWORD": "correct-horse-battery"})
        self.assertEqual(run.code, 99, run)
        typed = self.quick("-u", "ada:swordfish-99", "-H", "X-Api-Key: key-4711")
        self.assertEqual(typed.code, 0, typed)
        kept = b"".join(path.read_bytes() for path in self.data.iterdir())
        for row in self.listed():
            kept += self.results("show", row["id"], "--json").out.encode()
        self.assertIn(b"${env.PASSWORD}", kept)
        for secret in (b"correct-horse-battery", b"swordfish-99", b"key-4711", b"YWRhOnN3b3JkZmlzaC05OQ=="):
            self.assertNotIn(secret, kept)

    def test_credentials_in_the_text_and_in_names_are_not_kept(self):
        places = [self.folder / name for name in ("x.html", "x.json", "x.xml", "x.csv", "x.nd")]
        out = [word for place, kind in zip(places, ("html", "json", "junit", "csv", "ndjson")) for word in ("--out", f"{kind}={place}")]
        address = self.server.url.replace("http://", "http://bob:bobS1@")
        run = self.muster(*out, yaml=f"""
muster: 1
target: {self.server.url}
load: {{ vus: 1, iterations: 1 }}
steps:
  - {{ name: a, get: /, headers: {{ Authorization: "Bearer bearA1", Cookie: "sid=cookB2", "X-Session": sessI9 }} }}
  - {{ name: b, post: /echo, json: {{ password: pwD4, token: tkG7, refresh_token: rtH8, token_type: kept-1 }} }}
  - {{ get: "/?api_key=akO6&sig=sgQ8&key=kyR9&monkey=kept-2" }}
  - {{ get: "{address}/f" }}
""")
        self.assertEqual(run.code, 0, run)
        typed = self.muster("--url", f"{self.server.url}/x?api_key=sekret99&token=tok77", "-n", "5", *out)
        self.assertEqual(typed.code, 0, typed)
        with contextlib.closing(sqlite3.connect(self.database)) as database:
            kept = "".join(source for (source,) in database.execute("SELECT source FROM results"))
        self.assertIn("token_type: kept-1", kept)
        for row in self.listed():
            kept += row["job"] + self.results("show", row["id"]).out + self.results("show", row["id"], "--json").out
        kept += "".join(place.read_text() for place in places) + run.out + typed.out
        kept += self.database.read_bytes().decode("latin-1")
        self.assertIn("/x?api_key=***&token=***", kept)
        self.assertIn("GET /?api_key=***&sig=***&key=***&monkey=kept-2", kept)
        for secret in ("bearA1", "cookB2", "sessI9", "pwD4", "tkG7", "rtH8", "akO6", "sgQ8", "kyR9", "bobS1", "sekret99", "tok77"):
            self.assertNotIn(secret, kept)

    def test_labels_that_are_wrong_are_told_before_the_run(self):
        for labels in (["branch"], ["=x"], ["a b=c"], ["a=1", "a=2"], ["a=" + "x" * 300]):
            run = self.quick(*(word for label in labels for word in ("--label", label)))
            self.assertEqual(run.code, 2, run)
            self.assertIn("--label", run.err)
        self.assertEqual(len(self.server.requests), 0)


class Together(HistoryTest):
    def test_several_runs_at_once_are_all_kept(self):
        environment = {"MUSTER_DATA": str(self.data)}
        under = [self.start("--url", self.server.url, "-n", "50", "-c", "1", "--out", f"json={self.folder}/{i}.json",
                            environment=environment) for i in range(8)]
        for each in under:
            run = each.end()
            self.assertEqual(run.code, 0, run)
            self.assertNotIn("not kept", run.err)
        rows = self.listed()
        self.assertEqual(len({row["id"] for row in rows}), 8)

    def test_a_killed_run_leaves_a_history_that_works(self):
        self.assertEqual(self.quick().code, 0)
        for attempt in range(12):
            under = self.start("--url", self.server.url, "-n", "30", "-c", "1", "--out", f"json={self.folder}/x.json",
                               environment={"MUSTER_DATA": str(self.data)})
            wait_until(lambda: len(self.server.requests) >= 20 + 30, what="the requests")
            time.sleep(attempt * 0.004)  # the moments about the end, in which the run is kept
            under.process.kill()
            under.process.wait()
            self.server.requests[20:] = []
        with contextlib.closing(sqlite3.connect(self.database)) as database:
            self.assertEqual(database.execute("PRAGMA integrity_check").fetchone()[0], "ok")
        before = len(self.listed())
        self.assertEqual(self.quick().code, 0)
        self.assertEqual(len(self.listed()), before + 1)
        for row in self.listed():
            self.assertEqual(self.results("show", row["id"]).code, 0)


class Trouble(HistoryTest):
    """The run itself is never disturbed."""

    def assert_not_kept(self, run, reason):
        self.assertEqual(run.code, 0, run)
        self.assertIn("PASSED", run.out)
        self.assertNotIn("muster results show", run.out)
        self.assertIn("this run was not kept", run.err)
        self.assertIn(reason, run.err)

    def test_a_damaged_history_is_told_and_left_alone(self):
        self.data.mkdir()
        self.database.write_bytes(b"no database " * 500)
        self.assert_not_kept(self.quick(), "damaged")
        self.assertEqual(self.database.read_bytes(), b"no database " * 500)
        listed = self.results()
        self.assertEqual(listed.code, 1, listed)
        self.assertIn("mv '", listed.err)

    def test_what_cannot_be_compared_because_the_history_is_damaged_does_not_pass(self):
        self.data.mkdir()
        self.database.write_bytes(b"junk\n")
        for baseline in ("latest", "latest~1", "r-20200101-0000"):
            run = self.quick("--baseline", baseline, "--fail-if", "p95 +10%")
            self.assertEqual((run.code, run.out), (1, ""), run)
            self.assertIn("mv '", run.err)
            self.assertIn("Leave out --baseline", run.err)
        self.assertEqual(len(self.server.requests), 0)
        self.assert_not_kept(self.quick(), "damaged")

    def test_a_damaged_run_is_told_by_every_command_alike(self):
        first, second = self.quick().summary["id"], self.quick().summary["id"]
        with contextlib.closing(sqlite3.connect(self.database)) as database:
            database.execute("UPDATE results SET result = substr(result, 1, 40) "
                             "WHERE run = (SELECT number FROM runs WHERE id = ?)", (second,))
            database.commit()
        for words in (["show", second], ["export", second, f"json={self.folder}/x.json"], ["compare", first, second],
                      ["compare", second, first], ["compare", first]):
            run = self.results(*words)
            self.assertEqual((run.code, run.out), (1, ""), run)
            self.assertIn("damaged", run.err)
        self.assertEqual(self.results("compare", first, "r-20200101-0000").code, 2)
        self.assertEqual(self.quick("--baseline", "latest", "--fail-if", "p95 +10%").code, 1)
        self.database.write_bytes(b"no database " * 500)
        for words in (["list"], ["show"], ["export", first, f"json={self.folder}/x.json"], ["rm", first],
                      ["compare", first]):
            self.assertEqual(self.results(*words).code, 1, words)

    def test_a_history_cut_in_half_is_told(self):
        self.quick()
        whole = self.database.read_bytes()
        self.database.write_bytes(whole[:len(whole) // 2])
        for suffix in ("-wal", "-shm"):
            pathlib.Path(f"{self.database}{suffix}").unlink(missing_ok=True)
        run = self.quick()
        self.assertEqual(run.code, 0, run)
        self.assertIn("not kept", run.err)

    def test_the_history_of_a_newer_muster_is_left_alone(self):
        self.quick()
        with contextlib.closing(sqlite3.connect(self.database)) as database:
            database.execute("PRAGMA user_version = 99")
            database.commit()
        self.assert_not_kept(self.quick(), "newer muster")
        self.assertEqual(self.results("show").code, 1)

    def test_without_a_place_the_run_goes_on(self):
        run = self.quick(environment={"MUSTER_DATA": "", "XDG_DATA_HOME": "", "HOME": ""})
        self.assert_not_kept(run, "MUSTER_DATA")

    def test_a_file_in_the_folders_place_is_told(self):
        self.data.write_text("a file")
        self.assert_not_kept(self.quick(), "cannot be made")

    def test_a_place_that_cannot_be_read_is_no_empty_list(self):
        for words in (["--json"], ["show"]):
            with self.subTest(words=words):
                run = self.results(*words, data="/dev/null")
                self.assertEqual((run.code, run.out), (1, ""), run)
                self.assertIn("'/dev/null/runs.db' cannot be opened: Not a directory", run.err)

    def test_a_writer_that_does_not_end_is_waited_for_and_then_told(self):
        self.quick()
        with contextlib.closing(sqlite3.connect(self.database)) as database:
            database.execute("BEGIN IMMEDIATE")
            began = time.monotonic()
            self.assert_not_kept(self.quick(), "in use by another process")
            self.assertLess(time.monotonic() - began, 12)

    def mounted(self, size):
        place = self.folder / "disk"
        place.mkdir()
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", place], capture_output=True)
        if done.returncode != 0:
            self.skipTest("mounting a small disk needs root")
        self.addCleanup(subprocess.run, ["umount", "-l", place], capture_output=True)
        return place

    def test_a_full_disk_is_told(self):
        disk = self.mounted("256k")
        self.assertEqual(self.quick(data=disk / "data").code, 0)
        with contextlib.suppress(OSError), open(disk / "filler", "wb", buffering=0) as filler:
            while filler.write(b"x" * 1024):
                pass
        run = self.quick(data=disk / "data")
        self.assertEqual(run.code, 0, run)
        self.assertIn("not kept", run.err)
        self.assertIn("full", run.err)
        (disk / "filler").unlink()
        run = self.quick(data=disk / "data")
        self.assertNotIn("not kept", run.err)

    def test_a_history_that_may_not_be_written_can_be_read(self):
        disk = self.mounted("2m")
        name = self.quick(data=disk / "data").summary["id"]
        subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
        self.assertIn(name, self.results(data=disk / "data").out)
        self.assertEqual(self.results("show", name, data=disk / "data").code, 0)
        run = self.quick(data=disk / "data")
        self.assertEqual(run.code, 0, run)
        self.assertIn("not kept", run.err)


class Baseline(HistoryTest):
    def job(self, target, delay, *arguments, seconds=12):
        return self.muster("-e", f"DELAY={delay}", *arguments, yaml=f"""
muster: 1
name: shop
target: {target}
load: {{ rate: 100/s, for: {seconds}s }}
steps: [ {{ name: page, get: "/delay/${{env.DELAY}}" }} ]
""")

    def test_what_is_wrong_is_told_before_the_run(self):
        for arguments, reason in ((["--baseline", "r-20200101-0000"], "none is kept yet"),
                                  (["--fail-if", "p95 +10%"], "--baseline"),
                                  (["--baseline", "latest", "--fail-if", "p96 +10%"], "did you mean"),
                                  (["--baseline", str(self.write("x.json", "{}"))], "--out run=FILE")):
            run = self.quick(*arguments)
            self.assertEqual(run.code, 2, run)
            self.assertIn(reason, run.err)
        self.assertEqual(len(self.server.requests), 0)

    def test_the_first_run_of_a_pipeline_has_nothing_to_compare_with(self):
        run = self.quick("--baseline", "latest", "--fail-if", "p95 +10%")
        self.assertEqual(run.code, 0, run)
        self.assertIn("nothing to compare with", run.err)

    def test_the_latest_run_to_compare_with_was_completed(self):
        target = self.target()
        whole = self.job(target, "4ms", seconds=1).summary["id"]
        self.assertEqual(self.job(target, "4ms", "--set", "steps[0].get=/status/500", seconds=1).code, 99)
        self.assertEqual([row["verdict"] for row in self.listed()], ["failed", "passed"])
        run = self.job(target, "4ms", "--baseline", "latest", seconds=1)
        self.assertEqual(run.summary["comparison"]["before"]["id"], whole)

    def test_short_runs_are_compared_but_not_judged(self):
        self.quick()
        run = self.quick("--baseline", "latest", "--fail-if", "p95 +10%")
        self.assertEqual(run.code, 0, run)
        self.assertIn("too few seconds", run.out)
        self.assertEqual(run.summary["comparison"]["verdict"], "unknown")
        self.assertEqual(self.quick("--baseline", "latest", "--fail-if", "p95 +10%", "--strict").code, 1)

    def test_a_slower_server_fails_the_run(self):
        target = self.target()
        first = self.job(target, "4ms", "--out", f"json={self.folder}/a.json", "--out", f"run={self.folder}/a.run")
        self.assertEqual(first.code, 0, first)
        # Far enough apart that a machine which stands still now and then cannot hide it.
        slow = self.job(target, "2s", "--baseline", "latest", "--fail-if", "p95 +20%", "--fail-if", "failed +1%")
        self.assertEqual(slow.code, 99, slow)
        self.assertIn('--fail-if "p95 +20%" holds', slow.out)
        self.assertTrue(all(len(line) <= 80 for line in slow.out.splitlines()), slow.out)
        comparison = slow.summary["comparison"]
        self.assertEqual(comparison["verdict"], "worse")
        self.assertEqual([each["fired"] for each in comparison["conditions"]], [True, False])
        p95 = next(each for each in comparison["deltas"] if each["metric"] == "p95" and not each["step"])
        self.assertTrue(p95["significant"] and p95["worse"])
        self.assertLess(p95["low"], p95["change"])
        self.assertLess(p95["change"], p95["high"])
        self.assertEqual(comparison["after"]["id"], slow.summary["id"])
        text = self.results("compare", f"{self.folder}/a.run", "latest")
        self.assertIn("worse: p95 rose by", text.out)
        again = json.loads(self.results("compare", "latest~1", "latest", "--json").out)
        self.assertEqual(again["verdict"], "worse")
        better = json.loads(self.results("compare", "latest", "latest~1", "--json").out)
        self.assertEqual(better["verdict"], "better")


if __name__ == "__main__":
    unittest.main()
