/* Puts the page together. */
const main = document.getElementById('main');

function section(id, title, ...children) {
  const node = el('section', {id: id, class: 'card'}, el('h2', {}, title),
                  children);
  main.append(node);
  return node;
}

function swatch(name) {
  return svg('svg', {width: 14, height: 12, 'aria-hidden': 'true'},
    svg('rect', {class: 'swatch ' + name, x: 1, y: 1, width: 12, height: 10,
                 rx: 2}));
}

function legend(items) {
  return el('p', {class: 'legend'}, items.filter(Boolean).map(
    ([name, text]) => el('span', {}, swatch(name), text)));
}

/* Names of transactions become buttons that tell them. */
function linked(text, ids, onTxn) {
  const byName = new Map();
  for (const id of ids) if (txns.has(id)) byName.set(txns.get(id).name, id);
  return text.split(/(\bT-?\d+\b)/).map((word, i) =>
    i % 2 && byName.has(word)
      ? el('button', {type: 'button', 'data-name': word,
                      onclick: (event) => { event.stopPropagation();
                                            onTxn(byName.get(word)); }}, word)
      : word);
}

/* ---- the head ---- */

function facts() {
  const s = data.stats;
  const rows = data.facts.slice();
  rows.push(['Transactions', count(s.committed + s.aborted + s.unknown)]);
  const told = rows.some((row) => row[0] === 'Duration');
  if (data.time.unit === 'ns' && !told) rows.push(['Duration', duration(span)]);
  if (data.checkedInvariants && data.allBreaches === 0) {
    rows.push(['Invariants of the workload', 'all hold']);
  }
  rows.push(['Judged by', 'engine ' + data.engine + ', ' +
             duration(data.seconds * 1e9)]);
  return el('dl', {class: 'facts'}, rows.map(([name, value]) => el('div', {},
    el('dt', {}, name), el('dd', {}, foreign(value)))));
}

function breaches() {
  if (data.breaches.length === 0) return;
  const left = data.allBreaches - data.breaches.length;
  section('invariants', 'Invariants of the workload are broken',
    el('table', {}, data.breaches.map(([name, text]) => el('tr', {},
      el('td', {class: 'word'}, foreign(name)),
      el('td', {}, foreign(text))))),
    left > 0 && el('p', {class: 'note'}, 'and ' + count(left) + ' more.'))
    .classList.add('broken');
}

/* ---- the evidence ---- */

let timeline = null;

/* " T1, T2", to tell findings of one name apart. */
function chipOf(f) {
  const names = f.txns.slice(0, 2).map((id) => txns.has(id) ?
    txns.get(id).name : '#' + id);
  return ' ' + names.join(', ') + (f.allTxns > 2 ? ', \u2026' : '');
}

function Evidence() {
  this.body = el('div', {});
  this.host = section('evidence', data.findings.length > 1 ?
    'What was found' : 'The evidence');
  if (data.groups.length > 1 || data.allFindings > 1) put(this.host, 
    el('p', {class: 'note counts'}, data.groups.map((g, i) =>
      (i ? '; ' : 'In all: ') + g.name + ', ' + g.count).join('') + '.'),
    el('p', {}));
  if (data.findings.length > 1) {
    this.chips = data.findings.map((f, i) => el('button', {
      type: 'button', 'data-finding': i, onclick: () => this.open(i)},
      f.name, el('span', {class: 'chip-of'}, chipOf(f))));
    put(this.host, el('div', {class: 'chips'}, this.chips));
  }
  put(this.host, this.body);
  redraw(this.host, () => this.drawGraph());
}

Evidence.prototype.open = function (i) {
  this.finding = data.findings[i];
  if (this.chips) this.chips.forEach((chip, k) =>
    chip.setAttribute('aria-pressed', k === i ? 'true' : 'false'));
  this.panel = el('div', {class: 'panel', id: 'details', 'aria-live': 'polite'});
  this.body.replaceChildren();
  if (this.finding.edges.length) this.openGraph();
  else this.openCards();
  this.tell();
  if (timeline) timeline.show(this.finding);
};

