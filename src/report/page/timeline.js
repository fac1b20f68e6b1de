/* A lane for each client, a bar for each transaction.  `bars` are columns,
 * ascending by begin.  What can be seen is drawn anew for each view. */
const bars = data.bars;
const nBars = bars.id.length;
const span = Math.max(data.time.span, 1);

const lanes = data.lanes.map((name, i) => ({name, i}))
  .sort((a, b) => a.name.localeCompare(b.name, 'en', {numeric: true}));
const rowOf = [];
lanes.forEach((lane, row) => { rowOf[lane.i] = row; });
const barOf = new Map(bars.id.map((id, i) => [id, i]));

/* One that never ended is drawn as far as there is room. */
const ends = bars.begin.map((begin, i) => begin + bars.length[i]);
const next = data.lanes.map(() => span);
for (let i = nBars - 1; i >= 0; i--) {
  if (bars.length[i] < 0) ends[i] = Math.max(next[bars.lane[i]], bars.begin[i]);
  next[bars.lane[i]] = bars.begin[i];
}

function barEnd(i) {
  return ends[i];
}

function barText(i) {
  const text = ['T' + bars.label[i] + ' \u00b7 ' + data.lanes[bars.lane[i]] +
                ' \u00b7 ' + outcomes[bars.outcome[i]]];
  if (data.time.unit === 'ns') {
    text.push(bars.length[i] < 0
      ? 'from ' + moment(bars.begin[i], 1e3) + ', no answer'
      : 'from ' + moment(bars.begin[i], 1e3) + ' for ' +
        duration(bars.length[i]));
  } else {
    text.push('from ' + moment(bars.begin[i]) + ' to ' + moment(barEnd(i)));
  }
  text.push(many(bars.ops[i], 'operation', 'operations'));
  return text.join('\n');
}

/* The view that shows these transactions and something around them. */
function viewOf(ids) {
  const list = ids.map((id) => barOf.get(id)).filter((i) => i !== undefined);
  if (list.length === 0) {
    const last = Math.min(nBars, 250) - 1;
    return last < 0 ? [0, span] : [0, Math.max(barEnd(last), 1)];
  }
  const from = Math.min(...list.map((i) => bars.begin[i]));
  const to = Math.max(...list.map((i) =>
    bars.length[i] < 0 ? bars.begin[i] : barEnd(i)));
  const room = Math.max((to - from) * 0.35, span / 1e6, 1);
  return [from - room, to + room];
}

function Timeline(host, onTxn) {
  this.host = host;
  this.onTxn = onTxn;
  this.view = [0, span];
  this.ids = new Set();
  this.edges = [];
  this.on = null;
  this.pointers = new Map();
  this.main = el('div', {
    class: 'lanes', tabindex: 0, role: 'group',
    'aria-label': 'timeline; arrow keys move, plus and minus zoom'});
  this.strip = el('div', {class: 'overview'});
  host.append(this.main, this.strip);
  this.listen();
}

Timeline.prototype.size = function (width) {
  this.width = width;
  this.gutter = width < 560 ? 74 : 108;
  this.laneHeight = lanes.length > 40 ? 15 : lanes.length > 20 ? 19 :
    lanes.length > 6 ? 25 : 32;
  this.top = data.faults.length ? 40 : 24;
  this.draw();
};

Timeline.prototype.x = function (t) {
  return this.gutter + (t - this.view[0]) / (this.view[1] - this.view[0]) *
    (this.width - this.gutter - 2);
};

Timeline.prototype.time = function (x) {
  return this.view[0] + (x - this.gutter) / (this.width - this.gutter - 2) *
    (this.view[1] - this.view[0]);
};

Timeline.prototype.look = function (from, to) {
  const least = Math.min(data.time.unit === 'ns' ? 200 : 3, span * 1.1);
  let length = Math.min(Math.max(to - from, least), span * 1.1);
  let start = (from + to - length) / 2;
  start = Math.max(-span * 0.05, Math.min(start, span * 1.05 - length));
  this.view = [start, start + length];
  if (this.pending) return;
  this.pending = true;
  requestAnimationFrame(() => { this.pending = false; this.draw(); });
};

