// One picture with axes, drawn as SVG so that its colours follow the style sheet, also in print.

const SVG = 'http://www.w3.org/2000/svg';

function draw(parent, name, attributes, text) {
  const element = document.createElementNS(SVG, name);
  for (const key in attributes) element.setAttribute(key, attributes[key]);
  if (text !== undefined) element.textContent = text;
  parent.appendChild(element);
  return element;
}

function add(parent, name, className, text) {
  const element = document.createElement(name);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  parent.appendChild(element);
  return element;
}

let plots = 0;

// A figure: a line with title and legend above, the picture below. Places inside are in CSS pixels.
class Plot {
  constructor(parent, title, unit, height) {
    this.number = ++plots;
    this.figure = add(parent, 'figure');
    const head = add(this.figure, 'figcaption');
    add(head, 'b', '', title);
    if (unit) add(head, 'span', 'unit', unit);
    this.legend = add(head, 'span', 'legend');
    this.box = add(this.figure, 'div', 'box');
    this.svg = draw(this.box, 'svg', { role: 'img', 'aria-label': unit ? `${title}, ${unit}` : title });
    this.fullHeight = height;
    this.lowMargin = 8;
  }

  // The legend: entries of [key, label, class].
  setLegend(entries) {
    this.legend.textContent = '';
    this.values = {};
    for (const [key, label, className] of entries) {
      const item = add(this.legend, 'span', 'item');
      add(item, 'i', className);
      item.append(label);
      this.values[key] = add(item, 'output', '', '');
    }
  }

  // Empties the picture and fits it to its place. Returns whether there is any room.
  begin() {
    this.width = Math.max(240, Math.round(this.box.clientWidth) || 0);
    this.left = this.width < 520 ? 50 : 62;
    this.right = this.width - 14;
    this.top = 8;
    this.bottom = this.fullHeight - this.lowMargin;
    this.svg.setAttribute('viewBox', `0 0 ${this.width} ${this.fullHeight}`);
    this.svg.textContent = '';
    const clip = draw(draw(this.svg, 'defs'), 'clipPath', { id: `clip${this.number}` });
    draw(clip, 'rect', { x: this.left, y: this.top - 4, width: this.right - this.left, height: this.fullHeight });
    this.back = draw(this.svg, 'g', { class: 'grid' });
    this.inside = draw(this.svg, 'g', { 'clip-path': `url(#clip${this.number})` });
    this.front = draw(this.svg, 'g', { class: 'front' });
    return this.box.clientWidth > 0;
  }

  setX(from, until) {
    const scale = (this.right - this.left) / (until - from);
    this.x = (value) => this.left + (value - from) * scale;
  }

  // A vertical axis from 0, with round ticks.
  setLinearY(most, tickText) {
    const end = most > 0 ? most * 1.06 : 1;
    const scale = (this.bottom - this.top) / end;
    this.y = (value) => this.bottom - value * scale;
    this.drawRows(linearTicks(end, Math.max(2, Math.floor((this.bottom - this.top) / 28))), tickText);
  }

  setLogY(least, most, tickText) {
    const low = Math.log(least);
    const scale = (this.bottom - this.top) / (Math.log(most) - low);
    this.y = (value) => this.bottom - (Math.log(Math.max(value, least)) - low) * scale;
    this.drawRows(logTicks(least, most, Math.max(2, Math.floor((this.bottom - this.top) / 26))), tickText);
  }

  drawRows(ticks, tickText) {
    for (const tick of ticks) {
      const y = Math.round(this.y(tick)) + 0.5;
      draw(this.back, 'path', { d: `M${this.left} ${y}H${this.right}`, class: tick === 0 ? 'base' : 'row' });
      draw(this.back, 'text', { x: this.left - 7, y: y + 4, class: 'left' }, tickText(tick));
    }
  }

  drawColumns(ticks, tickText) {
    for (const tick of ticks) {
      const x = Math.round(this.x(tick)) + 0.5;
      draw(this.back, 'path', { d: `M${x} ${this.top}V${this.bottom}`, class: 'row' });
      if (!tickText) continue;
      const nearEnd = x > this.right - 18;
      draw(this.back, 'text', { x: nearEnd ? this.right : x, y: this.bottom + 16, class: nearEnd ? 'end' : 'middle' },
        tickText(tick));
    }
  }

  // A line through the points of a series, broken where nothing is known; `filled` also down to the base.
  drawSeries(series, from, until, className, filled) {
    let [first, last] = series.range(from, until);
    first = Math.max(0, first - 1); // the lines to the points just outside
    last = Math.min(series.values.length, last + 1);
    let line = '';
    let area = '';
    let begun = NONE;
    let x = 0;
    const close = () => {
      if (Number.isNaN(begun)) return;
      if (begun === x) line += 'h.01'; // a single point shows as a dot
      area += `V${this.bottom}H${begun}Z`;
      begun = NONE;
    };
    for (let i = first; i < last; i++) {
      const value = series.values[i];
      if (Number.isNaN(value)) {
        close();
        continue;
      }
      x = Math.round(this.x(series.middle(i)) * 10) / 10;
      const y = Math.round(this.y(value) * 10) / 10;
      if (Number.isNaN(begun)) {
        begun = x;
        line += `M${x} ${y}`;
        area += `M${x} ${this.bottom}V${y}`;
      } else {
        line += `L${x} ${y}`;
        area += `L${x} ${y}`;
      }
    }
    close();
    if (filled && area) draw(this.inside, 'path', { d: area, class: `area ${className}` });
    if (line) draw(this.inside, 'path', { d: line, class: `line ${className}` });
  }

  // Bars from the base, for counts that are mostly 0.
  drawBars(series, from, until, className) {
    const [first, last] = series.range(from, until);
    let bars = '';
    for (let i = first; i < last; i++) {
      if (!(series.values[i] > 0)) continue;
      const left = this.x(series.begin + i * series.width);
      const width = Math.max(1, this.x(series.begin + (i + 1) * series.width) - left - 0.5);
      const y = Math.min(this.y(series.values[i]), this.bottom - 1);
      bars += `M${left.toFixed(1)} ${this.bottom}V${y.toFixed(1)}h${width.toFixed(1)}V${this.bottom}Z`;
    }
    if (bars) draw(this.inside, 'path', { d: bars, class: `bars ${className}` });
  }
}

// The greatest number of several series between two times.
function greatest(list, from, until) {
  let most = 0;
  for (const series of list) {
    const [first, last] = series.range(from, until);
    for (let i = first; i < last; i++) if (series.values[i] > most) most = series.values[i];
  }
  return most;
}

function least(list, from, until) {
  let found = Infinity;
  for (const series of list) {
    const [first, last] = series.range(from, until);
    for (let i = first; i < last; i++) if (series.values[i] > 0 && series.values[i] < found) found = series.values[i];
  }
  return found;
}
