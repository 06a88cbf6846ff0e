// How latency is spread: how many requests took how long, and which share was faster than what.

const PER_DOUBLING = 8; // bars between a latency and twice of it

class Spread {
  constructor(parent) {
    this.bars = new Plot(parent, 'How many took how long', 'share of requests', 240);
    this.bars.lowMargin = 26;
    this.curve = new Plot(parent, 'Percentiles', 'latency', 240);
    this.curve.lowMargin = 26;
    this.bars.svg.addEventListener('pointermove', (event) => this.tellBar(event));
    this.curve.svg.addEventListener('pointermove', (event) => this.tellShare(event));
    for (const plot of [this.bars, this.curve]) {
      plot.svg.addEventListener('pointerleave', () => {
        plot.told.textContent = '';
        if (plot.over) plot.over.remove();
      });
    }
    new ResizeObserver(() => {
      if (parent.clientWidth !== this.drawnWidth) requestAnimationFrame(() => this.draw());
    }).observe(parent);
    this.parent = parent;
  }

  setData(data) {
    this.latency = counted(data.latency);
    this.service = counted(data.service);
    const entries = [['latency', data.open ? 'latency' : '', 'rate']];
    if (this.service.total > 0) entries.push(['service', 'service time', 'vus']);
    this.bars.legend.textContent = '';
    this.curve.setLegend(this.service.total > 0 ? entries : []);
    for (const plot of [this.bars, this.curve]) plot.told = add(plot.legend, 'output');
    this.draw();
  }

  draw() {
    if (!this.latency || this.latency.total === 0) return;
    this.drawnWidth = this.parent.clientWidth;
    if (this.bars.begin()) this.drawBars();
    if (this.curve.begin()) this.drawCurve();
  }

  drawBars() {
    const plot = this.bars;
    const { buckets, total } = this.latency;
    const folded = inBars(buckets);
    this.folded = folded;
    const lowest = barLower(Math.min(...folded.keys()));
    const highest = barLower(Math.max(...folded.keys()) + 1);
    const low = Math.log(lowest);
    const scale = (plot.right - plot.left) / (Math.log(highest) - low);
    plot.x = (seconds) => plot.left + (Math.log(Math.max(seconds, lowest)) - low) * scale;
    plot.time = (x) => Math.exp(low + (x - plot.left) / scale);
    plot.setLinearY(Math.max(...folded.values()) / total, (share) => `${Number((share * 100).toPrecision(3))} %`);
    plot.drawColumns(logTicks(lowest, highest, (plot.right - plot.left) / 70), latencyTick);
    let path = '';
    for (const [bar, count] of folded) {
      const left = plot.x(barLower(bar));
      const width = Math.max(1, plot.x(barLower(bar + 1)) - left - 1);
      path += `M${left.toFixed(1)} ${plot.bottom}V${plot.y(count / total).toFixed(1)}h${width.toFixed(1)}V${plot.bottom}Z`;
    }
    draw(plot.inside, 'path', { d: path, class: 'bars rate' });
    this.drawMarks(plot);
  }

  // Lines of percentiles that lie close together would cross each other's labels: those stand behind the last of them, or
  // before the first where there is no room, one under the other in the order of the lines.
  drawMarks(plot) {
    const room = 90; // what a label takes
    const marks = [['p50', 0.5], ['p95', 0.95], ['p99', 0.99]].map(([label, q]) => {
      const seconds = quantile(this.latency, q);
      return { label, x: plot.x(seconds), text: `${label} ${latencyText(seconds)}` };
    });
    marks.forEach((mark, row) => {
      let first = row;
      let last = row;
      while (first > 0 && marks[first].x - marks[first - 1].x < room) first--;
      while (last + 1 < marks.length && marks[last + 1].x - marks[last].x < room) last++;
      const turned = marks[last].x > plot.right - room;
      const x = turned ? marks[first].x - 4 : marks[last].x + 4;
      draw(plot.front, 'path', { d: `M${mark.x.toFixed(1)} ${plot.top}V${plot.bottom}`, class: `line thin ${mark.label}` });
      draw(plot.front, 'text', { x, y: plot.top + 10 + 14 * row, class: turned ? 'end' : 'start' }, mark.text);
    });
  }

