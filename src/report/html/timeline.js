// The charts over time: one stack, one time axis, one zoom and one line to read values at.

// What is drawn of a scope's data. `kind` says how.
const CHARTS = [
  {
    title: 'Requests', unit: 'per second', height: 150, tick: countTick, text: (value) => `${countText(value)}/s`,
    series: [{ key: 'rate', label: 'requests', kind: 'area' }],
  },
  {
    title: 'Virtual users', unit: 'active', height: 110, tick: countTick, text: countText,
    series: [{ key: 'vus', label: 'users', kind: 'area' }],
  },
  {
    title: 'Latency', unit: 'percentiles', height: 220, tick: latencyTick, text: latencyText, latency: true,
    series: [
      { key: 'max', label: 'max', kind: 'line', logOnly: true },
      { key: 'p99', label: 'p99', kind: 'line' },
      { key: 'p95', label: 'p95', kind: 'line' },
      { key: 'p50', label: 'p50', kind: 'line' },
    ],
  },
  {
    title: 'Errors', unit: 'per second', height: 110, tick: countTick, text: (value) => `${countText(value)}/s`,
    series: [{ key: 'failed', label: 'failed', kind: 'bars' }, { key: 'dropped', label: 'dropped', kind: 'line' }],
  },
];

class Timeline {
  constructor(stack, readout, report) {
    this.stack = stack;
    this.readout = readout;
    this.report = report;
    this.logScale = false;
    this.cursor = null; // a time, or null
    this.drag = null; // { from, until } while the user drags
    this.onZoom = () => {};
    this.charts = CHARTS.map((chart) => ({ ...chart, plot: new Plot(stack, chart.title, chart.unit, chart.height) }));
    const heatPlot = new Plot(stack, 'Latency heat map', 'requests by time and latency', 230);
    heatPlot.lowMargin = 24;
    this.heatMap = new HeatMap(heatPlot);
    this.heatMap.drawKey(heatPlot.legend);
    this.heatText = add(heatPlot.legend, 'output');
    this.heatPlot = heatPlot;
    this.plots = [...this.charts.map((chart) => chart.plot), heatPlot];
    this.showAll();
    this.listen();
  }

  setScope(index) {
    this.data = this.report.scope(index);
    this.heatMap.setHeat(this.data.heat);
    this.chooseSeries();
  }

  // The slowest single requests would press all other lines to the ground of a linear axis.
  chooseSeries() {
    for (const chart of this.charts) {
      chart.shown = chart.series.filter(({ key, logOnly }) => {
        if (!this.data[key] || (logOnly && !this.logScale)) return false;
        return key !== 'dropped' || this.data.anyDropped;
      });
      chart.plot.setLegend(chart.shown.map(({ key, label }) => [key, label, key]));
    }
    this.redraw();
  }

  setLogScale(wanted) {
    this.logScale = wanted;
    this.chooseSeries();
  }

  showAll() {
    this.setView(this.report.begin, this.report.end);
  }

  get zoomed() {
    return this.from > this.report.begin || this.until < this.report.end;
  }

  // The least that can be looked at is a few points; what lies outside of the run is not shown.
  setView(from, until) {
    const { begin, end } = this.report;
    const span = Math.min(end - begin, Math.max(until - from, 3 * (this.data ? this.data.width : 1)));
    const middle = (from + until) / 2;
    this.from = Math.min(Math.max(begin, middle - span / 2), end - span);
    this.until = this.from + span;
    this.stack.dataset.from = this.from.toFixed(3);
    this.stack.dataset.until = this.until.toFixed(3);
    this.onZoom(this.zoomed);
    if (this.data) this.redraw();
  }

  redraw() {
    if (this.waiting) return;
    this.waiting = requestAnimationFrame(() => {
      this.waiting = 0;
      this.drawNow();
    });
  }

  drawNow() {
    if (!this.data) return;
    this.drawnWidth = this.stack.clientWidth;
    for (const chart of this.charts) this.drawChart(chart);
    const plot = this.heatPlot;
    plot.begin();
    plot.setX(this.from, this.until);
    this.heatMap.paint(this.from, this.until);
    this.heatMap.paintKey();
    this.drawTimes(plot, true);
    this.drawCursor();
  }

