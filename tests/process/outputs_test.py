"""Outputs of real runs: what they write adds up, and what goes wrong with one of them harms neither run nor verdict."""

import csv
import json
import os
import pathlib
import shlex
import signal
import subprocess
import threading
import time
import unittest
import xml.etree.ElementTree as ElementTree

from harness import MUSTER, ProcessTest, wait_until

COUNTS = ("requests", "failed", "bytes_in", "bytes_out")

JOB = """
muster: 1
thresholds: [ latency p95 < 5s, { that: failed rate < 90%, where: { workflow: broken } } ]
workflows:
  - name: browse, "shop" & <more>
    load: { vus: 4, for: 3s, every: 5ms }
    steps:
      - { name: '=home', get: /, check: { status: 200 } }
      - { name: "weird \\"name\\", <ü> & 'co'", get: /json, check: { json.items: exists, status: 201 } }
      - think: 1ms
  - name: broken
    load: { rate: 200/s, for: 2s, max_vus: 50 }
    steps:
      - choose:
          - { weight: 1, steps: [ { name: bad, get: /status/503 } ] }
          - { weight: 3, steps: [ { name: good, get: / } ] }
"""


def alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def processes_with(argument):
    """Those of the machine that were called with this argument, apart from muster itself."""
    found = []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if argument.encode() in words and not words[0].endswith(b"muster"):
            found.append(int(folder.name))
    return found


def lines_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


