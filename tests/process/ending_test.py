"""How runs end when someone interferes: signals, killed processes, readers that have gone, places that cannot be written."""

import contextlib
import fcntl
import json
import os
import pathlib
import re
import signal
import subprocess
import time
import unittest

from harness import MUSTER, ProcessTest, children_named, closed_port, wait_until


def state_of(pid):
    """A letter, as ps has it; nothing if there is no such process."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return ""


def alive(pid):
    return state_of(pid) not in ("", "Z")


class Signals(ProcessTest):
    def setUp(self):
        super().setUp()
        self.server = self.serve_http()

    def load(self, url=None, seconds=20, grace="2s"):
        return f"""
muster: 1
target: {url or self.server.url}
load: {{ vus: 2, for: {seconds}s, every: 5ms, grace: {grace} }}
steps: [ {{ name: call, get: / }} ]
"""

    def started(self, **options):
        under = self.start(yaml=self.load(**options))
        under.executor()
        wait_until(lambda: len(self.server.requests) > 20, what="some requests")
        return under

    def test_one_interrupt_ends_the_run_with_a_full_summary(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(signal=number):
                self.server.requests.clear()
                under = self.started()
                told = time.monotonic()
                under.signal(number)
                run = under.end()
                self.assertLess(time.monotonic() - told, 1.5, run)
                self.assertEqual((run.code, run.summary["verdict"], run.summary["exit_code"]), (130, "interrupted", 130), run)
                self.assertEqual(run.workflow()["state"], "aborted")
                self.assertGreater(run.summary["requests"], 20)
                self.assertEqual(run.summary["requests"], len(self.server.requests), "every request is in the summary")
                self.assertEqual(run.summary["failed"], 0)
                self.assertIn("INTERRUPTED", run.out.upper())

    def test_a_signal_to_the_whole_group_is_left_to_the_parent(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(signal=number):
                self.server.requests.clear()
                under = self.started()
                os.killpg(under.process.pid, number)
                run = under.end()
                self.assertEqual((run.code, run.workflow()["state"]), (130, "aborted"), run)

    def test_the_embedded_target_answers_until_the_run_is_over(self):
        yaml = self.load("http://127.0.0.1:1").replace("get: /", "get: /delay/700ms")
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(signal=number):
                under = self.start("--target", "embedded", yaml=yaml)
                under.executor()
                target, = children_named(under.process.pid, "muster-target")
                wait_until(lambda: sockets_of(target) == 3, what="two connections beside the listener")
                os.killpg(under.process.pid, number)
                run = under.end()
                self.assertEqual((run.code, run.summary["requests"], run.summary["failed"]), (130, 2, 0), run)
                wait_until(lambda: not alive(target), what="the target's end")

    def test_requests_under_way_may_finish_within_the_grace(self):
        slow = self.target()
        under = self.start(yaml=self.load(slow).replace("get: /", "get: /delay/700ms"))
        under.executor()
        wait_until(lambda: connections_to(slow) == 2, what="two requests under way")
        under.signal(signal.SIGINT)
        run = under.end()
        self.assertEqual(run.code, 130, run)
        self.assertEqual((run.summary["requests"], run.summary["failed"]), (2, 0), run)

    def test_the_grace_ends_what_does_not_finish(self):
        stalled = self.target()
        under = self.start(yaml=self.load(stalled, grace="400ms").replace("get: /", "get: /stall"))
        wait_until(lambda: connections_to(stalled) == 2, what="two requests under way")
        told = time.monotonic()
        under.signal(signal.SIGINT)
        run = under.end()
        self.assertLess(time.monotonic() - told, 1.5, run)
        self.assertEqual((run.code, run.errors), (130, {"cancelled": 2}), run)

    def test_a_second_interrupt_ends_at_once(self):
        stalled = self.target()
        under = self.start(yaml=self.load(stalled, grace="30s").replace("get: /", "get: /stall"))
        wait_until(lambda: connections_to(stalled) == 2, what="two requests under way")
        under.signal(signal.SIGINT)
        line = wait_until(under.process.stderr.readline)
        while b"again" not in line:
            line = wait_until(under.process.stderr.readline)
        told = time.monotonic()
        under.signal(signal.SIGINT)
        run = under.end()
        self.assertLess(time.monotonic() - told, 1.0, run)
        self.assertEqual((run.code, run.workflow()["state"], run.errors), (130, "aborted", {"cancelled": 2}), run)

    def test_a_server_that_hangs_at_the_end_shows_in_the_latency(self):
        stalled = self.target()
        run = self.run_muster(yaml=self.load(stalled, seconds=1, grace="700ms").replace("get: /", "get: /stall"))
        self.assertEqual((run.summary["requests"], run.errors), (2, {"cancelled": 2}), run)
        self.assertGreater(run.summary["latency_us"]["p50"], 1_600_000, run)

    def test_a_second_interrupt_ends_even_an_executor_that_does_not_answer(self):
        under = self.started()
        executor = under.executor()
        os.kill(executor, signal.SIGSTOP)
        under.signal(signal.SIGINT)
        while b"again" not in under.process.stderr.readline():
            pass
        under.signal(signal.SIGINT)
        run = under.end(limit=5)
        self.assertEqual((run.code, run.workflow()["state"]), (130, "aborted"), run)
        self.assertFalse(alive(executor))

    def test_an_executor_that_does_not_answer_is_given_up_after_its_grace(self):
        under = self.started(grace="300ms")
        wait_until(lambda: len(self.server.requests) > 300, what="more than a snapshot's worth")
        executor = under.executor()
        os.kill(executor, signal.SIGSTOP)
        under.signal(signal.SIGINT)
        run = under.end(limit=12)
        self.assertFalse(alive(executor))
        self.assertEqual((run.code, run.summary["verdict"], run.workflow()["state"]), (1, "error", "lost"), run)
        self.assertIn("told to stop", run.workflow()["reason"])
        self.assertIn("lost", [mark["id"] for mark in run.summary["marks"]])
        self.assertGreater(run.summary["requests"], 50, "the last snapshot's numbers are kept")
        self.assertIn("executor", run.out)

    def test_an_interrupt_during_warm_up_ends_the_run(self):
        yaml = self.load(seconds=30).replace("grace: 2s", "grace: 2s, warm_up: 20s")
        under = self.start(yaml=yaml)
        wait_until(lambda: len(self.server.requests) > 5, what="some requests")
        under.signal(signal.SIGINT)
        run = under.end(limit=5)
        self.assertEqual((run.code, run.summary["requests"]), (130, 0), run)

    def test_an_interrupt_skips_workflows_whose_turn_has_not_come(self):
        under = self.start(yaml=f"""
