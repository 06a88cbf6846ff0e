"""What a run takes over from whoever starts it: ignored and blocked signals, closed standard streams."""

import os
import signal
import unittest

from harness import ProcessTest, wait_until

LOAD = """
muster: 1
target: {url}
load: {{ vus: 2, {length}, every: 5ms, grace: 2s }}
steps: [ {{ name: call, get: / }} ]
"""


class Inherited(ProcessTest):
    def setUp(self):
        super().setUp()
        self.server = self.serve_http()

    def load(self, length="iterations: 20"):
        return LOAD.format(url=self.server.url, length=length)

    def test_a_run_ends_where_children_are_not_waited_for(self):
        ignored = lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        run = self.run_muster("--out", f"command=cat > {self.folder / 'points'}", yaml=self.load(), preexec_fn=ignored)
        self.assertEqual((run.code, run.summary["requests"]), (0, 20), run)
        self.assertGreater((self.folder / "points").stat().st_size, 0)

    def test_a_run_with_an_embedded_target_ends_there_too(self):
        ignored = lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        run = self.run_muster("--target", "embedded", yaml=self.load(), preexec_fn=ignored)
        self.assertEqual((run.code, run.summary["requests"]), (0, 20), run)

    def test_signals_that_were_blocked_end_a_run(self):
        every = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD, signal.SIGTSTP, signal.SIGWINCH}
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(signal=number):
                self.server.requests.clear()
                under = self.start(yaml=self.load("for: 20s"),
                                   preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_BLOCK, every))
                under.executor()
                wait_until(lambda: len(self.server.requests) > 20, what="some requests")
                under.signal(number)
                run = under.end()
                self.assertEqual((run.code, run.workflow()["state"]), (130, "aborted"), run)

    def test_closed_streams_are_not_taken_for_files(self):
        for streams in ((0,), (1,), (2,), (0, 1, 2)):
            with self.subTest(closed=streams):
                points = self.folder / "points.ndjson"
                points.unlink(missing_ok=True)

                def close():
                    for stream in streams:
                        os.close(stream)

                run = self.run_muster("--out", f"ndjson={points}", yaml=self.load(), preexec_fn=close)
                # Nothing of what is printed is in a file or on a connection; that it could not be printed is told.
                self.assertEqual(run.code, 1 if 1 in streams else 0, run)
                self.assertEqual((run.summary["requests"], run.summary["failed"]), (20, 0), run)
                lines = points.read_text().splitlines()
                self.assertTrue(lines)
                for line in lines:
                    self.assertTrue(line.startswith("{") and line.endswith("}"), line)


if __name__ == "__main__":
    unittest.main()
