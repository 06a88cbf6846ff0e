"""The live screen (`--ui full`) on a real pseudo terminal: what a person sees while a run goes on, what keys do, and that
the terminal is left as it was found however the run ends. Screens are kept in build/screens for people to look at."""

import fcntl
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import threading
import time
import unittest

from harness import MUSTER, ROOT, ProcessTest, response, wait_until
from screen_model import Session

SCREENS = ROOT / "build" / "screens"


class ScreenTest(ProcessTest):
    def setUp(self):
        super().setUp()
        self.server = self.serve_http()

    def job(self, load="{ vus: 4, for: 30s, every: 10ms, grace: 1s }", more="", steps=None):
        return f"""
muster: 1
target: {self.server.url}
load: {load}
{more}
steps: {steps or '[ { name: call, get: /, check: { status: 200 } } ]'}
"""

    def session(self, yaml, *arguments, columns=80, rows=24, cores=1, environment=None):
        self.output = self.folder / "summary.json"
        self.output.unlink(missing_ok=True)
        words = [MUSTER, "run", str(self.write("job.yaml", yaml)), "--cores", str(cores), "--out", f"json={self.output}",
                 *arguments]
        made = Session(words, columns, rows, environment, self.folder)
        self.addCleanup(made.close)
        return made

    def summary(self):
        return json.loads(self.output.read_text())

    def keep(self, name, text):
        SCREENS.mkdir(parents=True, exist_ok=True)
        (SCREENS / f"{name}.txt").write_text(text + "\n")

    def quiet(self):
        seen = len(self.server.requests)
        time.sleep(0.3)
        return len(self.server.requests) == seen

    def assert_restored(self, session):
        self.assertEqual(session.restored(), [])