Evidence.prototype.openGraph = function () {
  const f = this.finding;
  this.graph = el('div', {class: 'graph', id: 'graph'});
  put(this.body, el('p', {}, el('b', {}, f.name), ': ' + f.summary + '.'),
    el('div', {class: 'evidence' + (f.txns.length > 14 ? ' wide' : '')},
       el('div', {}, this.graph, this.kindLegend(), this.left()), this.panel));
  if (f.kind === 'cycle') {
    this.steps = f.edges.map((e, i) => el('li', Object.assign(
      {'data-step': i}, press(() => this.edge(i))),
      linked(e.because, f.txns, (id) => this.txn(id))));
    const names = f.txns.map((id) => txns.get(id).name);
    put(this.body, el('ol', {class: 'steps'}, this.steps),
      el('p', {class: 'so-then'}, names.length > 12
        ? 'So each comes before the next, and the last before the first: a ' +
          'circle.'
        : 'So ' + names.concat(names[0]).join(' before ') + ': a circle.'));
  }
  this.drawGraph();
  this.edge(0);
};

Evidence.prototype.openCards = function () {
  const f = this.finding;
  this.graph = null;
  put(this.body, el('p', {}, el('b', {}, f.name), ': ' + f.summary + '.'),
    f.sentences && el('ol', {class: 'steps'}, f.sentences.map((text) =>
      el('li', {}, linked(text, f.txns, (id) => this.txn(id))))),
    el('div', {class: 'cards'}, f.txns.slice(0, 12).map((id) => el(
      'div', {class: 'panel', 'data-txn': id}, txnDetails(id)))),
    this.left(12));
};

Evidence.prototype.left = function (most) {
  const f = this.finding;
  const shown = Math.min(most || f.txns.length, f.txns.length);
  const parts = [];
  if (f.allTxns > shown) parts.push(many(f.allTxns - shown, 'transaction',
                                         'transactions'));
  if (f.kind === 'cycle' && f.allEdges > f.edges.length) parts.push(
    many(f.allEdges - f.edges.length, 'edge', 'edges'));
  return parts.length > 0 && el('p', {class: 'note'}, parts.join(' and ') +
    ' left out of the picture; the witness has all of it.');
};

Evidence.prototype.kindLegend = function () {
  const there = Object.keys(kinds).filter((kind) =>
    this.finding.edges.some((e) => e.kind === kind));
  return el('p', {class: 'note'}, 'Click an edge or a transaction. ',
    there.map((kind) => [el('span', {class: 'kind ' + kind, title: kinds[kind]},
                            kind), ' ', kinds[kind].split(':')[0], '. ']),
    this.finding.edges.some((e) => e.assumed) &&
      'Dashed: not certain, taken for granted in a step of the proof.');
};

/* What it means, what to do, and the story of a proof. */
Evidence.prototype.tell = function () {
  const f = this.finding;
  put(this.body,
    f.story && el('div', {class: 'story mono'},
      linked(f.story.replace(/\s+$/, '').replace(/^ {2}/gm, ''), f.txns, (id) => this.txn(id))),
    f.rests && el('p', {class: 'note'}, 'This one rests on ' + f.rests + '.'),
    (f.meaning || f.remedy) && el('div', {class: 'two'},
      f.meaning && el('div', {}, el('h3', {}, 'What it means'),
                      el('p', {}, f.meaning)),
      f.remedy && el('div', {}, el('h3', {}, 'What to do about it'),
                     el('p', {}, f.remedy))),
    el('p', {class: 'note'}, 'More: ', el('code', {},
      'holdfast explain "' + f.explain + '"')));
};

Evidence.prototype.drawGraph = function () {
  if (!this.graph || !this.graph.isConnected) return;
  drawGraph(this.graph, this.finding, Math.max(this.graph.clientWidth - 4, 260),
            (i) => this.edge(i), (id) => this.txn(id));
  if (this.marked) this.mark(this.marked);
};

Evidence.prototype.mark = function (selector) {
  this.marked = selector;
  for (const node of this.body.querySelectorAll('.on')) {
    node.classList.remove('on');
  }
  for (const node of this.body.querySelectorAll(selector)) {
    node.classList.add('on');
  }
};

Evidence.prototype.edge = function (i) {
  this.panel.replaceChildren(...edgeDetails(this.finding.edges[i])
    .filter(Boolean));
  this.mark('[data-edge="' + i + '"], [data-step="' + i + '"]');
};

Evidence.prototype.txn = function (id) {
  if (this.graph) {
    this.panel.replaceChildren(...txnDetails(id).filter(Boolean));
    this.mark('.node[data-txn="' + id + '"]');
  }
  if (timeline) timeline.select(id);
};

