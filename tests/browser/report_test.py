"""The HTML report in a real Chromium: it opens without a complaint and without a request, fits a phone, zooms by mouse and
keyboard, works without scripts, and is quick even for an hour of a hundred steps. Screenshots stay in the build folder."""

import functools
import http.server
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from chromium import Chromium

ROOT = pathlib.Path(__file__).resolve().parents[2]
MUSTER = os.environ.get("MUSTER", str(ROOT / "build/release/muster"))
SAMPLES = os.environ.get("SAMPLE_REPORTS", str(ROOT / "build/release/sample_reports"))
PICTURES = pathlib.Path(os.environ.get("SCREENSHOTS", ROOT / "build/screenshots"))

JOB = """
muster: 1
name: a real run
target: http://127.0.0.1:1
thresholds: [ latency p95 < 10s ]
load: { vus: 4, for: 2s }
steps:
  - { name: json, get: /json, check: { status: 200 } }
  - { name: missing, get: /status/404 }
"""


class ReportTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        PICTURES.mkdir(parents=True, exist_ok=True)
        cls.folder = tempfile.TemporaryDirectory(prefix="muster-reports-")
        cls.addClassCleanup(cls.folder.cleanup)
        made = subprocess.run([SAMPLES, cls.folder.name], capture_output=True, text=True, timeout=500, check=True)
        facts = [json.loads(line) for line in made.stdout.splitlines()]
        cls.made = {pathlib.Path(each["file"]).name: each for each in facts}
        cls.browser = Chromium()
        cls.addClassCleanup(cls.browser.close)

    def page(self, name="checkout.html", ready=True, **options):
        page = self.browser.page(**options)
        self.addCleanup(page.close)
        page.url = (pathlib.Path(self.folder.name) / name).as_uri()
        page.open(page.url)
        if ready:
            self.await_ready(page)
        return page

    def await_ready(self, page):
        end = time.monotonic() + 20
        while page.value("document.documentElement.dataset.ready") != "true":
            self.assertLess(time.monotonic(), end, f"the page never became ready: {page.complaints()}")
        page.drawn()

    def assert_quiet(self, page):
        self.assertEqual(page.complaints(), [])
        self.assertEqual(page.requests(), [page.url])

    def view(self, page):
        data = page.value("({...document.getElementById('stack').dataset})")
        return float(data["from"]), float(data["until"])

    def labels(self, page):
        return page.value("[...document.querySelectorAll('#stack figure:last-child .grid text')].map(t => t.textContent)")

    def chart(self, page, number=1):
        """Left, right and middle height of a chart on the screen, scrolled to."""
        page.value("document.getElementById('timeline').scrollIntoView({behavior: 'instant'})")
        box = page.value(f"""(() => {{
            const box = document.querySelectorAll('#stack .box')[{number - 1}].getBoundingClientRect();
            return [box.left, box.right, (box.top + box.bottom) / 2]; }})()""")
        return box[0] + 70, box[1] - 20, box[2]

    def test_opens_at_any_width_without_a_complaint_or_a_request(self):
        for width, dark in ((1280, False), (1280, True), (380, False), (380, True)):
            with self.subTest(width=width, dark=dark):
                page = self.page(width=width, dark=dark)
                page.screenshot(PICTURES / f"report-{width}{'-dark' if dark else ''}.png")
                self.assert_quiet(page)
                self.assertLessEqual(page.value("document.documentElement.scrollWidth"), width, "the page scrolls sideways")
                self.assertGreater(page.value("document.querySelectorAll('#stack path.line').length"), 4)
                self.assertIn("FAILED", page.value("document.querySelector('.verdict').innerText"))

    def test_dragging_zooms_all_charts_and_every_way_back_works(self):
        page = self.page()
        whole, labels = self.view(page), self.labels(page)
        left, right, y = self.chart(page)
        ways = {
            "double click": lambda: page.double_click((left + right) / 2, y),
            "escape": lambda: page.press("Escape"),
            "button": lambda: page.value("document.getElementById('reset').click()"),
        }
        for name, back in ways.items():
            with self.subTest(way=name):
                self.assertTrue(page.value("document.getElementById('reset').disabled"))
                page.drag(left + (right - left) * 0.25, left + (right - left) * 0.5, y)
                zoomed = self.view(page)
                self.assertAlmostEqual(zoomed[0], 150, delta=8)
                self.assertAlmostEqual(zoomed[1], 300, delta=8)
                self.assertNotEqual(self.labels(page), labels, "the axis shows other times")
                self.assertFalse(page.value("document.getElementById('reset').disabled"))
                if name == "escape":
                    page.screenshot(PICTURES / "report-zoomed.png", whole=False)
                back()
                page.drawn()
                self.assertEqual(self.view(page), whole)
                self.assertEqual(self.labels(page), labels)
        self.assert_quiet(page)

    def test_the_keyboard_moves_the_line_and_zooms(self):
        page = self.page()
        whole = self.view(page)
        page.value("document.getElementById('stack').focus()")
        page.press("ArrowRight")
        first = page.value("document.getElementById('readout').textContent")
        self.assertRegex(first, r"^at \d+:\d\d, requests [\d.,]+/s, users \d+, p99 .*p50 [\d.]+ ms")
        page.press("ArrowRight")
        self.assertNotEqual(page.value("document.getElementById('readout').textContent"), first)
        page.press("+")
        narrower = self.view(page)
        self.assertAlmostEqual(narrower[1] - narrower[0], (whole[1] - whole[0]) / 2, delta=1)
        page.press("ArrowRight", shift=True)
        self.assertGreater(self.view(page)[0], narrower[0])
        page.press("-")
        page.press("-")
        self.assertEqual(self.view(page), whole)
        self.assert_quiet(page)

    def test_pointing_at_a_chart_tells_the_values_there(self):
        page = self.page()
        left, right, y = self.chart(page, 3)
        page.mouse("mouseMoved", left + (right - left) * 0.6, y)
        page.drawn()
        told = page.value("[...document.querySelectorAll('#stack output')].map(o => o.textContent)")
        self.assertTrue(all(told), told)
        page.screenshot(PICTURES / "report-pointing.png", whole=False)
        self.assert_quiet(page)

    def test_no_line_crosses_the_label_of_a_percentile(self):
        # How far each label of the distribution reaches, and where the lines of the percentiles are.
        places = """(() => {
            const front = document.querySelector('#spread figure .front');
            const box = each => each.getBoundingClientRect();
            return [[...front.querySelectorAll('text')].map(t => [t.textContent, box(t).left, box(t).right, box(t).top, box(t).bottom]),
                    [...front.querySelectorAll('path.line')].map(p => box(p).left)]; })()"""
        for name in ("steady.html", "checkout.html"):
            for width in (1280, 380):
                with self.subTest(name=name, width=width):
                    page = self.page(name, width=width)
                    labels, lines = page.value(places)
                    self.assertEqual([label[0].split()[0] for label in labels], ["p50", "p95", "p99"])
                    for text, left, right, _, _ in labels:
                        self.assertEqual([x for x in lines if left < x < right], [], text)
                    for above, below in zip(labels, labels[1:]):
                        self.assertTrue(above[4] <= below[3] + 2 or above[2] < below[1] or below[2] < above[1], (above, below))
                    page.screenshot(PICTURES / f"distribution-{name[:-5]}-{width}.png")

    def test_tables_are_sorted_by_their_headings(self):
        page = self.page()
        names = "[...document.querySelectorAll('#steps tbody th')].map(t => t.textContent)"
        written = page.value(names)
        heading = "[...document.querySelectorAll('#steps thead th')].find(t => t.textContent === 'p95')"
        orders = []
        for _ in range(3):
            page.value(f"{heading}.querySelector('button').click()")
            orders.append((page.value(f"{heading}.getAttribute('aria-sort')"), page.value(names)))
        self.assertEqual([order for order, _ in orders], ["descending", "ascending", None])
        self.assertEqual(orders[0][1][0], "POST /cart")
        self.assertEqual(orders[1][1], orders[0][1][::-1])
        self.assertEqual(orders[2][1], written)
        self.assert_quiet(page)

    def test_a_step_in_a_table_leads_to_its_charts(self):
        page = self.page()
        before = page.value("document.querySelector('#stack path.line').getAttribute('d')")
        page.value("[...document.querySelectorAll('button.scope')].find(b => b.textContent === 'POST /pay').click()")
        page.drawn()
        self.assertEqual(page.value("document.getElementById('scope').selectedOptions[0].text"), "POST /pay")
        self.assertNotEqual(page.value("document.querySelector('#stack path.line').getAttribute('d')"), before)
        self.assertEqual(page.value("document.querySelectorAll('#stack path.line.max').length"), 0)
        page.value("document.getElementById('log-scale').click()")
        page.drawn()
        self.assertEqual(page.value("document.querySelectorAll('#stack path.line.max').length"), 1)
        self.assert_quiet(page)

    def test_without_scripts_the_verdict_and_the_tables_remain(self):
        page = self.page(ready=False, scripts=False)
        page.screenshot(PICTURES / "report-no-scripts.png")
        # Scripts of the page are off, ours still may look.
        text = page.value("document.body.innerText")
        for part in ("FAILED", "checkout.yaml", "POST /cart", "latency p95 < 300ms", "status 503", "scripts are off here"):
            self.assertIn(part, text)
        self.assertFalse(page.value("document.getElementById('charts').checkVisibility()"))
        self.assertEqual(page.requests(), [page.url])

    def test_names_that_try_to_be_html_stay_text(self):
        page = self.page("hostile.html")
        self.assert_quiet(page)
        self.assertEqual(page.value("document.images.length + document.querySelectorAll('[onerror]').length"), 0)
        self.assertEqual(page.value("document.scripts.length"), 2)
        self.assertIn("<img src=x onerror=alert(1)>", page.value("document.querySelector('h1').textContent"))
        self.assertIn("<img src=x onerror=alert(1)>", page.value("document.getElementById('scope').options[1].text"))
        narrow = self.page("hostile.html", width=380)
        narrow.screenshot(PICTURES / "report-hostile-380.png")
        self.assertLessEqual(narrow.value("document.documentElement.scrollWidth"), 380)

    def test_an_hour_of_a_hundred_steps_is_small_and_opens_at_once(self):
        made = self.made["hour.html"]
        self.assertLess(made["bytes"], 5_000_000)
        opened = []
        for _ in range(3):
            page = self.page("hour.html")
            opened.append(page.value("performance.now()") / 1000)
            self.assert_quiet(page)
        print(f"hour.html: {made['bytes'] / 1e6:.2f} MB, made in {made['seconds']:.2f} s, opened in {min(opened):.2f} s",
              file=sys.stderr)
        self.assertLess(min(opened), 2.0)
        page.screenshot(PICTURES / "report-hour.png", whole=False)

    def test_served_by_a_web_server_it_asks_for_nothing_else(self):
        asked = []

        class Handler(http.server.SimpleHTTPRequestHandler):
            def log_message(self, *_):
                asked.append(self.path)

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=self.folder.name))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        page = self.browser.page()
        self.addCleanup(page.close)
        page.url = f"http://127.0.0.1:{server.server_port}/checkout.html"
        page.open(page.url)
        self.await_ready(page)
        self.assert_quiet(page)
        self.assertEqual(asked, ["/checkout.html"])

    def test_the_report_of_a_real_run_shows_what_the_summary_says(self):
        folder = pathlib.Path(self.folder.name)
        (folder / "job.yaml").write_text(JOB)
        run = subprocess.run(
            [MUSTER, "run", "job.yaml", "--target", "embedded", "--ui", "none", "--out", "html=real.html", "--out",
             "json=real.json"], cwd=folder, capture_output=True, text=True, timeout=60)
        # Its last step fails each time, and with it every iteration.
        self.assertEqual(run.returncode, 99, run.stdout + run.stderr)
        summary = json.loads((folder / "real.json").read_text())
        page = self.page("real.html")
        self.assert_quiet(page)
        cells = "[...document.querySelectorAll('#steps tbody tr')].map(r => Number(r.cells[2].dataset.v))"
        self.assertEqual(page.value(cells), [step["requests"] for step in summary["workflows"][0]["steps"]])
        page.screenshot(PICTURES / "report-real.png")


if __name__ == "__main__":
    unittest.main()