class Look(ScreenTest):
    def test_a_ramp_and_a_steady_run_at_two_sizes(self):
        for columns, rows in ((80, 24), (200, 50)):
            with self.subTest(columns=columns):
                session = self.session(self.job(load="{ vus: [ { to: 20, over: 2s }, { hold: 4s } ], every: 20ms }",
                                                more="thresholds: [ latency p95 < 2s, failed rate < 1% ]"),
                                       columns=columns, rows=rows)
                session.wait_for("stage 1 of 2: to 20 VUs", "thresholds", "call: status: 200")
                self.keep(f"ramp_{columns}x{rows}", session.screen())
                session.wait_for("stage 2 of 2: hold 20 VUs", "✓ latency p95 < 2s", "p99")
                wait_until(lambda: self.plotted(session.screen()) >= 2, what="some of the plot")
                self.keep(f"steady_{columns}x{rows}", session.screen())
                for line in session.screen().splitlines():
                    self.assertLessEqual(len(line), columns)
                self.assertEqual(session.end(), 0)
                self.assertIn("PASSED", session.model.main)
                self.assertIn("✓ latency p95 < 2s", session.model.main)
                self.assert_restored(session)

    @staticmethod
    def plotted(screen):
        return sum("\u2801" <= each <= "\u28ff" for each in screen.replace("⠤", ""))

    def test_errors_and_a_threshold_that_fails(self):
        self.server.reply = lambda request: response("no", status=503)
        for columns, rows in ((80, 24), (200, 50)):
            with self.subTest(columns=columns):
                session = self.session(self.job(load="{ vus: 4, for: 4s, every: 10ms }",
                                                more="thresholds: [ failed rate < 1% ]"), columns=columns, rows=rows)
                session.wait_for("✗ failed rate < 1%", "errors", "status 503", "✗ call: status: 200", "(100%)")
                self.keep(f"errors_{columns}x{rows}", session.screen())
                self.assertEqual(session.end(), 99)
                self.assert_restored(session)

    def test_workflows_take_turns_and_keys_pin_them(self):
        yaml = f"""
muster: 1
target: {self.server.url}
workflows:
  - {{ name: browse, load: {{ vus: 2, for: 20s, every: 20ms }}, steps: [ {{ name: look, get: /look }} ] }}
  - {{ name: order, load: {{ vus: 1, for: 20s, every: 20ms }}, steps: [ {{ name: buy, get: /buy }} ] }}
  - {{ name: later, depends: [order], load: {{ vus: 1, iterations: 5 }}, steps: [ {{ name: end, get: /end }} ] }}
"""
        # Rows enough for the steps, also below a warning that the machine stood still.
        session = self.session(yaml, columns=100, rows=50, cores=2)
        session.wait_for("[0 all]", "1 browse ●", "2 order ●", "3 later ○", "taking turns")
        self.keep("workflows_100x50", session.screen())
        session.wait_for("[1 browse ●]", limit=6)
        session.type("2")
        session.wait_for("[2 order ●]", "pinned", "buy")
        session.type("\x1b[C")
        session.wait_for("[3 later ○]", "pending")
        session.type("a")
        session.wait_for("[0 all]", "0 of 3 workflows done")
        session.type("?")
        session.wait_for("next and previous workflow")
        self.keep("help_100x50", session.screen())
        session.type("\x1b")
        wait_until(lambda: "next and previous workflow" not in session.screen(), what="help to close")
        session.type("qq")
        self.assertEqual(session.end(), 130)
        self.assert_restored(session)

    def test_a_resize_at_any_moment(self):
        session = self.session(self.job())
        session.wait_for("latency over time", "last 10 s")
        for columns, rows in ((200, 50), (40, 12), (1, 1), (3, 2), (20, 4), (132, 40)):
            session.resize(columns, rows)
            wait_until(lambda: session.screen().strip(), what="a screen")
        session.wait_for("latency over time", "core")
        self.keep("resized_132x40", session.screen())
        session.resize(40, 12)
        session.wait_for("rate", "latency", "q quit")
        self.keep("resized_40x12", session.screen())
        session.type("q")
        self.assertEqual(session.end(), 130)
        self.assert_restored(session)

    def test_log_lines_do_not_tear_the_screen(self):
        session = self.session(self.job(load="{ vus: 1, for: 3s, every: 200ms }",
                                        steps="[ { log: 'hello from a step' }, { get: / } ]"))
        session.wait_for("log", "hello from a step")
        self.keep("log_80x24", session.screen())
        self.assertEqual(session.screen().splitlines()[0].split()[0], "muster")
        self.assertEqual(session.end(), 0)
        self.assertGreater(session.model.main.count("hello from a step"), 5)
        self.assert_restored(session)

    def test_without_colours_and_without_unicode(self):
        session = self.session(self.job(load="{ vus: 2, for: 2s, every: 10ms }"),
                               environment={"NO_COLOR": "1", "LC_ALL": "C"})
        session.wait_for("latency over time", "->")
        self.keep("ascii_80x24", session.screen())
        self.assertEqual(session.end(), 0)
        self.assertNotRegex(session.raw, rb"\x1b\[[0-9;]*3[0-9]m")
        self.assertTrue(all(byte < 0x80 for byte in session.raw))
        self.assert_restored(session)


