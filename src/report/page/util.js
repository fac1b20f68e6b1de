/* Elements are made from text and attributes only: nothing is parsed. */
const data = JSON.parse(document.getElementById('data').textContent);
const svgSpace = 'http://www.w3.org/2000/svg';
const outcomes = ['committed', 'aborted', 'unknown'];

function fill(node, attributes, children) {
  for (const name in attributes || {}) {
    const value = attributes[name];
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? '' : String(value));
  }
  for (const child of children.flat(3)) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child.nodeType ? child : String(child));
  }
  return node;
}

function put(node, ...children) {
  return fill(node, null, children);
}

function el(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function svg(tag, attributes, ...children) {
  return fill(document.createElementNS(svgSpace, tag), attributes, children);
}

function picture(width, height, attributes) {
  return svg('svg', Object.assign({
    width: width, height: height, viewBox: '0 0 ' + width + ' ' + height,
  }, attributes));
}

/* What is like a button, but a part of a picture or a list. */
function press(action) {
  return {
    tabindex: 0, role: 'button', onclick: action,
    onkeydown: (event) => {
      if (event.key !== 'Enter' && event.key !== ' ') return;
      event.preventDefault();
      action(event);
    },
  };
}

/* Text of the history may be in any script: it keeps to itself. */
function foreign(text, className) {
  return el('bdi', {class: className}, text);
}

function count(n) {
  return n.toLocaleString('en-US');
}

function many(n, one, more) {
  return count(n) + ' ' + (n === 1 ? one : more);
}

function cut(text, most) {
  return text.length > most ? text.slice(0, most - 1) + '\u2026' : text;
}

function digits(x) {
  if (x === 0) return '0';
  return x >= 100 ? x.toFixed(0) : x >= 10 ? x.toFixed(1) : x.toFixed(2);
}

/* Nanoseconds in words; with `step`, as precise as a step of that size. */
function duration(ns, step) {
  const units = [['s', 1e9], ['ms', 1e6], ['\u00b5s', 1e3], ['ns', 1]];
  if (ns === 0) return '0';
  for (const [name, size] of units) {
    if (Math.abs(ns) < size && size > 1) continue;
    const places = step ? Math.max(0, Math.ceil(-Math.log10(step / size) - 1e-9))
                        : -1;
    const x = ns / size;
    return (places >= 0 ? x.toFixed(Math.min(places, 9)) : digits(x)) + ' ' +
           name;
  }
  return String(ns);
}

/* A moment: in seconds, or a place. */
function moment(t, step) {
  if (data.time.unit !== 'ns') return '#' + count(Math.round(t) + 1);
  return duration(t, step);
}

/* About `n` round numbers between two. */
function ticks(from, to, n) {
  let rough = (to - from) / n || 1;
  if (data.time.unit !== 'ns') rough = Math.max(rough, 1); /* places */
  const power = Math.pow(10, Math.floor(Math.log10(rough)));
  const step = [1, 2, 5, 10].map((x) => x * power).find((x) => x >= rough);
  const list = [];
  for (let t = Math.ceil(from / step) * step; t <= to; t += step) list.push(t);
  return {step: step, list: list};
}

/* Draws again when the width changes. */
const drawn = [];
function redraw(host, draw) {
  let last = 0;
  drawn.push(() => {
    const width = Math.floor(host.clientWidth);
    if (width === last || width === 0) return;
    last = width;
    draw(width);
  });
}
function drawAll() {
  for (const draw of drawn) draw();
}

const tip = el('div', {class: 'tip', role: 'tooltip', hidden: true});
function showTip(event, text) {
  tip.textContent = text;
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  const x = Math.min(event.clientX + 14, innerWidth - box.width - 8);
  let y = event.clientY + 16;
  if (y + box.height > innerHeight - 8) y = event.clientY - box.height - 12;
  tip.style.left = Math.max(8, x) + 'px';
  tip.style.top = Math.max(8, y) + 'px';
}
function hideTip() {
  tip.hidden = true;
}

const txns = new Map(data.txns.map((t) => [t.id, t]));

const kinds = {
  ww: 'write, then write: the second replaces the version of the first',
  wr: 'write, then read: the second read what the first wrote',
  rw: 'read, then write: the first read a version that the second replaced, ' +
      'so it did not see the second',
  pwr: 'write, then search: the second already saw the change of the first',
  prw: 'search, then write: the first did not yet see the change of the second',
  so: 'session order: the same client ran one after the other',
  rt: 'real time: the first had ended before the second began',
};