Timeline.prototype.zoom = function (factor, at) {
  const middle = at === undefined ? (this.view[0] + this.view[1]) / 2 : at;
  this.look(middle - (middle - this.view[0]) * factor,
            middle + (this.view[1] - middle) * factor);
};

Timeline.prototype.move = function (share) {
  const by = (this.view[1] - this.view[0]) * share;
  this.look(this.view[0] + by, this.view[1] + by);
};

Timeline.prototype.show = function (finding) {
  this.ids = new Set(finding ? finding.txns : []);
  this.edges = finding ? finding.edges : [];
  const [from, to] = viewOf([...this.ids]);
  this.look(from, to);
};

Timeline.prototype.select = function (id) {
  this.on = id;
  if (this.width) this.draw();
};

/* ---- drawing ---- */

Timeline.prototype.drawGrid = function (image, height) {
  lanes.forEach((lane, row) => {
    const y = this.top + row * this.laneHeight;
    image.append(svg('g', {class: 'lane', 'data-lane': lane.i},
      svg('rect', {class: 'stripe' + (row % 2 ? ' odd' : ''), x: 0, y: y,
                   width: this.width, height: this.laneHeight}),
      svg('text', {class: 'lane-name', x: 8, y: y + this.laneHeight / 2 + 4},
          cut(lane.name, this.gutter < 100 ? 10 : 15),
          svg('title', {}, lane.name))));
  });
  const {step, list} = ticks(this.view[0], this.view[1],
                             Math.max(2, (this.width - this.gutter) / 130));
  for (const t of list) {
    if (t < 0 || t > span * 1.0001) continue;
    const x = this.x(t);
    image.append(svg('line', {class: 'rule', x1: x, x2: x, y1: this.top - 4,
                              y2: height}),
                 svg('text', {class: 'tick', x: x,
                              y: this.top - (data.faults.length ? 26 : 9),
                              'text-anchor': 'middle'}, moment(t, step)));
  }
};

/* Where transactions are left out. */
Timeline.prototype.drawGone = function (image, height) {
  let from = 0;
  const gap = (to) => {
    const a = Math.max(this.x(from), this.gutter), b = Math.min(this.x(to),
                                                                this.width);
    if (b - a < 1) return;
    image.append(svg('rect', {class: 'gone', x: a, y: this.top, width: b - a,
                              height: height - this.top},
                     svg('title', {}, 'not drawn: too many transactions')));
  };
  for (const [start, end] of data.windows) {
    gap(start);
    from = Math.max(from, end);
  }
  if (from < span) gap(span);
};

Timeline.prototype.drawFaults = function (image, height) {
  let free = 0;
  for (const [text, begin, end] of data.faults) {
    const a = this.x(begin), b = this.x(end === undefined ? begin : end);
    if (b < this.gutter || a > this.width) continue;
    const x = Math.max(a, this.gutter);
    image.append(
      svg('rect', {class: 'fault', x: x, y: this.top,
                   width: Math.max(Math.min(b, this.width) - x, 1),
                   height: height - this.top}),
      svg('line', {class: 'fault-line', x1: x, x2: x, y1: this.top - 6,
                   y2: height}));
    const label = cut(faultText(text), 22);
    if (x < free || x > this.width - 30) continue;
    free = x + label.length * 6.6 + 14;
    image.append(svg('text', {class: 'fault-tag', x: x, y: this.top - 10},
                     '\u26a1 ' + label, svg('title', {}, text)));
  }
};

