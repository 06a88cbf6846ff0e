// Time × latency: how many requests took how long when. The cells are painted on a canvas below the axes.

const RAMPS = {
  light: [[226, 238, 249], [158, 202, 225], [66, 146, 198], [8, 81, 156], [8, 38, 92]],
  dark: [[24, 44, 68], [28, 84, 134], [43, 140, 190], [127, 208, 210], [250, 240, 160]],
};

function rampColour(ramp, share) {
  const place = Math.min(0.9999, Math.max(0, share)) * (ramp.length - 1);
  const low = Math.floor(place);
  const part = place - low;
  const mixed = ramp[low].map((value, i) => Math.round(value + (ramp[low + 1][i] - value) * part));
  return `rgb(${mixed.join(',')})`;
}

class HeatMap {
  constructor(plot) {
    this.plot = plot;
    this.canvas = document.createElement('canvas');
    plot.box.prepend(this.canvas);
    this.dark = matchMedia('(prefers-color-scheme: dark)');
  }

  setHeat(heat) {
    this.heat = heat;
    let low = Infinity;
    let high = -Infinity;
    this.most = 1;
    for (const column of heat.columns) {
      for (const [row, count] of column) {
        low = Math.min(low, row);
        high = Math.max(high, row);
        this.most = Math.max(this.most, count);
      }
    }
    this.empty = low > high;
    this.low = this.empty ? 0 : low;
    this.high = this.empty ? 1 : high;
  }

  rowLower(row) {
    return 2 ** (row / 4) * 1e-9;
  }

  // Call between the plot's setX and the drawing of what lies above.
  paint(from, until) {
    const plot = this.plot;
    const width = plot.right - plot.left;
    const height = plot.bottom - plot.top;
    plot.setLogY(this.rowLower(this.low), this.rowLower(this.high + 1), latencyTick);
    const style = this.canvas.style;
    style.left = `${(100 * plot.left) / plot.width}%`;
    style.width = `${(100 * width) / plot.width}%`;
    style.top = `${(100 * plot.top) / plot.fullHeight}%`;
    style.height = `${(100 * height) / plot.fullHeight}%`;
    const ratio = Math.min(3, window.devicePixelRatio || 1);
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    if (this.empty) return;
    const pen = this.canvas.getContext('2d');
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    const ramp = RAMPS[this.dark.matches ? 'dark' : 'light'];
    const scale = Math.log1p(this.most);
    const { begin, columns, width: seconds } = this.heat;
    const first = Math.max(0, Math.floor((from - begin) / seconds));
    const last = Math.min(columns.length, Math.ceil((until - begin) / seconds));
    for (let i = first; i < last; i++) {
      // Edges on whole device pixels, so that no seam shows between cells.
      const left = this.snapped(plot.x(begin + i * seconds) - plot.left, ratio);
      const right = this.snapped(plot.x(begin + (i + 1) * seconds) - plot.left, ratio);
      for (const [row, count] of columns[i]) {
        const top = this.snapped(plot.y(this.rowLower(row + 1)) - plot.top, ratio);
        const bottom = this.snapped(plot.y(this.rowLower(row)) - plot.top, ratio);
        pen.fillStyle = rampColour(ramp, Math.log1p(count) / scale);
        pen.fillRect(left, top, Math.max(right - left, 1 / ratio), Math.max(bottom - top, 1 / ratio));
      }
    }
  }

  snapped(value, ratio) {
    return Math.round(value * ratio) / ratio;
  }

  // What lies at a time and a height of the picture, as a sentence.
  text(time, y) {
    const column = this.heat.columns[Math.floor((time - this.heat.begin) / this.heat.width)];
    if (this.empty || !column || y < this.plot.top || y > this.plot.bottom) return '';
    for (let row = this.low; row <= this.high; row++) {
      if (y < this.plot.y(this.rowLower(row + 1)) || y > this.plot.y(this.rowLower(row))) continue;
      const found = column.find(([each]) => each === row);
      const range = `${latencyTick(this.rowLower(row))} to ${latencyTick(this.rowLower(row + 1))}`;
      return `${found ? countText(found[1]) : 'no'} requests, ${range}`;
    }
    return '';
  }

  // A strip of the colours for the legend.
  drawKey(parent) {
    add(parent, 'span', 'item', 'few');
    const strip = add(parent, 'canvas', 'ramp');
    strip.width = 64;
    strip.height = 8;
    add(parent, 'span', 'item', 'many requests');
    this.strip = strip;
  }

  paintKey() {
    const pen = this.strip.getContext('2d');
    const ramp = RAMPS[this.dark.matches ? 'dark' : 'light'];
    for (let x = 0; x < 64; x++) {
      pen.fillStyle = rampColour(ramp, x / 63);
      pen.fillRect(x, 0, 1, 8);
    }
  }
}
