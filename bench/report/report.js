// Every page of a report: plots that zoom, tables that sort, the index's filters, copying, and the colour scheme.
"use strict";

const root = document.documentElement;

function made(tag, properties, ...inside) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...inside);
  return element;
}

// ---- plots ---------------------------------------------------------------------------------------------------------

const MARGIN = {left: 62, right: 12, top: 10, bottom: 42};
const probe = made("span", {hidden: true});

function colour(name) {
  probe.style.color = `var(--${name})`;
  return getComputedStyle(probe).color;
}

// numbers, or whole numbers n of steps above lo, which take less room
function unpacked(values) {
  return Array.isArray(values) ? values : values.n.map(n => n === null ? NaN : values.lo + n * values.step);
}

function ticks(lo, hi, count) {
  const raw = (hi - lo) / count, power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map(m => m * power).find(s => s >= raw);
  const found = [];
  for (let x = Math.ceil(lo / step) * step; x <= hi + step * 1e-9; x += step) found.push(Math.abs(x) < step * 1e-9 ? 0 : x);
  return {found, step};
}

function told(x, step) {
  const size = Math.abs(x);
  if (size && (size >= 1e6 || size < 1e-4)) return x.toExponential(Math.max(0, Math.floor(Math.log10(size / step) + 1e-9)));
  return x.toFixed(Math.min(12, Math.max(0, -Math.floor(Math.log10(step) + 1e-9))));
}

class Panel {
  constructor(figure, data) {
    Object.assign(this, {figure, data, home: [...data.xr, ...data.yr]});
    this.view = [...this.home];
    data.layers.forEach(layer => {
      if (layer.x && layer.kind !== "spans") layer.x = unpacked(layer.x);
      if (layer.y && layer.kind !== "columns" && layer.kind !== "rule") layer.y = unpacked(layer.y);
      if (layer.kind === "columns") layer.y = layer.y.map(n => unpacked({n, lo: layer.lo, step: layer.step}));
    });
    this.canvas = made("canvas", {tabIndex: 0});
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", data.alt);
  }

  size() {
    const width = this.canvas.clientWidth || 600;
    return [width, Math.round(this.data.height || Math.min(420, Math.max(240, width * 0.62)))];
  }

  place(x, y) {
    const [x0, x1, y0, y1] = this.view, [w, h] = this.size();
    return [MARGIN.left + (x - x0) / (x1 - x0) * (w - MARGIN.left - MARGIN.right),
            h - MARGIN.bottom - (y - y0) / (y1 - y0) * (h - MARGIN.top - MARGIN.bottom)];
  }

  at(px, py) {
    const [x0, x1, y0, y1] = this.view, [w, h] = this.size();
    return [x0 + (px - MARGIN.left) / (w - MARGIN.left - MARGIN.right) * (x1 - x0),
            y0 + (h - MARGIN.bottom - py) / (h - MARGIN.top - MARGIN.bottom) * (y1 - y0)];
  }

  draw() {
    const [w, h] = this.size(), scale = window.devicePixelRatio || 1, pen = this.canvas.getContext("2d");
    this.canvas.style.height = `${h}px`;
    this.canvas.width = w * scale;
    this.canvas.height = h * scale;
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.font = "12px system-ui, sans-serif";
    this.axes(pen, w, h);
    pen.save();
    pen.beginPath();
    pen.rect(MARGIN.left, MARGIN.top, w - MARGIN.left - MARGIN.right, h - MARGIN.top - MARGIN.bottom);
    pen.clip();
    this.data.layers.forEach(layer => this[layer.kind](pen, layer, h));
    pen.restore();
  }

