/* Throughput and latency over the whole run. */
const chartHeight = 170;

function chartFrame(width, top, label) {
  const left = 54, low = chartHeight - 24;
  const x = (t) => left + t / span * (width - left - 6);
  const image = picture(width, chartHeight, {role: 'img', 'aria-label': label});
  const {step, list} = ticks(0, span, Math.max(2, width / 120));
  for (const t of list) {
    image.append(svg('text', {class: 'tick', x: x(t), y: chartHeight - 6,
                              'text-anchor': t === 0 ? 'start' : 'middle'},
                     moment(t, step)));
  }
  for (const [y, text] of top) {
    const at = low - y * (low - 10);
    image.append(svg('line', {class: 'rule', x1: left, x2: width, y1: at,
                              y2: at}),
                 svg('text', {class: 'tick', x: left - 7, y: at + 4,
                              'text-anchor': 'end'}, text));
  }
  for (const [, begin, end] of data.faults) {
    image.append(svg('rect', {
      class: 'fault', x: x(begin), y: 10, height: low - 10,
      width: x(end === undefined ? begin : end) - x(begin)}));
    image.append(svg('line', {class: 'fault-line', x1: x(begin), x2: x(begin),
                              y1: 10, y2: low, opacity: 0.6}));
  }
  return {image, x, left, low, y: (share) => low - share * (low - 10)};
}

/* Tells the part of the run under the pointer. */
function cover(frame, width, tell) {
  const o = data.overview;
  const part = (event) => {
    const box = frame.image.getBoundingClientRect();
    const share = ((event.clientX - box.left) / box.width * width -
                   frame.left) / (width - frame.left - 6);
    return Math.floor(share * span / o.width);
  };
  frame.image.append(svg('rect', {
    class: 'cover', x: frame.left, y: 0, width: width - frame.left - 6,
    height: frame.low,
    onpointermove: (event) => {
      const i = part(event);
      if (i < 0 || i >= o.committed.length) return hideTip();
      showTip(event, moment(i * o.width, o.width / 2) + '\n' + tell(i));
    },
    onpointerleave: hideTip}));
}

function shortCount(n) {
  return n >= 1e6 ? digits(n / 1e6) + ' M' : n >= 1e4 ? digits(n / 1e3) + ' k'
    : n >= 10 || n === Math.round(n) ? count(Math.round(n)) : digits(n);
}

function throughputChart(host, width) {
  const o = data.overview;
  const perSecond = 1e9 / o.width;
  const sums = o.committed.map((n, i) => n + o.aborted[i] + o.unknown[i]);
  const scale = ticks(0, Math.max(...sums) * perSecond || 1, 3);
  const most = scale.step * Math.ceil((Math.max(...sums) * perSecond || 1) /
                                      scale.step);
  const frame = chartFrame(width, [0, 0.5, 1].map((y) =>
    [y, shortCount(y * most)]), 'transactions per second over time');
  sums.forEach((sum, i) => {
    let base = 0;
    for (const name of outcomes) {
      const share = o[name][i] * perSecond / most;
      if (share > 0) {
        const x = frame.x(Math.min(i * o.width, span));
        frame.image.append(svg('rect', {
          class: 'column ' + name, x: x,
          y: frame.y(base + share),
          width: Math.max(frame.x(Math.min((i + 1) * o.width, span)) - x - 0.4,
                          0.6),
          height: frame.y(base) - frame.y(base + share)}));
      }
      base += share;
    }
  });
  cover(frame, width, (i) => outcomes.filter((name) => o[name][i])
    .map((name) => name + ' ' + shortCount(o[name][i] * perSecond) + '/s')
    .join('\n') || 'none');
  host.replaceChildren(frame.image);
}

function latencyChart(host, width) {
  const o = data.overview;
  const all = o.median.concat(o.p99).filter((v) => v > 0);
  const low = Math.floor(Math.log10(Math.min(...all)));
  const high = Math.max(Math.ceil(Math.log10(Math.max(...all))), low + 1);
  const share = (v) => (Math.log10(Math.max(v, 1)) - low) / (high - low);
  const marks = [];
  for (let p = low; p <= high; p++) marks.push([(p - low) / (high - low),
                                               duration(Math.pow(10, p), Math.pow(10, p))]);
  const frame = chartFrame(width, marks, 'latency of commits over time');
  for (const name of ['p99', 'median']) {
    let path = '', open = false;
    o[name].forEach((v, i) => {
      if (v === null) { open = false; return; }
      path += (open ? 'L' : 'M') + frame.x(Math.min((i + 0.5) * o.width, span)) +
        ' ' + frame.y(Math.max(share(v), 0));
      if (!open) path += 'h0.1';
      open = true;
    });
    frame.image.append(svg('path', {class: 'curve ' + name, d: path}));
  }
  cover(frame, width, (i) => o.median[i] === null ? 'no commit'
    : 'median ' + duration(o.median[i]) + '\n99 % ' + duration(o.p99[i]));
  host.replaceChildren(frame.image);
}