  // Horizontally each step to the right is one more nine: 90 %, 99 %, 99.9 %.
  drawCurve() {
    const plot = this.curve;
    const lists = this.service.total > 0 ? [this.service, this.latency] : [this.latency];
    const nines = Math.max(1, Math.log10(this.latency.total));
    plot.setX(0, nines);
    plot.share = (x) => 1 - 10 ** -(((x - plot.left) / (plot.right - plot.left)) * nines);
    const low = Math.min(...lists.map((list) => bucketMiddle(list.buckets[0][0])));
    const high = Math.max(...lists.map((list) => bucketMiddle(list.buckets[list.buckets.length - 1][0])));
    plot.setLogY(Math.max(1e-9, low * 0.9), Math.max(high * 1.1, 2e-9), latencyTick);
    const ticks = [0, Math.log10(2)];
    const every = Math.max(1, Math.ceil((56 * nines) / (plot.right - plot.left))); // labels keep clear of each other
    for (let power = 1; power <= nines; power += every) ticks.push(power);
    plot.drawColumns(ticks.filter((tick) => tick !== Math.log10(2) || plot.x(tick) > plot.left + 34),
      (tick) => percentileLabel(1 - 10 ** -tick));
    for (const list of lists) {
      let path = '';
      let seen = 0;
      for (const [bucket, count] of list.buckets) {
        const y = plot.y(bucketMiddle(bucket)).toFixed(1);
        const from = plot.x(-Math.log10(Math.max(1 - seen / list.total, 1e-15)));
        seen += count;
        const until = Math.min(plot.right, plot.x(-Math.log10(Math.max(1 - seen / list.total, 1e-15))));
        path += `${path ? 'L' : 'M'}${from.toFixed(1)} ${y}L${until.toFixed(1)} ${y}`;
      }
      draw(plot.inside, 'path', { d: path, class: `line ${list === this.latency ? 'rate' : 'vus'}` });
    }
  }

  place(plot, event) {
    const bounds = plot.svg.getBoundingClientRect();
    const x = ((event.clientX - bounds.left) / bounds.width) * plot.width;
    if (plot.over) plot.over.remove();
    plot.over = draw(plot.svg, 'g', { class: 'over' });
    if (x < plot.left || x > plot.right || !this.latency) return null;
    draw(plot.over, 'path', { d: `M${x.toFixed(1)} ${plot.top}V${plot.bottom}`, class: 'cursor' });
    return x;
  }

  tellBar(event) {
    const x = this.place(this.bars, event);
    this.bars.told.textContent = '';
    if (x === null) return;
    for (const [bar, count] of this.folded) {
      const from = barLower(bar);
      const until = barLower(bar + 1);
      const time = this.bars.time(x);
      if (time < from || time >= until) continue;
      this.bars.told.textContent = `${shareText(count / this.latency.total)} took ${latencyTick(from)} to ${latencyTick(until)}`;
    }
  }

  tellShare(event) {
    const x = this.place(this.curve, event);
    this.curve.told.textContent = '';
    if (x === null) return;
    const share = this.curve.share(x);
    const service = this.service.total > 0 ? `, service ${latencyText(quantile(this.service, share))}` : '';
    this.curve.told.textContent = `${percentileLabel(share)} ${latencyText(quantile(this.latency, share))}${service}`;
  }
}

function barLower(bar) {
  return 2 ** (bar / PER_DOUBLING) * 1e-9;
}

// Buckets are of equal width within a doubling, bars are so on the logarithmic axis: a bucket between two bars is shared.
function inBars(buckets) {
  const place = (seconds) => Math.log2(Math.max(1, seconds * 1e9)) * PER_DOUBLING;
  const folded = new Map();
  for (const [bucket, count] of buckets) {
    const from = place(bucketLower(bucket));
    const until = Math.max(place(bucketLower(bucket + 1)), from + 1e-9);
    for (let bar = Math.floor(from); bar < until; bar++) {
      const share = (Math.min(until, bar + 1) - Math.max(from, bar)) / (until - from);
      folded.set(bar, (folded.get(bar) || 0) + share * count);
    }
  }
  return folded;
}

function counted(buckets) {
  return { buckets, total: buckets.reduce((sum, [, count]) => sum + count, 0) };
}

function quantile(list, q) {
  const rank = Math.max(1, Math.ceil(q * list.total - 1e-9));
  let seen = 0;
  for (const [bucket, count] of list.buckets) {
    seen += count;
    if (seen >= rank) return bucketMiddle(bucket);
  }
  return NONE;
}

// p50, p99.9: as many nines as it takes.
function percentileLabel(share) {
  if (share <= 0) return 'min';
  const digits = Math.max(0, Math.ceil(-Math.log10(1 - share) - 1e-9) - 2);
  return `p${Number((share * 100).toFixed(Math.min(6, digits + (share < 0.9 ? 0 : 1))))}`;
}