class Keys(ScreenTest):
    def test_space_holds_the_load_still(self):
        session = self.session(self.job())
        wait_until(lambda: len(self.server.requests) > 50, what="some requests")
        session.type(" ")
        session.wait_for("PAUSED")
        wait_until(lambda: self.quiet(), what="quiet")
        self.keep("paused_80x24", session.screen())
        seen = len(self.server.requests)
        session.type(" ")
        wait_until(lambda: len(self.server.requests) > seen + 20, what="more requests")
        wait_until(lambda: "PAUSED" not in session.screen(), what="the word to go")
        session.type(" q")
        self.assertEqual(session.end(), 130)
        self.assert_restored(session)

    def test_plus_and_minus_scale_the_load(self):
        session = self.session(self.job(load="{ vus: 10, for: 30s, every: 20ms }"))
        session.wait_for("VUs        10")
        session.type("++")
        session.wait_for("load ×1.2", "VUs        12")
        session.type("---")
        session.wait_for("load ×0.9", "VUs        9")
        session.type("q")
        self.assertEqual(session.end(), 130)

    def test_a_scaled_load_stays_scaled_in_the_next_layer(self):
        session = self.session(f"""
muster: 1
target: {self.server.url}
workflows:
  - {{ name: one, load: {{ vus: 2, for: 3s, every: 20ms }}, steps: [ {{ get: /one }} ] }}
  - {{ name: two, depends: [one], load: {{ vus: 10, for: 1s, every: 20ms }}, steps: [ {{ get: /two }} ] }}
""")
        session.wait_for("[0 all]", "core")
        session.type("+" * 10)
        session.wait_for("load ×2.0")
        self.assertEqual(session.end(), 0)
        self.assertEqual([flow["peak_vus"] for flow in self.summary()["workflows"]], [4, 20])

    def test_a_result_tells_that_the_load_was_paused_and_changed_by_hand(self):
        session = self.session(self.job(load="{ rate: 50/s, for: 3s }"), "--out", f"html={self.folder}/page.html",
                               "--out", f"run={self.folder}/run.muster")
        session.wait_for("latency over time")
        session.type("+++ ")
        session.wait_for("PAUSED")
        time.sleep(1)
        session.type(" ")
        self.assertEqual(session.end(), 0)
        marks = {mark["id"]: mark["text"] for mark in self.summary()["marks"]}
        self.assertRegex(marks["paused"], r"paused by hand for [1-9]\.\d s")
        self.assertIn("changed by hand, up to ×1.30", marks["scaled"])
        for text in (session.model.main, (self.folder / "page.html").read_text()):
            self.assertIn("paused by hand for", text)
            self.assertIn("changed by hand, up to", text)
        self.assertIn("paused, scaled", self.compared(self.folder / "run.muster"))

    def compared(self, run):
        return self.run_muster("--baseline", str(run), yaml=self.job(load="{ rate: 50/s, for: 1s }")).out

    def test_s_ends_the_load_and_judges_it(self):
        session = self.session(self.job(more="thresholds: [ failed rate < 1% ]"))
        wait_until(lambda: len(self.server.requests) > 50, what="some requests")
        session.wait_for("core")
        session.type("s")
        self.assertEqual(session.end(), 0)
        self.assertEqual(self.summary()["verdict"], "passed")
        self.assertIn("stopped by hand after", self.summary()["reason"])
        self.assert_restored(session)

    def test_a_flood_of_keys_does_not_disturb_the_run(self):
        session = self.session(self.job(load="{ vus: 2, for: 3s, every: 10ms }"))
        session.wait_for("core")
        for _ in range(50):
            session.type("\x1b[" + ";" * 40 + "zz\x1b]x\x1b[A\xe9" * 8)
        self.assertEqual(session.end(), 0)
        self.assertGreater(self.summary()["requests"], 300)