muster: 1
target: {self.server.url}
workflows:
  - {{ name: one, load: {{ vus: 1, for: 20s, every: 5ms }}, steps: [ {{ get: /one }} ] }}
  - {{ name: two, depends: [one], steps: [ {{ get: /two }} ] }}
""")
        wait_until(lambda: len(self.server.requests) > 5, what="some requests")
        under.signal(signal.SIGINT)
        run = under.end(limit=5)
        self.assertEqual(run.code, 130, run)
        self.assertEqual([flow["state"] for flow in run.summary["workflows"]], ["aborted", "skipped"])
        self.assertNotIn("/two", self.server.paths())

    def test_a_killed_executor_ends_in_a_summary_that_says_so(self):
        under = self.started()
        wait_until(lambda: len(self.server.requests) > 300, what="more than a snapshot's worth")
        os.kill(under.executor(), signal.SIGKILL)
        run = under.end(limit=5)
        self.assertEqual((run.code, run.summary["verdict"]), (1, "error"), run)
        self.assertEqual(run.workflow()["state"], "lost")
        self.assertEqual(run.workflow()["reason"], "killed by signal 9 (Killed)")
        mark = next(mark["text"] for mark in run.summary["marks"] if mark["id"] == "lost")
        self.assertRegex(mark, r"^the process that made the load was lost: killed by signal 9 \(Killed\); "
                               r"what came after \d+\.\d s is missing$")
        self.assertIn("lost", [mark["id"] for mark in run.summary["marks"]])
        self.assertGreater(run.summary["requests"], 50, "the last snapshot's numbers are kept")
        self.assertLessEqual(run.summary["requests"], len(self.server.requests))
        self.assertGreater(run.summary["latency_us"]["p50"], 0)
        self.assertIn("executor", run.out)

    def test_a_killed_executor_does_not_disturb_other_workflows(self):
        under = self.start("--cores", "2", yaml=f"""
muster: 1
target: {self.server.url}
workflows:
  - {{ name: one, load: {{ vus: 1, for: 1s, every: 5ms }}, steps: [ {{ get: /one }} ] }}
  - {{ name: two, load: {{ vus: 1, for: 1s, every: 5ms }}, steps: [ {{ get: /two }} ] }}