function order() {
  const o = data.order;
  const panel = el('div', {class: 'panel', id: 'details', 'aria-live': 'polite'},
                   el('p', {class: 'small'}, 'Click a transaction.'));
  const show = (id) => panel.replaceChildren(...txnDetails(id).filter(Boolean));
  const events = (list, from) => list.map(([id, name, commit], i) => [
    from + i > 0 && el('span', {}, '\u2192'),
    el('button', {type: 'button', 'data-txn': id,
                  class: commit === 0 ? 'start' : null,
                  onclick: () => show(id)},
       commit === undefined ? name : (commit ? 'commit ' : 'start ') + name)])
    .flat().filter(Boolean);
  const chain = el('div', {class: 'order'}, events(o.events.slice(0, 60), 0));
  const rest = o.events.length > 60 && el('button', {
    type: 'button', class: 'rest', onclick: () => {
      rest.remove();
      chain.append(...events(o.events.slice(60), 60));
    }}, many(o.events.length - 60, 'more', 'more'));
  if (rest) chain.append(rest);
  const words = {serial: 'Transactions, as if one after the other',
                 commit: 'Commits', snapshot: 'Snapshots and commits'};
  section('order', 'An order that explains it',
    el('p', {class: 'note'}, (words[o.kind] || 'Order') + ': ' +
       (o.n > o.events.length ? 'the first ' + count(o.events.length) + ' of ' +
        count(o.n) : count(o.n)) + '.'),
    el('div', {class: 'evidence'},
      chain, panel));
}

/* ---- the timeline ---- */

function timelineNote() {
  const parts = [];
  if (nBars < bars.all) {
    parts.push(count(nBars) + ' of ' + count(bars.all) + ' transactions are ' +
      'drawn, ' + (data.findings.length ? 'those nearest in time to the ' +
      'evidence' : data.faults.length ? 'those around the faults'
      : 'the first ones') + '; elsewhere it is hatched.');
  }
  if (data.allLanes > lanes.length) {
    parts.push(count(lanes.length) + ' of ' + count(data.allLanes) +
               ' sessions have a lane.');
  }
  if (data.stats.timeless) {
    parts.push(many(data.stats.timeless, 'transaction has', 'transactions have') +
               ' no recorded time and no bar.');
  }
  if (data.time.unit === 'file') {
    parts.push('No times were recorded: transactions stand in the order of ' +
               'the file.');
  } else if (data.time.unit === 'event') {
    parts.push('Time is the place of an event in the file.');
  }
  if (data.allFaults > data.faults.length) {
    parts.push(count(data.faults.length) + ' of ' + count(data.allFaults) +
               ' faults are marked.');
  }
  return parts.join(' ');
}

function timelineSection(onTxn) {
  const host = el('div', {id: 'lanes'});
  const panel = el('div', {class: 'panel', id: 'bar-details', hidden: true});
  const button = (text, title, action) => el('button', {
    type: 'button', title: title, 'aria-label': title, onclick: action}, text);
  timeline = new Timeline(host, (id) => {
    const i = barOf.get(id);
    panel.hidden = false;
    panel.replaceChildren(...(txns.has(id) ? txnDetails(id).filter(Boolean)
      : [el('p', {}, barText(i)), txnDetails(id)[0]]));
    timeline.select(id);
    onTxn(id);
  });
  section('timeline', 'Timeline',
    el('div', {class: 'bar-row tools'},
      el('div', {class: 'chips'},
        data.findings.length > 0 && button('Evidence', 'show the evidence',
          () => timeline.look(...viewOf([...timeline.ids]))),
        button('Whole run', 'show the whole run', () => timeline.look(0, span)),
        button('+', 'zoom in', () => timeline.zoom(0.5)),
        button('\u2212', 'zoom out', () => timeline.zoom(2)),
        button('\u2190', 'earlier', () => timeline.move(-0.4)),
        button('\u2192', 'later', () => timeline.move(0.4))),
      el('span', {class: 'small'},
         'drag to move, Ctrl and wheel or pinch to zoom')),
    host,
    legend([['committed', 'committed'], ['hollow', 'aborted'],
            ['unknown', 'outcome unknown'],
            data.findings.length > 0 && ['witness', 'evidence'],
            data.faults.length > 0 && ['fault', 'injected fault']]),
    el('p', {class: 'note', id: 'left-out'}, timelineNote()), panel);
  redraw(host, (width) => timeline.size(width));
}