class Ends(ScreenTest):
    def started(self, **options):
        session = self.session(self.job(**options))
        wait_until(lambda: len(self.server.requests) > 20, what="some requests")
        session.wait_for("latency", "core")
        return session

    def test_ctrl_c_stops_with_a_summary_and_a_clean_terminal(self):
        session = self.started()
        session.type("\x03")
        self.assertEqual(session.end(), 130)
        self.assertIn("INTERRUPTED", session.model.main)
        self.assertEqual(self.summary()["verdict"], "interrupted")
        self.assertEqual(session.model.left, 1)
        self.assert_restored(session)

    def test_the_screen_says_that_it_is_stopping_and_a_second_ctrl_c_ends_at_once(self):
        held = threading.Event()
        self.addCleanup(held.set)
        self.server.reply = lambda request: held.wait(30) and response("late")
        session = self.session(self.job(load="{ vus: 1, for: 30s, grace: 20s }"))
        wait_until(lambda: self.server.requests, what="a request")
        session.wait_for("q quit")
        session.type("\x03")
        session.wait_for("stopping: requests under way may finish", "stopping")
        self.keep("stopping_80x24", session.screen())
        told = time.monotonic()
        session.type("\x03")
        self.assertEqual(session.end(), 130)
        self.assertLess(time.monotonic() - told, 3)
        self.assert_restored(session)

    def test_sigterm_stops_and_restores(self):
        session = self.started()
        session.process.send_signal(signal.SIGTERM)
        self.assertEqual(session.end(), 130)
        self.assert_restored(session)

    def test_deadly_signals_restore_the_terminal(self):
        for number in (signal.SIGSEGV, signal.SIGABRT, signal.SIGQUIT, signal.SIGBUS):
            with self.subTest(signal=number):
                self.server.requests.clear()
                session = self.started()
                session.process.send_signal(number)
                self.assertEqual(session.end(), -number)
                self.assert_restored(session)

    def test_a_killed_executor_leaves_the_screen_alone(self):
        session = self.started()
        under = pathlib.Path(f"/proc/{session.process.pid}/task/{session.process.pid}/children").read_text().split()
        os.kill(int(under[0]), signal.SIGSEGV)
        self.assertEqual(session.end(), 1)
        self.assertIn("lost its executor", session.model.main)
        self.assertEqual(session.model.left, 1)
        self.assert_restored(session)

    def test_a_terminal_that_goes_away_stops_the_run_and_keeps_its_results(self):
        session = self.started()
        session.reading.clear()
        session.hang_up()
        self.assertEqual(session.process.wait(10), 130)
        self.assertEqual(self.summary()["verdict"], "interrupted")
        self.assertGreater(self.summary()["requests"], 20)

    def test_a_terminal_that_takes_nothing_does_not_disturb_the_run(self):
        session = self.session(self.job(load="{ vus: 4, for: 6s, every: 10ms, grace: 1s }"), columns=200, rows=50)
        session.wait_for("latency over time")
        session.reading.clear()
        session.type("?")  # the reader is inside its last read until something comes
        wait_until(self.output.is_file, limit=15, what="the results")
        self.assertAlmostEqual(self.summary()["duration_s"], 6, delta=0.7)
        self.assertGreater(self.summary()["requests"], 1500)
        session.reading.set()
        self.assertEqual(session.end(), 0)
        self.assertEqual([each for each in session.restored() if "unknown" not in each], [])

    def test_a_resize_at_the_end_does_not_cut_an_output(self):
        place = self.folder / "points"
        os.mkfifo(place)
        reader = os.open(place, os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, reader)
        fcntl.fcntl(reader, fcntl.F_SETPIPE_SZ, 4096)
        job = self.write("job.yaml", self.job(load="{ vus: 1, for: 2s, every: 10ms }"))
        session = Session(["bash", "-c", f"exec {MUSTER} run {job} --cores 1 --ui full --out ndjson=- >{place}"],
                          cwd=self.folder)
        self.addCleanup(session.close)
        wait_until(lambda: session.model.left == 1, limit=15, what="the end of the screen")
        time.sleep(0.3)
        session.resize(100, 30)
        session.process.send_signal(signal.SIGWINCH)
        session.process.send_signal(signal.SIGCONT)
        time.sleep(0.2)
        os.set_blocking(reader, True)
        text = b""
        while piece := os.read(reader, 65536):
            text += piece
        self.assertEqual(session.end(), 0)
        self.assertEqual([json.loads(line)["type"] for line in text.splitlines()][-1], "summary")
        self.assert_restored(session)

    def test_a_terminal_of_one_cell(self):
        session = self.session(self.job(load="{ vus: 1, for: 1s, every: 10ms }"), columns=1, rows=1)
        self.assertEqual(session.end(), 0)
        self.assert_restored(session)