""")
        executors = wait_until(lambda: len(under.executors()) == 2 and under.executors(), what="two executors")
        wait_until(lambda: len(self.server.requests) > 5, what="some requests")
        os.kill(executors[0], signal.SIGKILL)
        run = under.end(limit=5)
        self.assertEqual(run.code, 1, run)
        self.assertEqual(sorted(flow["state"] for flow in run.summary["workflows"]), ["completed", "lost"])
        whole = next(flow for flow in run.summary["workflows"] if flow["state"] == "completed")
        self.assertGreater(whole["requests"], 50)

    def test_a_killed_parent_leaves_no_child(self):
        under = self.started()
        executor = under.executor()
        under.process.kill()
        under.process.wait()
        wait_until(lambda: not alive(executor), what="the executor's end")

    def ended_after_a_stop(self, under):
        """The run whose executor stood still for a moment once the load was under way."""
        executor = under.executor()
        wait_until(lambda: len(self.server.requests) > 20, what="some requests")
        os.kill(executor, signal.SIGSTOP)
        time.sleep(1.5)
        os.kill(executor, signal.SIGCONT)
        return under.end(limit=8)

    def test_a_stopped_executor_goes_on_and_ends(self):
        under = self.start(yaml=self.load(seconds=3).replace("vus: 2, for: 3s, every: 5ms", "rate: 100/s, for: 3s"))
        run = self.ended_after_a_stop(under)
        self.assertEqual(run.code, 0, run)
        self.assertLess(run.seconds, 5)
        self.assertAlmostEqual(run.summary["requests"], 300, delta=3, msg=str(run))
        seconds = [point["second"] for point in run.summary["series"]]
        self.assertEqual(seconds, sorted(set(seconds)))
        self.assertLessEqual(max(seconds), 4)
        self.assertEqual(sum(point["requests"] for point in run.summary["series"]), run.summary["requests"])
        self.assertGreater(run.summary["latency_us"]["max"], 1_000_000, "the open model shows the pause")
        self.assertIn("late", [mark["id"] for mark in run.summary["marks"]])

    def test_a_closed_load_tells_that_its_executor_stood_still(self):
        under = self.start("--strict", yaml=f"""
muster: 1
target: {self.server.url}
load: {{ vus: 10, for: 3s }}
steps: [ {{ get: / }}, {{ think: 50ms }} ]
""")
        run = self.ended_after_a_stop(under)
        self.assertEqual(run.code, 1, run)
        texts = [mark["text"] for mark in run.summary["marks"] if mark["id"] == "late"]
        self.assertEqual(len(texts), 1, run)
        self.assertRegex(texts[0], "^the generator was late: ")


def connections_to(url):
    """How many established connections there are to the address, from the client's side."""
    port = int(url.rsplit(":", 1)[1])
    wanted = f"0100007F:{port:04X}"
    lines = pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]
    return sum(1 for line in lines if line.split()[2] == wanted and line.split()[3] == "01")


def sockets_of(pid):
    """How many sockets a process has open."""
    count = 0
    for each in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(OSError):
            count += os.readlink(each).startswith("socket:")
    return count