  drawTimes(plot, labelled) {
    const ticks = timeTicks(this.from, this.until, (plot.right - plot.left) / 84);
    plot.drawColumns(ticks, labelled ? clockText : null);
  }

  drawChart(chart) {
    const { plot } = chart;
    const quiet = chart.title === 'Errors' && !this.data.anyFailed && !this.data.anyDropped;
    plot.fullHeight = quiet ? 44 : chart.height;
    plot.begin();
    plot.setX(this.from, this.until);
    this.drawTimes(plot, false);
    if (quiet) {
      plot.y = () => plot.bottom;
      draw(plot.back, 'path', { d: `M${plot.left} ${plot.bottom + 0.5}H${plot.right}`, class: 'base' });
      draw(plot.front, 'text', { x: plot.left + 8, y: plot.bottom - 8, class: 'calm' }, 'nothing failed');
      return;
    }
    const lists = chart.shown.map(({ key }) => this.data[key]);
    const most = greatest(lists, this.from, this.until);
    const low = least(lists, this.from, this.until);
    if (chart.latency && this.logScale && low < most) {
      plot.setLogY(low * 0.9, most * 1.1, chart.tick);
    } else {
      plot.setLinearY(most, chart.tick);
    }
    for (const { key, kind } of chart.shown) {
      if (kind === 'bars') plot.drawBars(this.data[key], this.from, this.until, key);
      else plot.drawSeries(this.data[key], this.from, this.until, key, kind === 'area');
    }
    if (chart.latency) this.drawMarks(plot);
  }

  // When a threshold first failed.
  drawMarks(plot) {
    let lastEnd = -Infinity;
    for (const mark of [...this.report.marks].sort((a, b) => a.at - b.at)) {
      if (mark.at < this.from || mark.at > this.until) continue;
      const x = plot.x(mark.at);
      draw(plot.front, 'path', { d: `M${x.toFixed(1)} ${plot.top}V${plot.bottom}`, class: 'mark' });
      if (x < lastEnd) continue;
      const turned = x > (plot.left + plot.right) / 2;
      const text = draw(plot.front, 'text',
        { x: turned ? x - 5 : x + 5, y: plot.top + 10, class: turned ? 'mark end' : 'mark' }, `✗ ${mark.text}`);
      lastEnd = turned ? x : x + text.getComputedTextLength() + 12;
    }
  }

  drawCursor() {
    for (const plot of this.plots) {
      if (plot.over) plot.over.remove();
      plot.over = draw(plot.svg, 'g', { class: 'over' });
      if (this.drag) {
        const left = Math.max(plot.left, plot.x(Math.min(this.drag.from, this.drag.until)));
        const right = Math.min(plot.right, plot.x(Math.max(this.drag.from, this.drag.until)));
        draw(plot.over, 'rect',
          { x: left, y: plot.top, width: Math.max(0, right - left), height: plot.bottom - plot.top, class: 'chosen' });
      }
      if (this.cursor === null) continue;
      const x = plot.x(this.cursor).toFixed(1);
      draw(plot.over, 'path', { d: `M${x} ${plot.top}V${plot.bottom}`, class: 'cursor' });
    }
    for (const chart of this.charts) {
      for (const { key } of chart.shown) this.tell(chart, key);
    }
    this.heatText.textContent = this.cursor === null ? '' : clockText(this.cursor);
  }

  // The value of one series at the cursor: in the legend, and as a dot.
  tell(chart, key) {
    const { plot } = chart;
    if (this.cursor === null) {
      plot.values[key].textContent = '';
      return;
    }
    const value = this.data[key].at(this.cursor);
    plot.values[key].textContent = chart.text(value);
    if (Number.isNaN(value)) return;
    const y = plot.y(value);
    if (y >= plot.top - 1) draw(plot.over, 'circle', { cx: plot.x(this.cursor), cy: y, r: 3, class: `dot ${key}` });
  }