Timeline.prototype.drawBar = function (i) {
  const id = bars.id[i];
  const witness = this.ids.has(id);
  const a = Math.max(this.x(bars.begin[i]), this.gutter);
  const b = Math.min(this.x(barEnd(i)), this.width);
  const w = Math.max(b - a, witness ? 5 : 1.5);
  const y = this.top + rowOf[bars.lane[i]] * this.laneHeight;
  const inset = witness ? 2.5 : this.laneHeight > 16 ? 5 : 3;
  const told = txns.has(id);
  const bar = svg('rect', {
    class: 'bar ' + outcomes[bars.outcome[i]] + (witness ? ' witness' : '') +
      (told ? ' told' : '') + (this.on === id ? ' on' : ''),
    'data-bar': id, x: a, y: y + inset, width: w,
    height: this.laneHeight - 2 * inset, rx: Math.min(3, w / 2)});
  if (!witness) return [bar, null];
  return [bar, svg('text', {
    class: 'bar-tag', x: Math.min(b + 4, this.width - 34),
    y: y + this.laneHeight / 2 + 4}, 'T' + bars.label[i])];
};

Timeline.prototype.drawLinks = function (image) {
  const middle = (id) => {
    const i = barOf.get(id);
    if (i === undefined) return null;
    const end = bars.length[i] < 0 ? bars.begin[i] : barEnd(i);
    return [this.x((bars.begin[i] + end) / 2),
            this.top + (rowOf[bars.lane[i]] + 0.5) * this.laneHeight];
  };
  if (this.edges.length > 24) return;
  this.edges.forEach((e, i) => {
    const a = middle(e.from), b = middle(e.to);
    if (!a || !b) return;
    const off = (i % 2 ? -1 : 1) * (14 + 5 * (i >> 1));
    image.append(svg('path', {class: 'link ' + e.kind,
      d: 'M' + a[0] + ' ' + a[1] + 'Q' + ((a[0] + b[0]) / 2 + off) + ' ' +
         ((a[1] + b[1]) / 2 + (a[1] === b[1] ? off : 0)) + ' ' + b[0] + ' ' +
         b[1]}));
  });
};

Timeline.prototype.draw = function () {
  if (!this.width) return;
  const height = this.top + lanes.length * this.laneHeight;
  const image = picture(this.width, height + 2);
  image.append(svg('defs', {}, svg('pattern', {
    id: 'hatch', width: 7, height: 7, patternUnits: 'userSpaceOnUse',
    patternTransform: 'rotate(45)'},
    svg('line', {x1: 0, y1: 0, x2: 0, y2: 7}))));
  this.drawGrid(image, height);
  this.drawGone(image, height);
  this.drawFaults(image, height);
  const body = svg('g', {}), front = svg('g', {}), tags = svg('g', {});
  for (let i = 0; i < nBars && bars.begin[i] <= this.view[1]; i++) {
    if (barEnd(i) < this.view[0]) continue;
    const [bar, tag] = this.drawBar(i);
    (tag ? front : body).append(bar);
    if (tag) tags.append(tag);
  }
  image.append(body, front);
  this.drawLinks(image);
  image.append(tags);
  this.main.replaceChildren(image);
  this.drawStrip();
};

Timeline.prototype.drawStrip = function () {
  const o = data.overview, height = 42;
  const room = this.width - this.gutter - 2;
  const at = (t) => this.gutter + Math.max(0, Math.min(1, t / span)) * room;
  const image = picture(this.width, height + 2);
  let most = 1;
  for (let i = 0; i < o.committed.length; i++) {
    most = Math.max(most, o.committed[i] + o.aborted[i] + o.unknown[i]);
  }
  image.append(svg('rect', {class: 'back', x: this.gutter, y: 0, width: room,
                            height: height}),
               svg('text', {class: 'lane-name muted', x: 8, y: height / 2 + 4},
                   'whole run'));
  for (let i = 0; i < o.committed.length; i++) {
    const x = at(i * o.width), w = at((i + 1) * o.width) - x;
    let y = height;
    for (const name of outcomes) {
      const h = o[name][i] / most * (height - 4);
      y -= h;
      if (h > 0) {
        image.append(svg('rect', {class: 'column ' + name, x: x, y: y,
                                  width: Math.max(w - 0.5, 0.7), height: h}));
      }
    }
  }
  for (const [, begin, end] of data.faults) {
    image.append(svg('rect', {
      class: 'fault', x: at(begin), y: 0, height: height,
      width: at(end === undefined ? begin : end) - at(begin)}));
    image.append(svg('line', {class: 'fault-line', x1: at(begin),
                              x2: at(begin), y1: 0, y2: height}));
  }
  const a = at(this.view[0]), b = at(this.view[1]);
  image.append(svg('rect', {class: 'view', x: a, y: 0.7,
                            width: Math.max(b - a, 4), height: height - 1.4,
                            rx: 3}));
  this.strip.replaceChildren(image);
};

