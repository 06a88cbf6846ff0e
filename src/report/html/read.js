// Reads what the charts are drawn from. The form of the bytes is told in timeline_data.h.

const NONE = NaN; // a point that nothing is known of; lines leave a gap there

const SLIVER = 0.1; // s: less of a point tells nothing about its rate

class Reader {
  constructor(text) {
    const binary = atob(text);
    this.bytes = new Uint8Array(binary.length);
    for (let i = 0; i < binary.length; i++) this.bytes[i] = binary.charCodeAt(i);
    this.at = 0;
  }

  number() {
    let value = 0;
    for (let factor = 1; this.at < this.bytes.length; factor *= 128) {
      const byte = this.bytes[this.at++];
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
    throw new Error('the data of this report ends too soon');
  }

  difference() {
    const number = this.number();
    return number % 2 === 1 ? -(number + 1) / 2 : number / 2;
  }

  column(points) {
    const values = new Float64Array(points);
    let value = 0;
    for (let i = 0; i < points; i++) values[i] = value += this.difference();
    return values;
  }

  // [[index, count], …], ascending.
  sparse() {
    const pairs = [];
    let next = 0;
    for (let left = this.number(); left > 0; left--) {
      const index = next + this.number();
      pairs.push([index, this.number()]);
      next = index + 1;
    }
    return pairs;
  }
}

// The coarse layout of latencies (metrics/log_linear.h with 6 bits): bounds of bucket i in seconds.
function bucketLower(i) {
  const octave = i < 128 ? 0 : Math.floor(i / 64) - 1;
  return (i - octave * 64) * 2 ** octave * 1e-9;
}

function bucketMiddle(i) {
  return (bucketLower(i) + bucketLower(i + 1)) / 2;
}

// A series over time: point i holds [begin + i·width, begin + (i+1)·width).
class Series {
  constructor(begin, width, values) {
    this.begin = begin;
    this.width = width;
    this.values = values;
  }

  index(time) {
    return Math.floor((time - this.begin) / this.width);
  }

  middle(i) {
    return this.begin + (i + 0.5) * this.width;
  }

  at(time) {
    const value = this.values[this.index(time)];
    return value === undefined ? NONE : value;
  }

  // First and one behind the last index of the points that are seen between two times.
  range(from, until) {
    const first = Math.max(0, this.index(from));
    return [first, Math.min(this.values.length, this.index(until) + 1)];
  }
}

// All that is shown of one scope; decoded when it is first looked at.
class ScopeData {
  constructor(report, scope) {
    const reader = new Reader(scope.bytes);
    const column = () => reader.column(scope.points);
    const series = (values) => new Series(report.begin, scope.width, values);
    const requests = column();
    const failed = column();
    const covered = coveredSeconds(report.begin, scope);
    this.width = scope.width;
    this.open = scope.open;
    this.rate = series(perSecond(requests, covered, scope.width));
    this.failed = series(perSecond(failed, covered, scope.width));
    for (const name of ['p50', 'p95', 'p99', 'max']) {
      this[name] = series(column().map((bucket) => (bucket === 0 ? NONE : bucketMiddle(bucket - 1))));
    }
    if (scope.kind !== 'step') {
      const vus = column();
      this.vus = series(vus.map((count, i) => (covered[i] === 0 && count === 0 ? NONE : count)));
      this.dropped = series(perSecond(column(), covered, scope.width));
    }
    this.heat = { begin: report.begin, width: scope.heatWidth, columns: [] };
    for (let i = 0; i < scope.heatColumns; i++) this.heat.columns.push(reader.sparse());
    this.latency = reader.sparse();
    this.service = reader.sparse();
    this.anyFailed = failed.some((count) => count > 0);
    this.anyDropped = this.dropped !== undefined && this.dropped.values.some((rate) => rate > 0);
  }
}

// How much of each point was counted: the first and the last may have begun or ended within it.
function coveredSeconds(begin, scope) {
  const covered = new Float64Array(scope.points);
  for (let i = 0; i < scope.points; i++) {
    const from = Math.max(scope.from, begin + i * scope.width);
    const until = Math.min(scope.until, begin + (i + 1) * scope.width);
    covered[i] = Math.max(0, until - from);
  }
  return covered;
}

// Counts as rates, where each point was counted for so long.
function perSecond(counts, covered, width) {
  return counts.map((count, i) => {
    if (covered[i] === 0) return count === 0 ? NONE : count / width;
    if (count === 0) return 0;
    if (covered[i] >= SLIVER) return count / covered[i];
    // A sliver says little by itself, so it is taken together with the point beside it.
    const beside = [i - 1, i + 1].find((each) => covered[each] >= SLIVER);
    return beside === undefined ? count / width : (count + counts[beside]) / (covered[i] + covered[beside]);
  });
}

class Report {
  constructor(json) {
    const parsed = JSON.parse(json);
    this.begin = parsed.begin;
    this.end = parsed.end;
    this.marks = parsed.marks;
    this.scopes = parsed.scopes;
    this.decoded = new Map();
  }

  scope(index) {
    if (!this.decoded.has(index)) {
      const data = new ScopeData(this, this.scopes[index]);
      // A step has no users of its own: those of its workflow are shown.
      if (this.scopes[index].kind === 'step') data.vus = this.scope(this.scopes[index].workflow).vus;
      this.decoded.set(index, data);
    }
    return this.decoded.get(index);
  }
}