  axes(pen, w, h) {
    const [x0, x1, y0, y1] = this.view, ink = colour("faint"), line = colour("line");
    const across = ticks(x0, x1, Math.max(2, w / 110)), up = ticks(y0, y1, Math.max(2, h / 60));
    pen.lineWidth = 1;
    pen.textAlign = "center";
    across.found.forEach(x => {
      const [px] = this.place(x, y0);
      pen.strokeStyle = line; pen.beginPath(); pen.moveTo(px, MARGIN.top); pen.lineTo(px, h - MARGIN.bottom); pen.stroke();
      pen.fillStyle = ink;
      pen.fillText(this.data.logx ? (10 ** x).toPrecision(2).replace(/^(\d)\.0e/, "$1e") : told(x, across.step), px, h - MARGIN.bottom + 15);
    });
    pen.textAlign = "right";
    up.found.forEach(y => {
      const [, py] = this.place(x0, y);
      pen.strokeStyle = line; pen.beginPath(); pen.moveTo(MARGIN.left, py); pen.lineTo(w - MARGIN.right, py); pen.stroke();
      pen.fillStyle = ink; pen.fillText(told(y, up.step), MARGIN.left - 5, py + 4);
    });
    pen.fillStyle = colour("ink");
    pen.textAlign = "center";
    pen.fillText(this.data.x, (MARGIN.left + w - MARGIN.right) / 2, h - 8);
    pen.save();
    pen.translate(13, (MARGIN.top + h - MARGIN.bottom) / 2); pen.rotate(-Math.PI / 2);
    pen.fillText(this.data.y, 0, 0);
    pen.restore();
  }

  dots(pen, layer) {
    const half = (layer.size || 1.4) / 2;
    pen.fillStyle = colour(layer.colour);
    layer.x.forEach((x, i) => { const [px, py] = this.place(x, layer.y[i]); pen.fillRect(px - half, py - half, 2 * half, 2 * half); });
  }

  columns(pen, layer) {
    pen.fillStyle = colour(layer.colour);
    layer.x.forEach((x, i) => {
      if (x < this.view[0] || x > this.view[1]) return;
      for (const y of layer.y[i]) { const [px, py] = this.place(x, y); pen.fillRect(px - 0.6, py - 0.6, 1.2, 1.2); }
    });
  }

  line(pen, layer) {
    pen.strokeStyle = colour(layer.colour);
    pen.lineWidth = layer.width || 1;
    pen.beginPath();
    let pending = true;
    layer.x.forEach((x, i) => {
      const y = layer.y[i];
      if (x === null || y === null || Number.isNaN(x) || Number.isNaN(y)) { pending = true; return; }
      const [px, py] = this.place(x, y);
      if (pending) pen.moveTo(px, py); else pen.lineTo(px, py);
      pending = false;
    });
    pen.stroke();
  }

  bars(pen, layer) {
    pen.strokeStyle = pen.fillStyle = colour(layer.colour);
    pen.lineWidth = 1.2;
    layer.x.forEach((x, i) => {
      const [px, py] = this.place(x, layer.y[i]), [, low] = this.place(x, layer.y[i] - layer.down[i]),
            [, high] = this.place(x, layer.y[i] + layer.up[i]);
      pen.beginPath(); pen.moveTo(px, low); pen.lineTo(px, high); pen.moveTo(px - 3, low); pen.lineTo(px + 3, low);
      pen.moveTo(px - 3, high); pen.lineTo(px + 3, high); pen.stroke();
      pen.beginPath(); pen.arc(px, py, 2.6, 0, 7); pen.fill();
    });
  }

  spans(pen, layer, h) {
    pen.fillStyle = colour(layer.colour);
    pen.globalAlpha = 0.35;
    layer.x.forEach(([lo, hi]) => {
      const [a] = this.place(lo, 0), [b] = this.place(hi, 0);
      pen.fillRect(Math.min(a, (a + b) / 2 - 0.7), MARGIN.top, Math.max(1.4, b - a), h);
    });
    pen.globalAlpha = 1;
  }

  rule(pen, layer) {
    const [x0, x1] = this.view, [a, y] = this.place(x0, layer.y), [b, low] = this.place(x1, layer.y - (layer.error || 0)),
          [, high] = this.place(x1, layer.y + (layer.error || 0));
    pen.fillStyle = pen.strokeStyle = colour(layer.colour);
    pen.globalAlpha = 0.2;
    pen.fillRect(a, high, b - a, low - high);
    pen.globalAlpha = 1;
    pen.lineWidth = 1;
    pen.beginPath(); pen.moveTo(a, y); pen.lineTo(b, y); pen.stroke();
  }
}