class Shell(ScreenTest):
    def test_ctrl_z_gives_the_terminal_back_and_fg_takes_it_again(self):
        job = self.write("job.yaml", self.job())
        session = Session(["bash", "--norc", "--noprofile", "-i"], environment={"PS1": "ready> "}, cwd=self.folder)
        self.addCleanup(session.close)
        session.wait_main("ready> ")
        session.type(f"{MUSTER} run {job} --cores 1\n")
        session.wait_for("latency over time", "core")
        session.type("\x1a")
        session.wait_main("Stopped")
        self.assertFalse(session.model.alternate)
        self.assertTrue(session.model.cursor_shown)
        seen = len(self.server.requests)
        session.type("fg\n")
        session.wait_for("latency over time", "core")
        wait_until(lambda: len(self.server.requests) > seen + 20, what="more requests")
        self.assertTrue(session.model.alternate)
        session.type("q")
        session.wait_main("INTERRUPTED")
        session.type("stty -a | head -n 3; exit\n")
        session.end()
        self.assertFalse(session.model.alternate)
        self.assertNotIn("-echo ", session.model.main)

    def shell(self, load, *flags):
        job = self.write("job.yaml", self.job(load=load))
        self.output = self.folder / "summary.json"
        self.output.unlink(missing_ok=True)
        session = Session(["bash", "--norc", "--noprofile", "-i"], environment={"PS1": "ready> "}, cwd=self.folder)
        self.addCleanup(session.close)
        session.wait_main("ready> ")
        session.type(f"{MUSTER} run {job} --cores 1 --out json={self.output} {' '.join(flags)}\n")
        wait_until(lambda: len(self.server.requests) > 20, what="some requests")
        return session

    def test_ctrl_z_holds_the_load_still_and_nothing_is_caught_up(self):
        for load, flags in (("{ rate: 100/s, for: 4s }", []), ("{ rate: 100/s, for: 4s }", ["--ui", "ci"]),
                            ("{ vus: 2, for: 4s, every: 20ms }", ["--ui", "none"])):
            with self.subTest(load=load, flags=flags):
                self.server.requests.clear()
                session = self.shell(load, *flags)
                session.type("\x1a")
                session.wait_main("Stopped")
                wait_until(self.quiet, what="quiet")
                time.sleep(1.5)
                seen = len(self.server.requests)
                session.type("fg\n")
                wait_until(lambda: len(self.server.requests) > seen, what="more requests")
                time.sleep(0.2)
                self.assertLess(len(self.server.requests) - seen, 100)
                wait_until(self.output.is_file, limit=15, what="the results")
                summary = self.summary()
                marks = {mark["id"]: mark["text"] for mark in summary["marks"]}
                self.assertRegex(marks["paused"], r"paused by hand for [1-9]\.\d s")
                self.assertLess(summary["workflows"][0]["lateness_us"]["max"], 1_200_000, "the pause is no lateness")
                self.assertLess(summary["requests"], 416)
                # A closed load asks less often where a core stands still; an open one owes its arrivals.
                self.assertGreater(summary["requests"], 384 if "rate" in load else 150)
                session.type("exit\n")
                session.end()

    def test_the_time_spent_stopped_is_no_progress(self):
        for ui in ("full", "ci"):
            with self.subTest(ui=ui):
                self.server.requests.clear()
                session = self.shell("{ rate: 100/s, for: 12s }", "--ui", ui)
                session.type("\x1a")
                session.wait_main("Stopped")
                time.sleep(5)
                seen = len(self.server.requests)
                session.type("fg\n")
                wait_until(lambda: len(self.server.requests) > seen + 30, what="more requests")
                told = len(session.model.main)

                def left():
                    with session.lock:
                        text = session.model.text() if ui == "full" else session.model.main[told:]
                        shown = session.model.alternate == (ui == "full")
                    return re.search(r"(\d\d):(\d\d) left", text) if shown else None
                minutes, seconds = wait_until(left, what="the time left").groups()
                self.assertEqual(minutes, "00")
                self.assertGreaterEqual(int(seconds), 8)
                session.type("\x03")
                session.wait_main("INTERRUPTED")
                session.type("exit\n")
                session.end()

    def test_ctrl_z_leaves_a_load_that_was_paused_by_key_paused(self):
        session = self.shell("{ vus: 2, for: 30s, every: 20ms }")
        session.wait_for("core")
        session.type(" ")
        session.wait_for("PAUSED")
        session.type("\x1a")
        session.wait_main("Stopped")
        session.type("fg\n")
        session.wait_for("PAUSED")
        self.assertTrue(self.quiet())
        seen = len(self.server.requests)
        session.type(" ")
        wait_until(lambda: len(self.server.requests) > seen + 20, what="more requests")
        session.type("q")
        session.wait_main("INTERRUPTED")
        session.type("exit\n")
        session.end()

    def test_in_the_background_it_draws_nothing(self):
        job = self.write("job.yaml", self.job(load="{ vus: 1, for: 3s, every: 10ms }"))
        session = Session(["bash", "--norc", "--noprofile", "-i"], environment={"PS1": "ready> "}, cwd=self.folder)
        self.addCleanup(session.close)
        session.wait_main("ready> ")
        session.type(f"{MUSTER} run {job} --cores 1 &\n")
        session.wait_main("PASSED")
        self.assertEqual(session.model.left, 0)
        session.type("exit\n")
        session.end()


