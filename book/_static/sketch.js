// A curve that a reader draws, by dragging across a plot or point by point with the keys: the kind "sketch" of `ask`.
// Numbers first (tested in node), drawing after.
const sketch = {
  // The handles that a stroke from one place to another sets, {handle: value}. A place is [handle, value], between handles too.
  stroke([from, low], [to, high], count) {
    const set = {}, [first, last] = [Math.min(from, to), Math.max(from, to)];
    for (let at = Math.max(0, Math.ceil(first)); at <= Math.min(count - 1, last); at++)
      set[at] = from === to ? high : low + (high - low) * (at - from) / (to - from);
    set[Math.max(0, Math.min(count - 1, Math.round(to)))] ??= high;
    return set;
  },

  // A value inside the plot, on its grid of a hundredth.
  inside(value, [low, high]) {
    const step = (high - low) / 100, snapped = low + Math.round((value - low) / step) * step;
    return Number(Math.max(low, Math.min(high, snapped)).toPrecision(6));
  },

  // Where the curve is farthest from the right one, and too far: "below" or "above".
  miss({right, within}, values) {
    const off = values.map((value, at) => value - right[at]);
    const worst = off.reduce((a, b) => Math.abs(b) > Math.abs(a) ? b : a);
    return Math.abs(worst) <= within ? null : worst < 0 ? "below" : "above";
  },

  // The form of a question; the first `given` points are told.
  form(question) {
    const {x, y: [low, high], labels: [across, up], right, given = 0} = question;
    const values = x.map((_, at) => at < given ? right[at] : (low + high) / 2), plot = new Plot(question);
    const line = plot.line("mine", values), handles = [];
    let touched = false, before = null;

    const set = (at, value) => {
      if (at < given) return;
      touched = true;
      values[at] = sketch.inside(value, [low, high]);
      handles[at].setAttribute("transform", `translate(${plot.x(at)} ${plot.y(values[at])})`);
      handles[at].setAttribute("aria-valuenow", values[at]);
      handles[at].setAttribute("aria-valuetext", `${values[at]} ${up}`);
      line.setAttribute("d", plot.path(values));
    };
    x.forEach((name, at) => {
      if (at < given) return plot.mark("book", at, values[at]);
      handles[at] = draw("g", {class: "handle", role: "slider", tabindex: 0, "aria-orientation": "vertical", "aria-valuemin": low, "aria-valuemax": high,
        "aria-label": `${up} at ${name} ${across}`}, plot.svg);
      draw("circle", {class: "reach", r: 14}, handles[at]);
      draw("circle", {r: 6}, handles[at]);
      set(at, values[at]);
      handles[at].addEventListener("keydown", event => {
        const small = (high - low) / 50, step = {ArrowUp: small, ArrowRight: small, ArrowDown: -small, ArrowLeft: -small, PageUp: 5 * small, PageDown: -5 * small,
          Home: -Infinity, End: Infinity}[event.key];
        if (!step || event.ctrlKey || event.altKey || event.metaKey) return;
        event.preventDefault();
        set(at, Math.max(low, Math.min(high, values[at] + step)));
      });
    });
    touched = false;

    const drag = event => {
      const here = plot.place(event);
      for (const [at, value] of Object.entries(sketch.stroke(before ?? here, here, x.length))) set(Number(at), value);
      before = here;
    };
    // An element of HTML above the points: only there do all browsers leave a finger to the page's script.
    const pad = make("div", {className: "plot"}), share = (part, whole) => `${100 * part / whole}%`;
    Object.assign(pad.style, {left: share(plot.left - 14, plot.wide), width: share(plot.wide - plot.left - plot.right + 28, plot.wide),
      top: share(plot.top - 12, 240), height: share(plot.low - plot.top + 24, 240)});
    pad.addEventListener("pointerdown", event => {
      if (event.button) return;
      pad.setPointerCapture(event.pointerId);
      drag(event);
    });
    pad.addEventListener("pointermove", event => before && drag(event));
    for (const end of ["pointerup", "pointercancel"]) pad.addEventListener(end, () => { before = null; });

    plot.svg.setAttribute("role", "group");
    plot.svg.setAttribute("aria-label", `A curve of ${x.length - given} points to move: ${up} over ${across}`);
    const how = make("p", {className: "how"}, "Drag across the plot, or move each point with the arrow keys.");
    return {
      element: make("div", {className: "sketch"}, make("div", {className: "pad"}, plot.svg, pad), how),
      title: "Your curve and the book’s",
      value: () => touched ? [...values] : null,
      says: told => {
        const mine = x.map((_, at) => Number(told[at].toPrecision(3))), both = new Plot(question);
        both.line("book", right);
        both.line("mine", mine);
        x.forEach((_, at) => { both.mark("book", at, right[at]); both.mark("mine", at, mine[at]); });
        both.svg.setAttribute("role", "img");
        both.svg.setAttribute("aria-label", `${up} over ${across}. ${x.map((name, at) => `At ${name}: you ${mine[at]}, the book ${right[at]}`).join(". ")}.`);
        const sign = kind => { const svg = draw("svg", {viewBox: "0 0 34 12", width: 34, height: 12, "aria-hidden": true}); draw("path", {class: kind, d: "M0 6H34"}, svg); dot(kind, 17, 6, svg); return svg; };
        return [make("div", {className: "sketch"}, make("p", {className: "key"}, sign("mine"), make("span", {}, "you"), sign("book"), make("span", {}, "the book")), both.svg)];
      },
      miss: told => sketch.miss(question, told),
    };
  },
};