class Plot {
  constructor(figure) {
    const data = JSON.parse(figure.querySelector("script").textContent);
    this.shared = data.shared;
    this.panels = data.panels.map(panel => new Panel(this, panel));
    this.readout = made("output");
    const button = (text, title, act) => made("button", {type: "button", textContent: text, title, ariaLabel: title, onclick: act});
    const all = act => () => { this.panels.forEach(act); this.draw(); };
    const tools = made("div", {className: "tools"},
      button("+", "Zoom in", all(panel => this.zoom(panel, 0.5))), button("−", "Zoom out", all(panel => this.zoom(panel, 2))),
      button("Reset", "Show all again", all(panel => { panel.view = [...panel.home]; })), this.readout);
    figure.prepend(tools, made("div", {className: "panels"}, ...this.panels.map(panel => panel.canvas)));
    this.panels.forEach(panel => this.listen(panel));
    new ResizeObserver(() => this.draw()).observe(figure);
  }

  draw() { this.panels.forEach(panel => panel.draw()); }

  share(panel) {
    if (this.shared) this.panels.forEach(other => { other.view[0] = panel.view[0]; other.view[1] = panel.view[1]; });
  }

  // by a factor about a point, or the middle
  zoom(panel, factor, point) {
    const [x0, x1, y0, y1] = panel.view, [x, y] = point || [(x0 + x1) / 2, (y0 + y1) / 2];
    if (factor < 1 && (x1 - x0) < 1e-12 * Math.max(Math.abs(x0), Math.abs(x1), 1e-300)) return;
    panel.view = [x + (x0 - x) * factor, x + (x1 - x) * factor, y + (y0 - y) * factor, y + (y1 - y) * factor];
    if (point) this.share(panel);
  }

  move(panel, dx, dy) {
    const [x0, x1, y0, y1] = panel.view;
    panel.view = [x0 + dx * (x1 - x0), x1 + dx * (x1 - x0), y0 + dy * (y1 - y0), y1 + dy * (y1 - y0)];
    this.share(panel);
  }

