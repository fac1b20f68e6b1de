/* One transaction or one edge, told in full. */
function times(t) {
  if (t.begin === undefined) return null;
  const unit = data.time.unit === 'ns';
  if (t.end === undefined) return 'from ' + moment(t.begin) + ', end not known';
  return unit ? 'from ' + moment(t.begin, 1e3) + ' for ' +
                duration(t.end - t.begin)
              : 'from ' + moment(t.begin) + ' to ' + moment(t.end);
}

function opTime(t, op) {
  if (op[3] === undefined) return '';
  if (data.time.unit !== 'ns') {
    return moment(op[3]) + (op[4] === undefined ? '' : '\u2013' +
                                                        moment(op[4]));
  }
  return '+' + duration(op[3] - (t.begin || 0)) +
    (op[4] === undefined ? ', no answer' : ', ' + duration(op[4] - op[3]));
}

function opRows(t, only) {
  const list = only ? t.ops.filter(only) : t.ops;
  return el('ol', {class: 'ops'}, list.map((op) => el(
    'li', {class: op[2] ? 'cited' : null},
    el('span', {class: 'no'}, op[0]), el('span', {class: 'op'}, op[1]),
    el('span', {class: 'at'}, opTime(t, op)))));
}

function place_(t) {
  return [outcomes[t.outcome], t.level, t.line && 'line ' + count(t.line),
          times(t)].filter(Boolean).join(' \u00b7 ');
}

function txnDetails(id) {
  const t = txns.get(id);
  if (!t) return [el('p', {}, 'The operations of this transaction are not on ' +
                              'this page.')];
  return [
    el('h3', {}, t.name, ' ', foreign(t.session, 'small')),
    el('p', {class: 'small'}, place_(t)),
    opRows(t),
    t.n > t.ops.length && el('p', {class: 'note'},
      many(t.n - t.ops.length, 'operation is', 'operations are') +
      ' left out here.'),
  ];
}

function edgeSide(id, op) {
  const t = txns.get(id);
  if (!t) return null;
  const number = op === undefined ? -1 : op - t.first + 1;
  return el('div', {class: 'side', 'data-side': id},
    el('p', {}, el('b', {}, t.name), ' ', foreign(t.session, 'small')),
    number > 0 && opRows(t, (row) => row[0] === number),
    number < 0 && el('p', {class: 'small'}, 'the transaction as a whole'),
    el('p', {class: 'small'}, place_(t)));
}

function edgeDetails(e) {
  return [
    el('p', {}, el('span', {class: 'kind ' + e.kind}, e.kind), ' ',
       e.key !== undefined && el('span', {class: 'op'}, e.key)),
    el('p', {}, e.because + '.'),
    el('p', {class: 'small'}, kinds[e.kind] +
       (e.assumed ? ' (not certain: a step of the proof takes it for granted)'
                  : '') + '.'),
    edgeSide(e.from, e.fromOp), edgeSide(e.to, e.toOp),
  ];
}