class Places(ProcessTest):
    def setUp(self):
        super().setUp()
        self.server = self.serve_http()
        self.arguments = ["--url", self.server.url, "-n", "50", "-c", "2"]

    def test_a_folder_that_is_missing_is_reported_before_the_run(self):
        run = self.run_muster(*self.arguments, "--out", f"json={self.folder}/none/x.json")
        self.assertEqual((run.code, len(self.server.requests)), (2, 0), run)
        self.assertIn("none/x.json", run.err)

    def test_a_full_disk_is_reported_beside_the_verdict_and_fails_the_run(self):
        run = self.run_muster(*self.arguments, "--out", "json=/dev/full")
        self.assertEqual((run.code, len(self.server.requests)), (1, 50), run)
        self.assertIn("No space left", run.err)
        self.assertIn("PASSED", run.out)

    def test_the_json_on_standard_output_has_the_exit_code_of_the_process(self):
        run = self.run_muster(*self.arguments, "--json", "--out", "json=/dev/full", "--out", "json=file.json")
        told, written = json.loads(run.out), json.loads((self.folder / "file.json").read_text())
        self.assertEqual((run.code, told["exit_code"], told["verdict"], written["exit_code"]), (1, 1, "passed", 0), run)

    def run_into(self, out, err, seconds="1.5s"):
        """Runs with the given standard output and error; returns the exit code."""
        process = subprocess.Popen([MUSTER, "run", "--url", self.server.url, "-d", seconds, "-c", "1", "--out",
                                    f"json={self.folder}/summary.json"], stdout=out, stderr=err)
        self.addCleanup(process.kill)
        return process.wait(15)

    def closed_pipe(self):
        read, write = os.pipe()
        os.close(read)
        self.addCleanup(os.close, write)
        return write

    def test_readers_that_have_gone_do_not_disturb_the_run(self):
        pipe = self.closed_pipe()
        for out, err, code in ((pipe, subprocess.DEVNULL, 1), (subprocess.DEVNULL, pipe, 0), (pipe, pipe, 1)):
            with self.subTest(out=out, err=err):
                self.assertEqual(self.run_into(out, err, "1.2s"), code)
                self.assertEqual(json.loads((self.folder / "summary.json").read_text())["verdict"], "passed")

    def test_log_steps_without_a_reader_do_not_disturb_the_run(self):
        process = subprocess.Popen([MUSTER, "run", str(self.write("log.yaml", f"""
muster: 1
target: {self.server.url}
load: {{ vus: 1, iterations: 20 }}
steps: [ {{ log: hello }}, {{ get: / }} ]
"""))], stdout=subprocess.DEVNULL, stderr=self.closed_pipe())
        self.addCleanup(process.kill)
        self.assertEqual(process.wait(10), 0)
        self.assertEqual(len(self.server.requests), 20)

    def test_a_full_standard_output_is_reported(self):
        for words in (["run", *self.arguments], ["run", *self.arguments, "--json"], ["version"], ["--help"], ["schema"]):
            with self.subTest(words=words), open("/dev/full", "wb") as full:
                process = subprocess.run([MUSTER, *words], stdout=full, stderr=subprocess.PIPE, timeout=15)
                self.assertEqual(process.returncode, 1)
                self.assertIn(b"could be written to standard output", process.stderr)

    def test_a_reader_that_has_gone_had_what_it_wanted(self):
        for words in (["schema"], ["help", "run"]):
            with self.subTest(words=words):
                process = subprocess.run([MUSTER, *words], stdout=self.closed_pipe(), stderr=subprocess.PIPE, timeout=15)
                self.assertEqual((process.returncode, b"standard output" in process.stderr), (0, False))

    def test_a_summary_that_nobody_read_is_told_with_how_to_see_it(self):
        run = [MUSTER, "run", *self.arguments, "--ui", "none"]
        again = r"to see it: muster results show (r-\S+)"
        not_kept = "the run is not kept; next time, write the summary to a file by --out json=FILE"
        for words, said in (([], again), (["--json"], again), (["--no-save"], not_kept)):
            with self.subTest(words=words):
                done = subprocess.run([*run, *words], stdout=self.closed_pipe(), stderr=subprocess.PIPE, text=True, timeout=15)
                self.assertEqual(done.returncode, 1, done.stderr)
                closed = r"\Astandard output was closed before all of the summary was printed; "
                self.assertRegex(done.stderr, closed + said + r"\n\Z")
                if said == again:
                    shown = self.run_muster("show", re.search(again, done.stderr).group(1), command="results")
                    self.assertIn("PASSED", shown.out)

    def test_a_verdict_weighs_more_than_a_summary_that_nobody_read(self):
        port, holder = closed_port()
        self.addCleanup(holder.close)
        done = subprocess.run([MUSTER, "run", "--url", f"http://127.0.0.1:{port}/", "-n", "5", "-c", "1", "--ui", "none"],
                              stdout=self.closed_pipe(), stderr=subprocess.PIPE, text=True, timeout=15)
        self.assertEqual(done.returncode, 99, done.stderr)
        self.assertIn("standard output was closed", done.stderr)

    def at_its_last_words(self):
        """A run that has been judged and now waits for the reader of its standard output; the pipe and what it held."""
        read, write = os.pipe()
        self.addCleanup(os.close, read)
        size = fcntl.fcntl(write, fcntl.F_SETPIPE_SZ, 4096)
        os.write(write, b" " * size)
        summary = self.folder / "summary.json"
        process = subprocess.Popen([MUSTER, "run", *self.arguments, "--json", "--ui", "none", "--out", f"json={summary}"],
                                   stdout=write, stderr=subprocess.PIPE)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.kill)
        os.close(write)
        wait_until(summary.is_file, what="the results")
        wait_until(lambda: state_of(process.pid) == "S", what="the wait for the reader")
        time.sleep(0.3)
        self.assertIsNone(process.poll())
        return process, read

    def test_ctrl_c_while_the_summary_is_printed_does_not_cut_it(self):
        process, read = self.at_its_last_words()
        process.send_signal(signal.SIGINT)
        time.sleep(0.2)
        text = b""
        while piece := os.read(read, 65536):
            text += piece
        self.assertEqual((process.wait(10), process.stderr.read()), (0, b""))
        self.assertEqual(json.loads(text)["requests"], 50)

    def test_ctrl_c_ends_the_wait_for_a_reader_that_is_stuck(self):
        process, _ = self.at_its_last_words()
        process.send_signal(signal.SIGINT)
        self.assertEqual((process.wait(10), process.stderr.read()), (0, b""))

    def test_standard_output_takes_the_json(self):
        run = self.run_muster(*self.arguments, "--out", "json=-")
        self.assertIn('"schema": "muster.summary/1"', run.out)
        run = self.run_muster(*self.arguments, "--json", "--ui", "none")
        self.assertTrue(run.out.startswith("{"), run.out)
        self.assertEqual(run.err, "")


if __name__ == "__main__":
    unittest.main()
