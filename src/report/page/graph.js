/* The evidence as a picture: transactions on an ellipse (or, where that would
 * be too high, in two columns), edges between them.  Two stand side by side, or
 * one above the other where it is narrow. */
const nodeGap = 54;

function nodeOf(id, brief) {
  const t = txns.get(id);
  const lines = [];
  if (t && !brief) {
    const cited = t.ops.filter((op) => op[2]);
    for (const op of cited.slice(0, 4)) lines.push(cut(op[1], 32));
    if (cited.length > 4) lines.push('\u2026 ' + (cited.length - 4) + ' more');
  }
  const name = t ? t.name : '#' + id;
  const sub = t ? cut(t.session, 22) +
    (t.outcome ? ', ' + outcomes[t.outcome] : '') : '';
  const width = Math.max(name.length * 9 + (brief ? 0 : sub.length * 6.4 + 12),
                         ...lines.map((l) => l.length * 7.1)) + 26;
  return {id, name, sub: brief ? '' : sub, lines, w: width,
          h: 32 + (lines.length ? lines.length * 17 + 5 : 0), x: 0, y: 0};
}

function hides(a, b, gap) {
  return Math.abs(a.x - b.x) < (a.w + b.w) / 2 + gap &&
    Math.abs(a.y - b.y) < (a.h + b.h) / 2 + gap;
}

function overlap(nodes, gap) {
  return nodes.some((a, i) =>
    nodes.slice(0, i).some((b) => hides(a, b, gap)));
}

/* On the flattest ellipse where none hides another, turned as is best; false:
 * none is flat enough. */
function ellipse(nodes, full, widest) {
  const n = nodes.length, rx = (full - widest) / 2 - 4;
  for (let ry = n === 3 ? 120 : 90; ry <= 110 + 45 * n; ry += 15) {
    for (const turn of [0, 0.5, 0.25, 0.125, 0.375]) {
      nodes.forEach((node, i) => {
        const angle = 2 * Math.PI * (i + turn) / n - Math.PI / 2;
        node.x = full / 2 + rx * Math.cos(angle);
        node.y = ry * Math.sin(angle);
      });
      if (!overlap(nodes, n > 12 ? 28 : nodeGap)) return true;
    }
  }
  return false;
}

/* Down on the left, up on the right; where two do not fit side by side the
 * right ones stand in the gaps of the left ones. */
function ladder(nodes, full, tallest) {
  const n = nodes.length, left = Math.ceil(n / 2);
  const beside = nodes.every((a, i) => a.w +
    (i < left ? nodes[n - 1 - i] : a).w + 40 <= full);
  const row = beside ? tallest + nodeGap + 20 : 2 * tallest + 80;
  nodes.forEach((node, i) => {
    const onLeft = i < left;
    node.x = onLeft ? node.w / 2 + 4 : full - node.w / 2 - 4;
    node.y = (onLeft ? i : n - 1 - i + (beside ? 0 : 0.5)) * row;
  });
}

/* Sets x and y of each; returns the width of the picture. */
function place(nodes, width) {
  const widest = Math.max(...nodes.map((n) => n.w));
  const tallest = Math.max(...nodes.map((n) => n.h));
  const full = Math.max(width, widest + 90);
  const n = nodes.length;
  if (n === 1) {
    nodes[0].x = full / 2;
    nodes[0].y = tallest / 2 + 20;
    return full;
  }
  if (n === 2) {
    const beside = full >= nodes[0].w + nodes[1].w + 130;
    const height = beside ? Math.max(230, tallest + 120)
                          : nodes[0].h + nodes[1].h + 210;
    nodes[0].x = beside ? nodes[0].w / 2 + 4 : full / 2;
    nodes[1].x = beside ? full - nodes[1].w / 2 - 4 : full / 2;
    nodes[0].y = beside ? height / 2 : nodes[0].h / 2 + 8;
    nodes[1].y = beside ? height / 2 : height - nodes[1].h / 2 - 8;
    return full;
  }
  if (!ellipse(nodes, full, widest)) ladder(nodes, full, tallest);
  const top = Math.min(...nodes.map((node) => node.y - node.h / 2)) - 24;
  nodes.forEach((node) => { node.y -= top; });
  return full;
}

/* Where the line from the middle of a box to a point leaves the box. */
function border(node, x, y) {
  const dx = x - node.x, dy = y - node.y;
  const share = Math.min((node.w / 2 + 2) / (Math.abs(dx) || 1e-9),
                         (node.h / 2 + 2) / (Math.abs(dy) || 1e-9), 1);
  return [node.x + dx * share, node.y + dy * share];
}

/* The control point of an edge, given its place among those that join the
 * same two. */
function bend(a, b, place, among, spread) {
  const mx = (a.x + b.x) / 2, my = (a.y + b.y) / 2;
  const length = Math.hypot(b.x - a.x, b.y - a.y) || 1;
  const off = (place - (among - 1) / 2) * spread;
  return [mx + (b.y - a.y) / length * off, my - (b.x - a.x) / length * off];
}

function arrow(x, y, fromX, fromY) {
  const length = Math.hypot(x - fromX, y - fromY) || 1;
  const ux = (x - fromX) / length, uy = (y - fromY) / length;
  const bx = x - ux * 11, by = y - uy * 11;
  return 'M' + x + ' ' + y + 'L' + (bx - uy * 5) + ' ' + (by + ux * 5) +
    'L' + (bx + uy * 5) + ' ' + (by - ux * 5) + 'Z';
}

function edgeText(e) {
  return e.kind + (e.key !== undefined ? ' ' + e.key : '');
}

function labelWidth(text) {
  return cut(text, 26).length * 6.9 + 18;
}

