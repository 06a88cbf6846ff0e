// Numbers as people read them, and the places of ticks on an axis.

function threeDigits(value) {
  if (value < 9.995) return value.toFixed(2);
  if (value < 99.95) return value.toFixed(1);
  return value.toFixed(0);
}

// 850 ns, 12.3 µs, 1.98 ms, 2.50 s, 1m 05s
function latencyText(seconds) {
  if (Number.isNaN(seconds)) return '–';
  if (seconds <= 0) return '0';
  if (seconds < 999.5e-9) return `${Math.round(seconds * 1e9)} ns`;
  if (seconds < 999.5e-6) return `${threeDigits(seconds * 1e6)} µs`;
  if (seconds < 999.5e-3) return `${threeDigits(seconds * 1e3)} ms`;
  if (seconds < 59.95) return `${threeDigits(seconds)} s`;
  const whole = Math.round(seconds);
  return `${Math.floor(whole / 60)}m ${String(whole % 60).padStart(2, '0')}s`;
}

// The same without digits that a tick does not need: 500 µs, 1 ms, 2.5 s.
function latencyTick(seconds) {
  if (seconds === 0) return '0';
  const units = [[1, 's'], [1e-3, 'ms'], [1e-6, 'µs'], [1e-9, 'ns']];
  const [size, unit] = units.find(([least]) => seconds >= least * 0.9995) || units[3];
  return `${Number((seconds / size).toPrecision(3))} ${unit}`;
}

function countText(value) {
  if (Number.isNaN(value)) return '–';
  if (value === 0) return '0';
  if (value < 0.01) return '<0.01';
  if (value < 999.5) return Number.isInteger(value) ? String(value) : threeDigits(value);
  if (value < 99999.5) return Math.round(value).toLocaleString('en-US');
  for (const [size, unit] of [[1e3, 'k'], [1e6, 'M'], [1e9, 'G']]) {
    if (value < 999.5 * size) return threeDigits(value / size) + unit;
  }
  return `${threeDigits(value / 1e12)}T`;
}

function countTick(value) {
  for (const [size, unit] of [[1e9, 'G'], [1e6, 'M'], [1e3, 'k']]) {
    if (value >= size) return `${Number((value / size).toPrecision(3))}${unit}`;
  }
  return String(Number(value.toPrecision(3)));
}

function shareText(share) {
  const percent = share * 100;
  if (percent === 0) return '0 %';
  if (percent < 0.01) return '<0.01 %';
  return `${percent < 0.995 ? percent.toFixed(2) : percent.toFixed(1)} %`;
}

// Time since the start of the run: 0:05, 12:30, 1:02:03.
function clockText(seconds) {
  const whole = Math.max(0, Math.floor(seconds + 1e-6));
  const two = (number) => String(number).padStart(2, '0');
  const rest = `${two(whole % 60)}`;
  if (whole < 3600) return `${Math.floor(whole / 60)}:${rest}`;
  return `${Math.floor(whole / 3600)}:${two(Math.floor(whole / 60) % 60)}:${rest}`;
}

// About `count` round numbers from 0 to `most`, which is above 0.
function linearTicks(most, count) {
  const rough = most / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((factor) => factor * power >= rough * 0.999) * power;
  const ticks = [];
  for (let i = 0; i * step <= most * 1.0001; i++) ticks.push(i * step);
  return ticks;
}

// 1, 10, 100, … between two positive numbers, with 2 and 5 between them where there is room.
function logTicks(least, most, count) {
  const decades = Math.log10(most / least);
  const factors = decades * 3 <= count ? [1, 2, 5] : [1];
  const every = factors.length === 1 ? Math.max(1, Math.ceil(decades / count)) : 1;
  const ticks = [];
  const last = Math.floor(Math.log10(most) + 1e-9);
  for (let power = Math.ceil(Math.log10(least) - 1e-9) - 1; power <= last; power++) {
    if (power % every !== 0) continue;
    for (const factor of factors) {
      const tick = factor * 10 ** power;
      if (tick >= least * 0.999 && tick <= most * 1.001) ticks.push(tick);
    }
  }
  return ticks.length > 1 ? ticks : [least, most];
}

const TIME_STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400];

function timeTicks(from, until, count) {
  const rough = (until - from) / Math.max(1, count);
  const step = TIME_STEPS.find((each) => each >= rough) || Math.ceil(rough / 86400) * 86400;
  const ticks = [];
  for (let tick = Math.ceil(from / step) * step; tick <= until + 1e-9; tick += step) ticks.push(tick);
  return ticks;
}