  listen(panel) {
    const canvas = panel.canvas;
    let held = null;
    canvas.addEventListener("wheel", event => {  // an unfocused plot lets the page scroll
      if (document.activeElement !== canvas && !event.ctrlKey) return;
      event.preventDefault();
      this.zoom(panel, event.deltaY < 0 ? 0.8 : 1.25, panel.at(event.offsetX, event.offsetY));
      this.draw();
    }, {passive: false});
    canvas.addEventListener("pointerdown", event => { held = [event.offsetX, event.offsetY]; canvas.setPointerCapture(event.pointerId); });
    canvas.addEventListener("pointerup", () => { held = null; });
    canvas.addEventListener("pointercancel", () => { held = null; });
    canvas.addEventListener("pointermove", event => {
      const [x, y] = panel.at(event.offsetX, event.offsetY);
      const digits = v => Number(v.toPrecision(6)).toString();
      this.readout.textContent = `${panel.data.x}: ${digits(panel.data.logx ? 10 ** x : x)}   ${panel.data.y}: ${digits(y)}`;
      if (!held) return;
      const [w, h] = panel.size();
      this.move(panel, (held[0] - event.offsetX) / (w - MARGIN.left - MARGIN.right), (event.offsetY - held[1]) / (h - MARGIN.top - MARGIN.bottom));
      held = [event.offsetX, event.offsetY];
      this.draw();
    });
    canvas.addEventListener("dblclick", () => { this.panels.forEach(each => { each.view = [...each.home]; }); this.draw(); });
    canvas.addEventListener("keydown", event => {
      const middle = [(panel.view[0] + panel.view[1]) / 2, (panel.view[2] + panel.view[3]) / 2];
      const acts = {"+": () => this.zoom(panel, 0.8, middle), "=": () => this.zoom(panel, 0.8, middle), "-": () => this.zoom(panel, 1.25, middle),
                    ArrowLeft: () => this.move(panel, -0.1, 0), ArrowRight: () => this.move(panel, 0.1, 0),
                    ArrowUp: () => this.move(panel, 0, 0.1), ArrowDown: () => this.move(panel, 0, -0.1),
                    "0": () => this.panels.forEach(each => { each.view = [...each.home]; })};
      if (!acts[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      acts[event.key]();
      this.draw();
    });
  }
}

// ---- tables, filters, copying, colours -------------------------------------------------------------------------------

function sortable(table) {
  const value = (row, column) => {
    const cell = row.cells[column], text = cell.dataset.v ?? cell.textContent.trim(), number = parseFloat(text);
    return Number.isNaN(number) ? text.toLowerCase() : number;
  };
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    const act = () => {
      const down = head.getAttribute("aria-sort") === "ascending", rows = [...table.tBodies[0].rows];
      const compare = (a, b) => typeof a === typeof b ? (a < b ? -1 : a > b ? 1 : 0) : typeof a === "number" ? -1 : 1;
      rows.sort((a, b) => (down ? -1 : 1) * compare(value(a, column), value(b, column)));
      [...table.tHead.rows[0].cells].forEach(other => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      table.tBodies[0].append(...rows);
    };
    if (head.textContent.trim()) head.replaceChildren(made("button", {type: "button", textContent: head.textContent, onclick: act}));
  });
}

function filters(form) {
  const rows = [...document.querySelectorAll("#systems tbody tr")], names = JSON.parse(form.dataset.predicates);
  const apply = () => {
    const wanted = Object.fromEntries(new FormData(form)), words = wanted.search.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    rows.forEach(row => {
      const d = row.dataset, text = row.textContent.toLowerCase(), dimension = Number(d.dimension);
      const fits = words.every(word => text.includes(word)) && (!wanted.kind || d.kind === wanted.kind)
        && (!wanted.regime || d.regime === wanted.regime) && (!wanted.least || dimension >= Number(wanted.least))
        && (!wanted.most || dimension <= Number(wanted.most))
        && (!wanted.predicate || d.predicates[names.indexOf(wanted.predicate)] === wanted.value[0]);
      row.hidden = !fits;
      shown += fits;
    });
    document.getElementById("count").textContent = `${shown} of ${rows.length} systems`;
  };
  form.addEventListener("input", apply);
  form.addEventListener("reset", () => setTimeout(apply));
  form.addEventListener("submit", event => event.preventDefault());
  apply();
}

function theme(nav) {
  const remembered = text => { try { return text ? localStorage.setItem("scheme", text) : localStorage.getItem("scheme"); } catch { return null; } };
  const dark = () => (root.style.colorScheme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const redraw = () => plots.forEach(plot => plot.draw());
  if (remembered()) root.style.colorScheme = remembered();
  nav.append(made("button", {type: "button", className: "theme", textContent: "Light or dark", onclick: () => {
    root.style.colorScheme = dark() ? "light" : "dark";
    remembered(root.style.colorScheme);
    redraw();
  }}));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
}

document.body.append(probe);
const plots = [];
const nav = document.querySelector("header nav");
if (nav) theme(nav);
document.querySelectorAll("figure.plot").forEach(figure => { const plot = new Plot(figure); figure.plot = plot; plots.push(plot); });
document.querySelectorAll("table.sortable").forEach(sortable);
document.querySelectorAll("form.filters").forEach(filters);
document.querySelectorAll(".command").forEach(row => {
  const button = made("button", {type: "button", textContent: "Copy"});
  button.onclick = async () => {
    try { await navigator.clipboard.writeText(row.querySelector("pre").textContent); button.textContent = "Copied"; }
    catch { getSelection().selectAllChildren(row.querySelector("pre")); button.textContent = "Press Ctrl-C"; }
  };
  row.append(button);
});