  // On the middle of a point, where the lines have their corners.
  setCursor(time) {
    if (time === null) {
      this.cursor = null;
    } else {
      const { rate } = this.data;
      const i = Math.min(Math.max(rate.index(time), 0), rate.values.length - 1);
      this.cursor = rate.middle(i);
    }
    this.drawCursor();
  }

  sentence() {
    const parts = [`at ${clockText(this.cursor)}`];
    for (const chart of this.charts) {
      for (const { key, label } of chart.shown) parts.push(`${label} ${chart.text(this.data[key].at(this.cursor))}`);
    }
    return parts.join(', ');
  }

  timeAt(event) {
    const plot = this.heatPlot;
    const bounds = plot.svg.getBoundingClientRect();
    const x = ((event.clientX - bounds.left) / bounds.width) * plot.width;
    const share = (x - plot.left) / (plot.right - plot.left);
    return { share, time: this.from + Math.min(1, Math.max(0, share)) * (this.until - this.from) };
  }

  listen() {
    const { stack } = this;
    stack.addEventListener('pointerdown', (event) => this.press(event));
    stack.addEventListener('pointermove', (event) => this.move(event));
    stack.addEventListener('pointerup', (event) => this.release(event));
    stack.addEventListener('pointercancel', () => this.endDrag());
    stack.addEventListener('pointerleave', () => {
      if (!this.drag) this.setCursor(null);
    });
    stack.addEventListener('dblclick', () => this.showAll());
    stack.addEventListener('keydown', (event) => this.key(event));
    new ResizeObserver(() => {
      if (stack.clientWidth !== this.drawnWidth) this.redraw();
    }).observe(stack);
    this.heatMap.dark.addEventListener('change', () => this.redraw());
  }

  press(event) {
    if (event.button !== 0 || !event.target.closest('.box')) return;
    const { share, time } = this.timeAt(event);
    if (share < 0 || share > 1) return;
    this.pressed = { x: event.clientX, time };
    this.stack.setPointerCapture(event.pointerId);
  }

  move(event) {
    const { share, time } = this.timeAt(event);
    if (this.pressed && (this.drag || Math.abs(event.clientX - this.pressed.x) > 5)) {
      this.drag = { from: this.pressed.time, until: time };
    }
    this.setCursor(share < 0 || share > 1 ? null : time);
    const bounds = this.heatPlot.svg.getBoundingClientRect();
    const y = ((event.clientY - bounds.top) / bounds.height) * this.heatPlot.fullHeight;
    const cell = this.cursor === null ? '' : this.heatMap.text(time, y);
    if (cell) this.heatText.textContent = `${clockText(time)} · ${cell}`;
  }

  release() {
    const { drag } = this;
    this.endDrag();
    if (drag) this.setView(Math.min(drag.from, drag.until), Math.max(drag.from, drag.until));
  }

  endDrag() {
    this.pressed = null;
    this.drag = null;
    this.drawCursor();
  }

  key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey || !this.data) return;
    const span = this.until - this.from;
    const middle = this.cursor === null ? (this.from + this.until) / 2 : this.cursor;
    const along = event.key === 'ArrowLeft' ? -1 : 1;
    switch (event.key) {
      case 'ArrowLeft':
      case 'ArrowRight':
        if (event.shiftKey) {
          this.setView(this.from + along * span * 0.2, this.until + along * span * 0.2);
          return event.preventDefault();
        }
        this.setCursor(Math.min(this.until, Math.max(this.from, middle + along * Math.max(this.data.width, span / 100))));
        break;
      case 'Home':
        this.setCursor(this.from);
        break;
      case 'End':
        this.setCursor(this.until);
        break;
      case '+':
      case '=':
        this.setView(middle - span / 4, middle + span / 4);
        break;
      case '-':
        this.setView(middle - span, middle + span);
        break;
      case 'Escape':
        this.endDrag();
        this.showAll();
        break;
      default:
        return undefined;
    }
    event.preventDefault();
    this.readout.textContent = this.cursor === null ? '' : this.sentence();
    return undefined;
  }
}