class Figures(ProcessTest):
    """One run with every output at once; the tests look at what it wrote."""

    def setUp(self):
        super().setUp()
        self.run_result = self.run_muster(
            "--target", "embedded", "--cores", 2, "--ui", "none", yaml=JOB,
            *sum((["--out", each] for each in ("ndjson=points.ndjson", "csv=points.csv", "junit=report.xml",
                                               "command=cat > piped.ndjson")), []))
        self.assertEqual(self.run_result.code, 0, self.run_result)
        self.summary = self.run_result.summary

    def path(self, name):
        return self.folder / name

    def test_every_output_tells_the_same_run(self):
        self.points_add_up_to_the_summary(lines_of(self.path("points.ndjson")))
        self.seconds_are_told_once_and_in_order(lines_of(self.path("points.ndjson")))
        self.a_command_gets_the_same_lines()
        self.rows_are_the_same_points()
        self.junit_is_xml()

    def points_add_up_to_the_summary(self, lines):
        self.assertEqual((lines[0]["type"], lines[0]["schema"]), ("start", "muster.points/1"))
        self.assertEqual((lines[-1]["type"], lines[-1]["summary"]), ("summary", self.summary))
        for flow in self.summary["workflows"]:
            mine = [each for each in lines if each.get("workflow") == flow["name"]]
            whole = [each for each in mine if each["type"] == "workflow"]
            for name in (*COUNTS, "iterations"):
                self.assertEqual(sum(each[name] for each in whole), flow[name], (flow["name"], name))
            self.assertEqual(max(each["vus"] for each in whole), flow["peak_vus"])
            for step in flow["steps"]:
                parts = [each for each in mine if each["type"] == "step" and each["step"] == step["name"]]
                for name in COUNTS:
                    self.assertEqual(sum(each[name] for each in parts), step[name], (step["name"], name))
                for error, count in step["errors"].items():
                    self.assertEqual(sum(each["errors"].get(error, 0) for each in parts), count, (step["name"], error))
                for check in step["checks"]:
                    seen = [each for each in mine if each["type"] == "check" and each["step"] == step["name"]
                            and each["label"] == check["label"]]
                    for name in ("ok", "failed"):
                        self.assertEqual(sum(each[name] for each in seen), check[name], check)
        self.assertGreater(self.summary["failed"], 0)

    def seconds_are_told_once_and_in_order(self, lines):
        told = [each["second"] for each in lines if each["type"] == "workflow" and "late" not in each]
        self.assertEqual(told, sorted(told))
        keys = [(each["second"], each["workflow"]) for each in lines if each["type"] == "workflow" and "late" not in each]
        self.assertEqual(len(keys), len(set(keys)))
        self.assertGreaterEqual(len(set(told)), 3)
        self.assertEqual({each["text"] for each in lines if each["type"] == "threshold"},
                         {each["text"] for each in self.summary["thresholds"]})

    def a_command_gets_the_same_lines(self):
        self.assertEqual(self.path("piped.ndjson").read_text(), self.path("points.ndjson").read_text())

    def rows_are_the_same_points(self):
        with open(self.path("points.csv"), newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertNotIn(None, [value for row in rows for value in row.values()], "a row is too short")
        lines = lines_of(self.path("points.ndjson"))[1:-1]
        self.assertEqual([row["type"] for row in rows], [line["type"] for line in lines])
        for row, line in zip(rows, lines):
            for name in ("second", *COUNTS):
                if name in line:
                    self.assertEqual(int(row[name]), line[name])
            for error, count in line.get("errors", {}).items():
                self.assertEqual(int(row[f"errors_{error}"]), count)
        self.assertEqual({row["step"] for row in rows if row["role"] == "test"},
                         {"'=home", "weird \"name\", <ü> & 'co'", "bad", "good"})

    def junit_is_xml(self):
        root = ElementTree.parse(self.path("report.xml")).getroot()
        self.assertEqual([each.get("name") for each in root], ["run", *(flow["name"] for flow in self.summary["workflows"])])
        cases = list(root.iter("testcase"))
        self.assertEqual(int(root.get("tests")), len(cases))
        failed = [each for each in cases if each.find("failure") is not None]
        self.assertEqual([each.get("name") for each in failed], ["weird \"name\", <ü> & 'co': status: 201"])
        self.assertEqual(int(root.get("failures")), 1)
        self.assertEqual({each.get("name") for each in root[0].iter("testcase")},
                         {"verdict", "latency p95 < 5s", "failed rate < 90% where workflow=broken"})


class OutputTest(ProcessTest):
    def go(self, *outputs, seconds=1, limit=30, **options):
        arguments = sum((["--out", str(each)] for each in outputs), [])
        return self.run_muster("--ui", "none", "--target", "embedded", *arguments, limit=limit, **options, yaml=f"""
muster: 1
load: {{ vus: 2, for: {seconds}s, every: 2ms }}
steps: [ {{ name: call, get: / }} ]
""")

    def expect_trouble(self, run, *words, code=1):
        """The run was good and is whole in the summary; the output's trouble is told on standard error."""
        self.assertEqual(run.code, code, run)
        self.assertEqual((run.summary["verdict"], run.summary["failed"]), ("passed", 0), run)
        self.assertGreater(run.summary["requests"], 100)
        self.assertIn("PASSED", run.out)
        for word in words:
            self.assertIn(word, run.err)


class Files(OutputTest):
    def test_points_come_while_the_run_goes_on(self):
        points = self.folder / "points.ndjson"
        under = self.start("--ui", "none", "--target", "embedded", "--out", f"ndjson={points}", yaml="""
muster: 1
load: { vus: 1, for: 20s, every: 5ms }
steps: [ { get: / } ]
""")
        wait_until(lambda: points.is_file() and '"second":1' in points.read_text(), what="the second second")
        self.assertIsNone(under.process.poll())
        under.signal(signal.SIGINT)
        run = under.end()
        self.assertEqual(run.code, 130, run)
        self.assertEqual(lines_of(points)[-1]["summary"], run.summary)

    def test_standard_output_takes_points_and_nothing_else(self):
        for name in ("ndjson", "csv", "junit"):
            with self.subTest(output=name):
                run = self.go(f"{name}=-")
                self.assertEqual(run.code, 0, run)
                self.assertNotIn("PASSED", run.out)
                self.assertIn("PASSED", run.err)
                if name == "ndjson":
                    self.assertEqual([json.loads(line)["type"] for line in run.out.splitlines()][-1], "summary")
                if name == "junit":
                    ElementTree.fromstring(run.out)

    def test_a_reader_of_standard_output_that_goes_away_is_told(self):
        for name in ("ndjson", "csv"):
            with self.subTest(output=name):
                done = subprocess.run(
                    ["bash", "-c", f"{shlex.quote(MUSTER)} run --url {self.target()} -d 4s -c 1 --ui none --out {name}=- | "
                                   "head -n 2; exit ${PIPESTATUS[0]}"],
                    cwd=self.folder, capture_output=True, text=True, timeout=30)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn("PASSED", done.stderr)
                self.assertIn("the reader of standard output went away before the end", done.stderr)
                self.assertEqual(len(done.stdout.splitlines()), 2)

    def test_two_outputs_to_one_place_are_refused_before_the_run(self):
        os.symlink("x", self.folder / "link")  # to a file that is not there yet
        for pair in (("json=-", "csv=-"), ("ndjson=x", "csv=./x"), ("junit=x", "json=/proc/self/cwd/x"),
                     ("json=x", "html=link"), ("csv=link", "json=x")):
            with self.subTest(pair=pair):
                run = self.go(*pair)
                self.assertEqual(run.code, 2, run)
                self.assertIn("give each a file of its own", run.err)

    def test_the_test_itself_is_not_written_over(self):
        text = f"{{ muster: 1, target: {self.target()}, load: {{ vus: 1, iterations: 1 }}, steps: [ get: / ] }}"
        test = self.write("a.yaml", text)
        run = self.run_muster(test, "--out", "json=./a.yaml")
        self.assertEqual(run.code, 2, run)
        self.assertIn("--out json=./a.yaml would write over the test itself", run.err)
        self.assertEqual(test.read_text(), text)

    def test_a_way_through_a_missing_folder_does_not_lead_to_the_test(self):
        text = f"{{ muster: 1, target: {self.target()}, load: {{ vus: 1, iterations: 1 }}, steps: [ get: / ] }}"
        test = self.write("a.yaml", text)
        for written in ("json=none/../a.yaml", "json=none/../b.json", "csv=none/../a.yaml", "ndjson=none/../b.json"):
            with self.subTest(written=written):
                run = self.run_muster(test, "--out", written)
                self.assertEqual(run.code, 2, run)
                self.assertIn("No such file or directory; make the folder first", run.err)
                self.assertEqual(test.read_text(), text)
                self.assertFalse((self.folder / "b.json").exists())

    def test_the_baseline_is_not_written_over(self):
        test = self.write("a.yaml", f"{{ muster: 1, target: {self.target()}, load: {{ vus: 1, iterations: 1 }}, "
                                    "steps: [ get: / ] }")
        run = self.run_muster(test, "--out", "run=before.run")
        self.assertEqual(run.code, 0, run)
        before = (self.folder / "before.run").read_bytes()
        os.symlink("before.run", self.folder / "same.run")
        for written in ("run=before.run", "json=./before.run", "run=same.run"):
            with self.subTest(written=written):
                run = self.run_muster(test, "--baseline", "before.run", "--out", written)
                self.assertEqual(run.code, 2, run)
                self.assertIn(f"--out {written} would write over 'before.run', which --baseline compares with", run.err)
                self.assertEqual((self.folder / "before.run").read_bytes(), before)

    def test_what_the_test_reads_is_not_written_over(self):
        texts = {"users.csv": "name\nada\n", "more.yaml": "tags: { a: b }\n", "body.txt": "precious"}
        files = {name: self.write(name, text) for name, text in texts.items()}
        os.link(files["users.csv"], self.folder / "twin")
        os.symlink("body.txt", self.folder / "link")
        test = self.write("a.yaml", f"""
muster: 1
include: more.yaml
target: {self.serve_http().url}
data: {{ users: {{ csv: users.csv }} }}
load: {{ vus: 1, iterations: 1 }}
steps: [ {{ post: "/?u=${{data.users.name}}", file: body.txt }} ]
""")
        for written, over in (("csv=users.csv", "users.csv"), ("ndjson=twin", "users.csv"), ("json=./more.yaml", "more.yaml"),
                              ("html=link", "body.txt")):
            with self.subTest(written=written):
                run = self.run_muster(test, "--out", written, "--out", "json=/dev/null")
                self.assertEqual(run.code, 2, run)
                self.assertRegex(run.err, f"--out {written} would write over '.*{over}', which the test reads")
                self.assertEqual({name: file.read_text() for name, file in files.items()}, texts)
        run = self.run_muster(test, "--out", "csv=points.csv")
        self.assertEqual(run.code, 0, run)

    def test_a_place_that_cannot_be_written_is_told_before_the_run_and_costs_no_old_file(self):
        old = self.write("old.ndjson", "precious\n")
        for place in ("none/x", "."):
            with self.subTest(place=place):
                run = self.go(f"ndjson={old}", f"csv={place}")
                self.assertEqual(run.code, 2, run)
                self.assertIn("cannot write", run.err)
                self.assertEqual(old.read_text(), "precious\n")

    def test_a_full_disk_is_told_and_disturbs_nobody(self):
        run = self.go("ndjson=/dev/full", "csv=points.csv", "junit=/dev/full", seconds=4)
        self.expect_trouble(run, "ndjson=/dev/full", "No space left on device", "the points from then on are missing",
                            "--out junit=/dev/full")
        with open(self.folder / "points.csv", newline="") as file:
            rows = [row for row in csv.DictReader(file) if row["type"] == "workflow"]
        self.assertEqual(sum(int(row["requests"]) for row in rows), run.summary["requests"])

    def test_a_limit_on_file_sizes_is_told_like_a_full_disk(self):
        run = f"{shlex.quote(MUSTER)} run --url {self.target()} -n 20 -c 2 --ui none"
        for more, code, said in (("", 0, "kept"), ("--no-save --out html=x.html", 1, "raise the limit on the size")):
            with self.subTest(more=more):
                done = subprocess.run(["bash", "-c", f"ulimit -f 10; {run} {more}"], cwd=self.folder, capture_output=True,
                                      text=True, timeout=30, env={**os.environ, "MUSTER_DATA": str(self.folder / "kept")})
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertIn("PASSED", done.stdout)
                self.assertIn(said, done.stderr)
                self.assertEqual(list(self.folder.glob("x.html*")), [])

    def test_a_disk_that_fills_up_during_the_run_is_told(self):
        place = self.folder / "small"
        place.mkdir()
        enter = ["unshare", "--mount", "--map-root-user", "sh", "-c"]
        mount = f"mount -t tmpfs -o size=4k none {place}"
        if subprocess.run([*enter, mount], capture_output=True).returncode != 0:
            self.skipTest("no mount namespaces here")
        done = subprocess.run(
            [*enter, f"{mount} && exec {MUSTER} run --url {self.target()} -d 8s -c 1 --ui none --out ndjson={place}/x "
                     f"--out json={self.folder}/summary.json"], capture_output=True, text=True, timeout=30)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("PASSED", done.stdout)
        self.assertIn("No space left on device", done.stderr)
        self.assertEqual(json.loads((self.folder / "summary.json").read_text())["verdict"], "passed")

    def test_a_folder_that_is_removed_during_the_run_is_told(self):
        place = self.folder / "gone"
        place.mkdir()
        under = self.start("--ui", "none", "--target", "embedded", "--out", f"ndjson={place}/x", "--out", f"junit={place}/y",
                           yaml="muster: 1\nload: { vus: 1, for: 3s, every: 2ms }\nsteps: [ { get: / } ]\n")
        wait_until(lambda: (place / "x").is_file() and (place / "x").stat().st_size > 0, what="the first line")
        (place / "x").unlink()
        place.rmdir()
        self.expect_trouble(under.end(), "was removed while the run went on", "gone/y", "No such file or directory")

    def test_a_fifo_is_written_to_whenever_its_reader_comes(self):
        place = self.folder / "fifo"
        os.mkfifo(place)
        seen = []

        def read():
            wait_until(lambda: (self.folder / "go").exists(), what="the run")
            seen.append(place.read_text())

        reader = threading.Thread(target=read)
        reader.start()
        run = self.go(f"ndjson={place}", "command=touch go; cat >/dev/null", seconds=2)
        reader.join(10)
        self.assertEqual(run.code, 0, run)
        self.assertEqual(json.loads(seen[0].splitlines()[-1])["summary"], run.summary)

    def test_a_fifo_that_nobody_reads_holds_the_end_for_a_bounded_time(self):
        for name, told in (("ndjson", "nobody had opened"), ("csv", "nobody had opened"), ("junit", "nobody reads it")):
            with self.subTest(output=name):
                os.mkfifo(self.folder / name)
                run = self.go(f"{name}={self.folder / name}")
                self.expect_trouble(run, f"--out {name}=", told, "start its reader first")
                self.assertLess(run.seconds, 15)

    def test_a_reader_that_stops_reading_costs_points_and_not_the_run(self):
        place = self.folder / "fifo"
        os.mkfifo(place)
        reader = os.open(place, os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, reader)
        # Steps with long names make more than a pipe holds within a few seconds.
        steps = "\n".join(f"      - {{ name: 's{i}-{'x' * 200}', get: / }}" for i in range(100))
        run = self.run_muster("--ui", "none", "--target", "embedded", "--cores", 1, "--out", f"ndjson={place}", yaml=f"""
muster: 1
workflows:
  - name: main
    load: {{ vus: 1, for: 5s, every: 100ms }}
    steps:
{steps}
""")
        self.assertEqual(run.code, 1, run)
        self.assertEqual(run.summary["verdict"], "passed")
        self.assertIn("had not taken all of it", run.err)
        self.assertLess(run.seconds, 20)

    def test_a_killed_muster_leaves_what_it_had_told_and_no_process(self):
        os.mkfifo(self.folder / "fifo")
        points = self.folder / "points.ndjson"
        under = self.start("--ui", "none", "--target", "embedded", "--out", f"ndjson={points}", "--out",
                           f"csv={self.folder / 'fifo'}", "--out", "command=sleep 300.25; true",
                           yaml="muster: 1\nload: { vus: 1, for: 60s, every: 2ms }\nsteps: [ { get: / } ]\n")
        wait_until(lambda: '"second":0' in points.read_text() if points.is_file() else False, what="a point")
        wait_until(lambda: processes_with("300.25"), what="the command")
        children = [int(each) for each in pathlib.Path(f"/proc/{under.process.pid}/task/{under.process.pid}/children")
                    .read_text().split()]
        self.assertGreaterEqual(len(children), 4)
        under.signal(signal.SIGKILL)
        under.process.wait(10)
        wait_until(lambda: not any(alive(each) for each in children), what="the end of every process")
        wait_until(lambda: not processes_with("300.25"), what="the end of the command")
        for line in points.read_text().splitlines():
            json.loads(line)


class Commands(OutputTest):
    def test_a_command_that_does_not_exist_is_told_before_the_run(self):
        for command in ("muster-has-no-such-command --flag", "./none.sh", "echo 'unfinished"):
            with self.subTest(command=command):
                run = self.go(f"command={command}")
                self.assertEqual(run.code, 2, run)
                self.assertIn("--out command=", run.err)

    def test_what_a_command_prints_goes_to_standard_error(self):
        run = self.go("command=echo visible; echo also >&2; cat >/dev/null")
        self.assertEqual(run.code, 0, run)
        self.assertIn("visible", run.err)
        self.assertIn("also", run.err)
        self.assertNotIn("visible", run.out)

    def test_a_command_that_has_seen_enough_is_no_error(self):
        run = self.go("command=head -n 1 >/dev/null", seconds=4)
        self.assertEqual(run.code, 0, run)

    def test_a_command_that_fails_is_told(self):
        self.expect_trouble(self.go("command=exit 3", seconds=4), "ended with status 3 before the run did")
        self.expect_trouble(self.go("command=cat >/dev/null; exit 4"), "ended with status 4")
        self.expect_trouble(self.go("command=(muster-has-no-such-command)"), "not found")
        self.expect_trouble(self.go("command=kill -9 $$", seconds=4), "signal 9")

    def test_a_command_that_never_reads_or_never_ends_is_ended(self):
        began = time.monotonic()
        run = self.go("command=trap '' TERM; sleep 300.5")
        self.expect_trouble(run, "still ran 10 s after the last point and was ended")
        self.assertLess(time.monotonic() - began, 20)
        wait_until(lambda: not processes_with("300.5"), what="the end of the command")

    def test_ctrl_c_ends_the_wait_for_an_output(self):
        os.mkfifo(self.folder / "fifo")
        for name, output in (("command", "command=touch drained; sleep 300.75"),
                             ("points", f"csv={self.folder / 'fifo'}"), ("file", f"junit={self.folder / 'fifo'}")):
            with self.subTest(output=name):
                began = time.monotonic()
                under = self.start("--ui", "none", "--target", "embedded", "--out", output,
                                   yaml="muster: 1\nload: { vus: 1, for: 60s, every: 2ms }\nsteps: [ { get: / } ]\n")
                executor = under.executor()
                under.signal(signal.SIGINT)
                wait_until(lambda executor=executor: not alive(executor), what="the end of the load")
                # Until the wait has begun, a signal is none that could end it.
                while under.process.poll() is None:
                    under.signal(signal.SIGINT)
                    time.sleep(0.05)
                run = under.end()
                self.assertEqual(run.code, 130, run)
                self.assertIn("nterrupted", run.err)
                self.assertLess(time.monotonic() - began, 9)
        wait_until(lambda: not processes_with("300.75"), what="the end of the command")

    def test_ctrl_c_is_not_for_the_command(self):
        under = self.start("--ui", "none", "--target", "embedded", "--out", "command=cat > seen",
                           yaml="muster: 1\nload: { vus: 1, for: 60s, every: 2ms }\nsteps: [ { get: / } ]\n")
        wait_until(lambda: (self.folder / "seen").is_file() and (self.folder / "seen").stat().st_size > 0, what="a line")
        os.killpg(under.process.pid, signal.SIGINT)
        run = under.end()
        self.assertEqual(run.code, 130, run)
        self.assertEqual(lines_of(self.folder / "seen")[-1]["summary"], run.summary)


class Listing(ProcessTest):
    def test_outputs_are_listed_with_an_example_each(self):
        run = self.run_muster(command="outputs")
        self.assertEqual(run.code, 0, run)
        listed = self.run_muster("--json", command="outputs")
        kinds = json.loads(listed.out)
        self.assertLessEqual({"json", "ndjson", "csv", "junit", "command"}, {kind["name"] for kind in kinds})
        usage = self.run_muster("--help").out
        for kind in kinds:
            for text in (kind["form"], kind["doc"], kind["example"]):
                self.assertIn(text, run.out)
            self.assertIn(kind["form"], " ".join(usage.split()))


if __name__ == "__main__":
    unittest.main()