/* ---- hands ---- */

Timeline.prototype.hit = function (event) {
  const id = event.target.getAttribute && event.target.getAttribute('data-bar');
  return id === null ? undefined : barOf.get(Number(id));
};

Timeline.prototype.place = function (event) {
  return event.clientX - this.main.getBoundingClientRect().left;
};

Timeline.prototype.drag = function (event) {
  const before = this.pointers.get(event.pointerId);
  if (!before) return;
  const x = this.place(event);
  if (this.pointers.size === 2) {
    const other = [...this.pointers].find(([id]) => id !== event.pointerId)[1];
    const was = Math.abs(before.x - other.x), is = Math.abs(x - other.x);
    if (was > 10 && is > 10) this.zoom(was / is, this.time((x + other.x) / 2));
  } else {
    const by = this.time(before.x) - this.time(x);
    if (Math.abs(x - before.start) > 4) {
      before.moved = true;
      this.main.classList.add('drag');
    }
    this.look(this.view[0] + by, this.view[1] + by);
  }
  before.x = x;
};

Timeline.prototype.listen = function () {
  const on = (node, name, action, options) =>
    node.addEventListener(name, action, options);
  on(this.main, 'wheel', (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    this.zoom(Math.exp(event.deltaY / 240), this.time(this.place(event)));
  }, {passive: false});
  on(this.main, 'pointerdown', (event) => {
    if (event.button > 0) return;
    const x = this.place(event);
    this.pointers.set(event.pointerId, {x: x, start: x, bar: this.hit(event)});
    hideTip();
  });
  on(window, 'pointermove', (event) => this.drag(event));
  const up = (event) => {
    const pointer = this.pointers.get(event.pointerId);
    this.pointers.delete(event.pointerId);
    this.main.classList.remove('drag');
    if (event.type === 'pointerup' && pointer && !pointer.moved &&
        pointer.bar !== undefined) this.onTxn(bars.id[pointer.bar]);
  };
  on(window, 'pointerup', up);
  on(window, 'pointercancel', up);
  on(this.main, 'pointermove', (event) => {
    const i = this.pointers.size ? undefined : this.hit(event);
    if (i === undefined) hideTip();
    else showTip(event, barText(i));
  });
  on(this.main, 'pointerleave', hideTip);
  on(this.main, 'dblclick', (event) =>
    this.zoom(0.4, this.time(this.place(event))));
  on(this.main, 'keydown', (event) => {
    const keys = {ArrowLeft: () => this.move(-0.2),
                  ArrowRight: () => this.move(0.2),
                  '+': () => this.zoom(0.6), '=': () => this.zoom(0.6),
                  '-': () => this.zoom(1.7), '0': () => this.look(0, span)};
    if (!keys[event.key] || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    keys[event.key]();
  });
  const jump = (event) => {
    if (event.type === 'pointermove' && !event.buttons) return;
    const share = (this.place(event) - this.gutter) /
      (this.width - this.gutter - 2);
    const half = (this.view[1] - this.view[0]) / 2;
    this.look(share * span - half, share * span + half);
  };
  on(this.strip, 'pointerdown', (event) => {
    this.strip.setPointerCapture(event.pointerId);
    jump(event);
  });
  on(this.strip, 'pointermove', jump);
};

/* A fault is recorded as a comment of SQL. */
function faultText(text) {
  return text.replace(/^\s*(--|\/\*)\s*/, '').replace(/\s*\*\/\s*$/, '');
}