/* The point of a curve where its label is: the middle, unless that is taken. */
function middle(route) {
  const [ax, ay] = border(route.a, route.cx, route.cy);
  const [bx, by] = border(route.b, route.cx, route.cy);
  const t = route.t || 0.5, s = 1 - t;
  return [s * s * ax + 2 * s * t * route.cx + t * t * bx,
          s * s * ay + 2 * s * t * route.cy + t * t * by];
}

/* Moves labels along their curves until none hides another, or a box. */
function placeLabels(ways, edges, nodes) {
  const taken = nodes.map((n) => ({x: n.x, y: n.y, w: n.w, h: n.h}));
  ways.forEach((way, i) => {
    const box = {w: labelWidth(edgeText(edges[i])) + 4, h: 24};
    for (const t of [0.5, 0.42, 0.58, 0.34, 0.66, 0.27, 0.73, 0.5]) {
      way.t = t;
      [box.x, box.y] = middle(way);
      if (!taken.some((o) => hides(o, box, 0))) break;
    }
    taken.push(box);
  });
}

function drawEdge(e, index, route, action) {
  const [ax, ay] = border(route.a, route.cx, route.cy);
  const [bx, by] = border(route.b, route.cx, route.cy);
  const [lx, ly] = middle(route);
  const text = cut(edgeText(e), 26);
  const w = labelWidth(text);
  const path = 'M' + ax + ' ' + ay + 'Q' + route.cx + ' ' + route.cy + ' ' +
    bx + ' ' + by;
  return svg('g', Object.assign({
    class: 'edge ' + e.kind + (e.assumed ? ' assumed' : ''),
    'data-edge': index,
    'aria-label': route.a.name + ' to ' + route.b.name + ', ' + edgeText(e),
  }, press(action)),
  svg('path', {class: 'hit', d: path}), svg('path', {class: 'body', d: path}),
  svg('path', {class: 'head', d: arrow(bx, by, route.cx, route.cy)}),
  svg('g', {class: 'label-of'},
      svg('rect', {class: 'pill', x: lx - w / 2, y: ly - 11, width: w,
                   height: 22, rx: 11}),
      svg('text', {class: 'tag', x: lx, y: ly + 4.2, 'text-anchor': 'middle'},
          text)));
}

function drawNode(node, action) {
  const x = node.x - node.w / 2, y = node.y - node.h / 2;
  return svg('g', Object.assign({class: 'node', 'data-txn': node.id,
                                 'aria-label': 'transaction ' + node.name},
                                press(action)),
  svg('rect', {x: x, y: y, width: node.w, height: node.h, rx: 8}),
  svg('text', {x: x + 13, y: y + 21}, svg('tspan', {class: 'name'}, node.name),
      node.sub && svg('tspan', {class: 'sub', dx: 9}, node.sub)),
  node.lines.map((line, i) => svg('text', {
    class: 'line', x: x + 13, y: y + 42 + i * 17}, line)));
}

/* How far control points must be apart for labels of that width to be side by
 * side: those of steep edges need more. */
function apart(a, b, width) {
  const length = Math.hypot(b.x - a.x, b.y - a.y) || 1;
  return 2 * (Math.abs(b.y - a.y) / length * width +
              Math.abs(b.x - a.x) / length * 26);
}

/* Ways for the edges: those that join the same two are spread. */
function routes(edges, byId, n) {
  const pairs = new Map();
  return edges.map((e) => {
    const low = Math.min(e.from, e.to), high = Math.max(e.from, e.to);
    const key = low + ' ' + high;
    if (!pairs.has(key)) {
      pairs.set(key, edges.filter((o) => Math.min(o.from, o.to) === low &&
                                         Math.max(o.from, o.to) === high));
    }
    const same = pairs.get(key);
    const wide = same.reduce((sum, o) => sum + labelWidth(edgeText(o)), 24);
    const one = byId.get(low), other = byId.get(high);
    const spread = n === 2 && one.x === other.x
      ? Math.max(170, wide * 2 / same.length)
      : n === 2 ? Math.max(170, one.h * 1.2 + 100)
        : Math.max(64, apart(one, other, wide / same.length));
    const [cx, cy] = bend(one, other, same.indexOf(e), same.length,
                          same.length > 4 ? spread / 1.7 : spread);
    return {a: byId.get(e.from), b: byId.get(e.to), cx, cy};
  });
}

function drawGraph(host, finding, width, onEdge, onTxn) {
  const brief = finding.txns.length > 7;
  const nodes = finding.txns.map((id) => nodeOf(id, brief));
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const w = place(nodes, width);
  const ways = routes(finding.edges, byId, nodes.length);
  placeLabels(ways, finding.edges, nodes);
  let up = Math.min(...nodes.map((node) => node.y - node.h / 2)) - 4;
  let down = Math.max(...nodes.map((node) => node.y + node.h / 2)) + 4;
  let left = 0, right = w;
  ways.forEach((way, i) => {
    const [x, y] = middle(way);
    const half = labelWidth(edgeText(finding.edges[i])) / 2 + 2;
    left = Math.min(left, x - half);
    right = Math.max(right, x + half);
    up = Math.min(up, y - 14);
    down = Math.max(down, y + 14);
  });
  const image = svg('svg', {
    width: right - left, height: down - up, role: 'group',
    viewBox: [left, up, right - left, down - up].join(' '),
    'aria-label': 'graph of the transactions and what orders them',
    class: finding.edges.length > 24 ? 'quiet' : ''});
  finding.edges.forEach((e, i) => image.append(
    drawEdge(e, i, ways[i], () => onEdge(i))));
  for (const node of nodes) image.append(drawNode(node, () => onTxn(node.id)));
  host.replaceChildren(image);
}
