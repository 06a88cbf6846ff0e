"""Whether the figures of a run agree with what it did, and with each other."""

import os
import signal
import threading
import time
import unittest

from harness import ProcessTest, response, wait_until


class Figures(ProcessTest):
    def setUp(self):
        super().setUp()
        self.failing = threading.Event()
        self.server = self.serve_http(lambda request: response("no", 500) if self.failing.is_set() else response("ok"))

    def go(self, workflows, *arguments, top="", code=0, limit=30):
        run = self.run_muster("--cores", "1", *arguments, limit=limit, yaml=f"""
muster: 1
target: {self.server.url}
{top}
workflows:
{workflows}
""")
        self.assertEqual(run.code, code, run)
        return run

    def test_a_loop_without_io_ends_with_its_load(self):
        run = self.go("""
  - name: w
    load: { vus: 1, for: 1s, grace: 1s }
    steps: [ { repeat: { while: "true" }, steps: [ { set: { x: 1 } } ] } ]
""", limit=10)
        self.assertLess(run.seconds, 5)
        self.assertEqual((run.workflow()["state"], run.workflow()["interrupted_iterations"]), ("completed", 1))

    def test_a_workflow_that_only_computes_counts_its_iterations(self):
        run = self.go("""
  - name: w
    load: { vus: 1, iterations: 1000 }
    steps: [ { metric: m, type: counter, value: 1 } ]
""", top="thresholds: [ iterations count == 1000, m count == 1000 ]")
        self.assertEqual(run.workflow()["iterations"], 1000)

    def test_a_warm_up_and_a_dependence_leave_whole_seconds_in_the_series(self):
        run = self.go("""
  - name: first
    load: { rate: 100/s, for: 1660ms, warm_up: 500ms }
    steps: [ { get: / } ]
  - name: then
    depends: [ first ]
    load: { rate: 100/s, for: 2500ms }
    steps: [ { get: / } ]
""", top="thresholds: [ { that: requests rate > 60/s, window: 1s, where: { workflow: then } } ]")
        first, then = run.workflow("first"), run.workflow("then")
        self.assertTrue(0.5 <= first["began_s"] <= 0.6 + 0.01, first["began_s"])
        self.assertGreater(then["began_s"], 1.6)
        for flow in (first, then):
            self.assertEqual(sum(point["requests"] for point in flow["series"]), flow["requests"])
            for point in flow["series"]:
                self.assertAlmostEqual(point["rate"], 100, delta=40, msg=str(point))
        self.assertTrue(run.summary["thresholds"][0]["judged"])

    def test_short_workflows_that_follow_each_other_have_the_rate_of_the_time_of_both(self):
        run = self.go("""
  - { name: first, load: { vus: 2, iterations: 6 }, steps: [ { get: / } ] }
  - { name: then, depends: [ first ], load: { vus: 2, iterations: 6 }, steps: [ { get: / } ] }
""")
        first, then = run.workflow("first"), run.workflow("then")
        between = then["began_s"] - first["began_s"]
        self.assertGreaterEqual(between, first["duration_s"] - 0.001)
        self.assertLessEqual(run.summary["rate"], 12 / between)

    def test_requests_that_all_began_in_the_warm_up_are_told_as_not_counted(self):
        run = self.run_muster("--url", f"{self.target()}/delay/600", "-c", "1", "-d", "500ms", "--warm-up", "400ms")
        self.assertEqual(run.code, 99)
        self.assertIn("none began after the warm-up", run.summary["reason"])

    def test_what_is_cut_short_at_the_end_is_judged_in_a_window(self):
        run = self.run_muster("--cores", "1", yaml=f"""
muster: 1
target: {self.target()}
thresholds:
  - {{ that: failed rate < 1%, window: 1s }}
  - {{ that: latency p95 < 300ms, window: 1s }}
load: {{ vus: 2, for: 1s, grace: 1s }}
steps: [ {{ get: / }}, {{ get: /stall }} ]
""")
        self.assertEqual(run.code, 99, run)
        self.assertEqual([each["passed"] for each in run.summary["thresholds"]], [False, False])

    def test_a_window_aborts_soon_after_it_failed(self):
        threading.Timer(1.5, self.failing.set).start()
        began = time.monotonic()
        run = self.go("""
  - name: w
    load: { rate: 100/s, for: 20s }
    steps: [ { get: / } ]
""", top="thresholds: [ { that: failed rate < 10%, window: 1s, abort: true } ]", code=99)
        verdict = run.summary["thresholds"][0]
        self.assertTrue(verdict["aborted"])
        self.assertLess(run.workflow()["duration_s"] - verdict["failed_at_s"], 0.9, run)
        self.assertLess(time.monotonic() - began, 6)

    def test_a_count_that_must_be_nothing_aborts(self):
        self.failing.set()
        run = self.go("""
  - name: w
    load: { rate: 50/s, for: 20s }
    steps: [ { get: / } ]
""", top="thresholds: [ { that: failed count == 0, abort: true } ]", code=99)
        self.assertLess(run.seconds, 5)

    def test_tags_of_the_run_go_with_steps_and_constant_tags(self):
        run = self.go("""
  - name: w
    load: { vus: 2, iterations: 10 each }
    steps:
      - { name: a, get: /a, tags: { lane: "${vu.id}", kind: read } }
      - { name: b, get: /b, tags: { lane: "${vu.id}" } }
""", top="""thresholds:
  - { that: requests count == 10, where: { lane: "1", step: a } }
  - { that: requests count == 10, where: { lane: "2", kind: read } }
  - { that: requests count == 20, where: { lane: "1" } }""")
        self.assertTrue(all(each["judged"] for each in run.summary["thresholds"]))
        self.assertEqual({row["tags"]: row["requests"] for row in run.workflow()["tagged"]}, {"lane=1": 20, "lane=2": 20})

    def test_unique_rows_are_given_out_once_in_the_run(self):
        self.write("rows.csv", "n\n" + "".join(f"{n}\n" for n in range(1, 7)))
        self.go("""
  - { name: a, load: { vus: 1, iterations: 3 }, steps: [ { get: "/${data.rows.n}" } ] }
  - { name: b, load: { vus: 1, iterations: 3 }, steps: [ { get: "/${data.rows.n}" } ] }
""", top="data: { rows: { csv: rows.csv, pick: unique } }")
        self.assertEqual(sorted(self.server.paths()), [f"/{n}" for n in range(1, 7)])

    def test_a_redirect_that_cannot_be_followed_has_a_time_and_a_latency(self):
        target = self.target()
        run = self.run_muster("--url", f"{target}/redirect-to?url=ftp://x/", "-n", "1")
        step = run.workflow()["steps"][0]
        self.assertGreaterEqual(step["samples"][0]["at_s"], 0)
        self.assertGreater(step["latency_us"]["max"], 0)

    def test_what_a_cancelled_request_sent_is_counted(self):
        target = self.target()
        run = self.run_muster("--url", f"{target}/stall", "-c", "2", "-d", "300ms", "--grace", "100ms")
        step = run.workflow()["steps"][0]
        self.assertEqual({name: count for name, count in step["errors"].items() if count}, {"cancelled": 2})
        self.assertGreater(step["bytes_out"], 100)
        self.assertEqual(step["connections"], 2)
        self.assertIn("GET /stall", step["samples"][0]["request"])

    def test_a_killed_executor_leaves_a_series_as_long_as_its_totals(self):
        under = self.start("--cores", "1", yaml=f"""
muster: 1
target: {self.server.url}
workflows: [ {{ name: w, load: {{ rate: 100/s, for: 1m }}, steps: [ {{ get: / }} ] }} ]
""")
        wait_until(lambda: len(self.server.requests) > 150, what="more than a second's worth")
        os.kill(under.executor(), signal.SIGKILL)
        run = under.end(limit=5)
        self.assertEqual(run.workflow()["state"], "lost")
        self.assertGreater(run.summary["requests"], 50)
        self.assertEqual(sum(point["requests"] for point in run.summary["series"]), run.summary["requests"])

    def test_arrivals_that_were_never_issued_stay_due(self):
        under = self.start("--cores", "1", yaml=f"""
muster: 1
target: {self.server.url}
workflows: [ {{ name: w, load: {{ rate: 400/s, for: 2s }}, steps: [ {{ get: / }} ] }} ]
""")
        wait_until(lambda: len(self.server.requests) > 50, what="some requests")
        executor = under.executor()
        os.kill(executor, signal.SIGSTOP)
        time.sleep(2.5)
        os.kill(executor, signal.SIGCONT)
        run = under.end(limit=8)
        self.assertEqual(run.workflow()["arrivals"], 800)
        self.assertLess(run.summary["requests"], 800)
        self.assertIn("never issued", run.out)
        self.assertIn("late", [mark["id"] for mark in run.summary["marks"]])


if __name__ == "__main__":
    unittest.main()