// Axes with their labels, and what is drawn between them, in px of a phone or of the text's column.
class Plot {
  constructor({x, y, labels: [across, up]}) {
    Object.assign(this, {count: x.length, range: y, left: 40, right: 18, top: 30, low: 190});
    this.wide = typeof innerWidth === "number" ? Math.max(250, Math.min(480, innerWidth - 76)) : 480;
    this.svg = draw("svg", {viewBox: `0 0 ${this.wide} 240`, width: this.wide, height: 240});
    for (const value of [y[0], (y[0] + y[1]) / 2, y[1]]) {
      draw("path", {class: "grid", d: `M${this.left} ${this.y(value)}H${this.wide - this.right + 8}`}, this.svg);
      draw("text", {x: this.left - 8, y: this.y(value) + 4, "text-anchor": "end"}, this.svg).textContent = value;
    }
    x.forEach((name, at) => { draw("text", {x: this.x(at), y: this.low + 22, "text-anchor": "middle"}, this.svg).textContent = name; });
    draw("text", {x: 0, y: 13}, this.svg).textContent = up;
    draw("text", {x: (this.left + this.wide - this.right) / 2, y: this.low + 44, "text-anchor": "middle"}, this.svg).textContent = across;
  }
  x(at) { return this.left + 6 + at * (this.wide - this.left - this.right - 6) / (this.count - 1); }
  y(value) { return this.low - (value - this.range[0]) / (this.range[1] - this.range[0]) * (this.low - this.top); }
  path(values) { return "M" + values.map((value, at) => `${this.x(at)} ${this.y(value)}`).join("L"); }
  line(kind, values) { return draw("path", {class: kind, d: this.path(values)}, this.svg); }
  mark(kind, at, value) { dot(kind, this.x(at), this.y(value), this.svg); }
  // Where a pointer is, as [handle, value].
  place(event) {
    const box = this.svg.getBoundingClientRect(), px = (event.clientX - box.left) * this.wide / box.width, py = (event.clientY - box.top) * 240 / box.height;
    const [low, high] = this.range;
    return [(px - this.x(0)) / (this.x(1) - this.x(0)), low + (this.low - py) / (this.low - this.top) * (high - low)];
  }
}

function dot(kind, x, y, parent) {
  if (kind === "mine") draw("circle", {class: "mine", cx: x, cy: y, r: 4.5}, parent);
  else draw("rect", {class: "book", x: x - 4, y: y - 4, width: 8, height: 8}, parent);
}

function draw(name, attributes, parent) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  parent?.append(element);
  return element;
}

if (typeof module === "object") module.exports = sketch;