@unittest.skipUnless(shutil.which("tmux"), "needs tmux")
class Tmux(ScreenTest):
    """The same in a terminal emulator that others wrote."""

    def tmux(self, *words):
        env = {name: value for name, value in os.environ.items() if name not in ("TMUX", "CI", "NO_COLOR")}
        return subprocess.run(["tmux", "-u", "-L", self.name, "-f", "/dev/null", *words], capture_output=True, text=True,
                              check=True, timeout=10, env={**env, "LC_ALL": "C.UTF-8", "TERM": "xterm-256color"}).stdout

    def test_shows_the_same_screen(self):
        for columns, rows in ((80, 24), (200, 50)):
            with self.subTest(columns=columns):
                self.name = f"muster-test-{os.getpid()}-{columns}"
                job = self.write("job.yaml", self.job(more="thresholds: [ latency p95 < 2s ]"))
                shell = f"{MUSTER} run {job} --cores 1; exec cat"
                self.tmux("new-session", "-d", "-x", str(columns), "-y", str(rows), shell)
                try:
                    wait_until(lambda: all(text in self.capture() for text in ("✓ latency p95 < 2s", "⠤⠤ p99 ")),
                               what="the screen in tmux")
                    self.keep(f"tmux_{columns}x{rows}", self.capture())
                    self.assertEqual(self.tmux("display-message", "-p", "#{alternate_on} #{cursor_flag}").split(), ["1", "0"])
                    self.tmux("send-keys", "C-c")
                    wait_until(lambda: "INTERRUPTED" in self.capture("-S", "-"), what="the summary in tmux")
                    self.assertEqual(self.tmux("display-message", "-p", "#{alternate_on} #{cursor_flag}").split(), ["0", "1"])
                finally:
                    self.tmux("kill-server")

    def capture(self, *words):
        return self.tmux("capture-pane", "-p", *words)


class Mode(ScreenTest):
    def run_on_terminal(self, *arguments, **environment):
        session = self.session(self.job(load="{ vus: 1, for: 1500ms, every: 10ms }"), *arguments, environment=environment)
        self.assertEqual(session.end(), 0)
        return session.model

    def test_is_chosen_by_the_surroundings(self):
        self.assertEqual(self.run_on_terminal().left, 1)
        self.assertEqual(self.run_on_terminal(CI="true").left, 0)
        self.assertEqual(self.run_on_terminal(TERM="dumb").left, 0)
        self.assertEqual(self.run_on_terminal("--ui", "ci").left, 0)
        self.assertIn("requests", self.run_on_terminal("--ui", "ci").main)
        self.assertEqual(self.run_on_terminal("--ui", "full", CI="true").left, 1)
        self.assertNotIn("VU  ", self.run_on_terminal("--ui", "none").main.split("PASSED")[0])

    def test_full_without_a_terminal_says_what_to_do(self):
        run = self.run_muster("--ui", "full", yaml=self.job())
        self.assertEqual(run.code, 2, run)
        self.assertIn("--ui full needs a terminal", run.err)
        self.assertEqual(self.server.requests, [])


if __name__ == "__main__":
    unittest.main()