/* ---- statistics ---- */

function tile(name, value, more) {
  return el('div', {}, el('p', {class: 'label'}, name), el('b', {}, value),
            more && el('span', {class: 'small'}, more));
}

function statistics() {
  const s = data.stats, l = data.overview.latency;
  const all = s.committed + s.aborted + s.unknown;
  const share = (n) => all ? digits(100 * n / all) + ' %' : '';
  const most = Math.max(1, ...s.kinds.map((k) => k[1]));
  const charts = [];
  const chart = (title, draw, items) => {
    const host = el('div', {});
    charts.push(el('div', {}, el('h3', {}, title), host, legend(items)));
    redraw(host, (width) => draw(host, width));
  };
  if (data.time.unit === 'ns' && all) {
    chart('Transactions per second', throughputChart, outcomes
      .filter((name) => s[name]).map((name) => [name, name]));
    if (l.median !== null && l.most > 0) chart('Latency of commits',
      latencyChart, [['median', 'median'], ['p99', '99 %']]);
  }
  section('statistics', 'Statistics',
    el('div', {class: 'tiles'},
      tile('Transactions', count(all)),
      tile('Committed', count(s.committed), share(s.committed)),
      tile('Aborted', count(s.aborted), share(s.aborted)),
      tile('Outcome unknown', count(s.unknown), share(s.unknown)),
      tile('Operations', count(s.ops)), tile('Keys', count(s.keys)),
      tile('Sessions', count(data.allLanes)),
      l && [tile('Committed per second', shortCount(s.committed * 1e9 / span)),
            l.median !== null && tile('Median latency', duration(l.median)),
            l.p99 !== null && tile('99 % latency', duration(l.p99)),
            l.most > 0 && tile('Slowest commit', duration(l.most))],
      data.allFaults > 0 && tile('Faults', count(data.allFaults))),
    charts.length > 0 && el('div', {class: 'charts'}, charts),
    el('h3', {}, 'Operations'),
    el('table', {}, s.kinds.map(([name, n]) => el('tr', {},
      el('td', {class: 'name'}, name),
      el('td', {class: 'number'}, count(n)),
      el('td', {class: 'share'}, svg('svg', {width: '100%', height: 9,
                                             'aria-hidden': 'true'},
        svg('rect', {class: 'column committed', height: 9, rx: 2,
                     width: 100 * n / most + '%'})))))),
    s.cutOff && el('p', {class: 'note'}, 'The file ended early: this is what ' +
                                         'there was of it.'),
    data.faults.length > 0 && [el('h3', {}, 'Faults'), el('table', {},
      data.faults.map(([text, begin, end]) => el('tr', {},
        el('td', {class: 'name'}, moment(begin, 1e6)),
        el('td', {}, foreign(faultText(text))),
        el('td', {class: 'number'}, end === undefined ? ''
          : duration(end - begin)))))]);
}

/* ---- how to repeat it ---- */

function repeat() {
  const rows = (list) => el('table', {}, list.map(([name, what]) => el('tr', {},
    el('td', {class: 'word'}, foreign(name)), el('td', {}, foreign(what)))));
  section('repeat', 'Repeat it',
    data.command && [el('p', {class: 'label'}, 'the run'),
                     el('pre', {class: 'command'}, data.command)],
    data.check && [el('p', {class: 'label'}, 'the verdict'),
                   el('pre', {class: 'command'}, data.check)],
    data.files.length > 0 && [el('h3', {}, 'Files beside this page'),
                              rows(data.files)],
    el('h3', {}, 'Versions'), rows(data.versions));
}

function start() {
  document.querySelector('header').append(facts());
  breaches();
  const evidence = data.findings.length ? new Evidence() : null;
  if (nBars > 0) timelineSection((id) => {
    if (evidence && evidence.graph &&
        evidence.finding.txns.includes(id)) evidence.txn(id);
  });
  if (data.order && data.order.events.length) order();
  statistics();
  repeat();
  document.body.append(tip);
  document.querySelector('#plain details').open = false;
  if (evidence) evidence.open(0);
  else if (timeline) timeline.show(null);
  drawAll();
  if (window.ResizeObserver) new ResizeObserver(drawAll).observe(main);
  else window.addEventListener('resize', drawAll);
  document.documentElement.dataset.ready = 'yes';
}

start();
