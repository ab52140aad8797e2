"use strict";
// Hover and zoom of the report's charts. Everything is readable without it: this reads the exact numbers of a bin or block
// under the pointer, and redraws a dragged range of the x axis. Ticks follow src/howlate/figures/scale.py, data follow data.py.
(() => {
  const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const SPACE = "\u202f";
  const SVG = "http://www.w3.org/2000/svg";
  const WORTH = 4; // pixels that a drag must cover to be a zoom
  const NEAR = 4; // pixels beside a link that still belong to it

  // In the language of the page, which brings its words where they are not these (document/html.py).
  const words = JSON.parse((document.getElementById("words") || { textContent: "{}" }).textContent);
  const said = (text, values) => (words[text] || text).replace(/\{(\w+)\}/g, (_, name) => values[name]);

  // Differences in base 64, 5 bits a digit; beyond 31 bits, so no bit operators.
  function unpack(text) {
    const values = [];
    let value = 0, rest = 0, weight = 1;
    for (const char of text) {
      const digit = DIGITS.indexOf(char);
      rest += (digit % 32) * weight;
      weight *= 32;
      if (digit < 32) {
        value += rest % 2 ? -(rest - 1) / 2 : rest / 2;
        values.push(value);
        rest = 0;
        weight = 1;
      }
    }
    return values;
  }

  // --- Ticks -------------------------------------------------------------------------------------------------------
  function linearTicks(low, high, about) {
    const rough = (high - low) / Math.max(1, about);
    const base = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5].map((f) => f * base).find((s) => rough <= s * (1 + 1e-9)) || 10 * base;
    const ticks = [];
    for (let i = Math.ceil(low / step - 1e-9); i <= Math.floor(high / step + 1e-9); i++) ticks.push(i * step);
    return ticks;
  }

  function logTicks(low, high, about) {
    const decades = Math.log10(high / low);
    if (decades < 0.9) return linearTicks(low, high, about);
    const factors = decades * 3 <= about + 1 ? [1, 2, 5] : [1];
    const every = factors.length === 1 ? Math.max(1, Math.ceil(decades / Math.max(1, about) - 1e-9)) : 1;
    const ticks = [];
    for (let e = Math.floor(Math.log10(low)); e <= Math.ceil(Math.log10(high)); e++)
      if (e % every === 0) for (const f of factors) ticks.push(f * 10 ** e);
    return ticks.filter((v) => low * (1 - 1e-9) <= v && v <= high * (1 + 1e-9));
  }

  // An axis that is nearly linear up to a knee on both sides of zero: places in octaves, and back.
  const octaves = (v, knee) => Math.asinh(v / knee) / Math.LN2;
  const valueAt = (place, knee) => knee * Math.sinh(place * Math.LN2);

  function bentTicks(low, high, knee, about) {
    const [near, far] = [Math.abs(low), Math.abs(high)].sort((p, q) => p - q);
    if ((low > 0 || high < 0) && near >= knee)
      return low > 0 ? logTicks(low, high, about) : logTicks(near, far, about).map((v) => -v).reverse();
    if (far <= 8 * knee) return linearTicks(low, high, about);
    const places = [];
    for (let e = Math.floor(Math.log10(knee / 2)); e <= Math.ceil(Math.log10(far)); e++)
      for (const f of [1, 2, 5]) if (f * 10 ** e >= knee / 2) places.push(f * 10 ** e);
    const values = [...places.map((v) => -v).reverse(), 0, ...places].filter((v) => low <= v && v <= high);
    if (values.length <= about + 1) return values;
    const power = (v) => Math.round(Math.log10(Math.abs(v)));
    const tens = values.filter((v) => !v || Math.abs(Math.abs(v) / 10 ** power(v) - 1) < 1e-9);
    const every = Math.max(1, Math.ceil(tens.length / Math.max(1, about) - 1e-9));
    return tens.filter((v) => !v || power(v) % every === 0);
  }

  const shortest = (value) => {
    const text = String(Number(value.toPrecision(7)));
    return text.includes("e") ? value.toFixed(9).replace(/\.?0+$/, "") : text;
  };

  function timeText(ns, digits = shortest) {
    for (const [unit, size] of [["s", 1e9], ["ms", 1e6], ["µs", 1e3]])
      if (Math.abs(ns) >= size * (1 - 1e-9)) return digits(ns / size) + SPACE + unit;
    return ns ? digits(ns) + SPACE + "ns" : "0";
  }

  function clockText(seconds, largest) {
    const [size, unit] = largest >= 10800 ? [3600, "h"] : largest >= 600 ? [60, "min"] : [1, "s"];
    return seconds ? shortest(seconds / size) + SPACE + unit : "0";
  }

  function countText(n) {
    for (const [unit, size] of [["G", 1e9], ["M", 1e6], ["k", 1e3]]) if (n >= size) return shortest(n / size) + unit;
    return shortest(n);
  }

  const percentText = (share) => shortest(Math.round(share * 1000) / 10) + SPACE + "%";

  const grouped = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, SPACE);

  // Exact: a whole number of nanoseconds keeps every digit.
  const exact = (ns) => timeText(ns, (v) => String(Number(v.toPrecision(15))));

  const SAY = {
    ns: exact,
    count: grouped,
    permille: (v) => (v / 10).toFixed(1) + SPACE + "%",
  };

  function oneIn(times) {
    return said("1 in {many}", { many: times < 10 ? Number(times.toPrecision(2)) : grouped(Math.round(times)) });
  }

  // --- One plot ----------------------------------------------------------------------------------------------------
  class Plot {
    constructor(element) {
      this.element = element;
      this.data = JSON.parse(element.querySelector("script").textContent);
      this.frame = element.querySelector(".frame");
      this.plane = element.querySelector(".plane");
      this.range = [0, 1]; // shares of the whole axis that are shown
      this.cursor = -1;
      const { low, high, log, knee } = this.data.x;
      const [first, last] = [octaves(low, knee), octaves(high, knee)];
      if (knee) {
        this.at = (v) => (octaves(v, knee) - first) / (last - first);
        this.value = (s) => valueAt(first + s * (last - first), knee);
      } else {
        this.at = log ? (v) => Math.log(Math.max(v, 1e-300) / low) / Math.log(high / low) : (v) => (v - low) / (high - low);
        this.value = log ? (s) => low * (high / low) ** s : (s) => low + s * (high - low);
      }
      this.makeLens();
      element.tabIndex = 0;
      element.setAttribute("role", "group");
      element.setAttribute("aria-roledescription", "chart");
      element.setAttribute("aria-label", `${this.data.label}. Arrow keys read values, plus and minus zoom, 0 shows all.`);
      element.addEventListener("keydown", (event) => this.key(event));
      element.addEventListener("blur", () => this.leave());
    }

    // Decoded on first use: 40 cells cost nothing until they are looked at.
    get native() {
      const d = this.data;
      if (!this.decoded) {
        if (d.kind === "intervals") {
          const low = typeof d.low === "number" ? Array.from({ length: d.low }, (_, i) => i) : unpack(d.low);
          const size = typeof d.size === "number" ? low.map(() => d.size) : unpack(d.size);
          this.decoded = {
            low: low.map((v) => d.base + d.unit * v),
            high: low.map((v, i) => d.base + d.unit * (v + size[i])),
            series: d.series.map((s) => ({ ...s, values: unpack(s.values) })),
          };
        } else {
          this.decoded = { series: d.series.map((s) => ({ ...s, x: unpack(s.x).map((v) => v / (s.per || 1)), y: unpack(s.y) })) };
        }
      }
      return this.decoded;
    }

    // The bins that are drawn: joined as far as the zoom asks for.
    get intervals() {
      if (!this.data.merge) return this.native;
      const bits = this.bits();
      if (this.mergedBits !== bits) {
        this.mergedBits = bits;
        this.merged = bits > this.data.merge.finest ? this.native : merge(this.native, this.places, this.data.merge.finest - bits);
      }
      return this.merged;
    }

    bits() {
      return this.data.merge.bits + Math.max(0, Math.floor(-Math.log2(this.range[1] - this.range[0])));
    }

    // The place of each bin among the finest equal ones, and where those begin.
    get places() {
      const { places, edges, first } = this.data.merge;
      this.finest = this.finest || { of: unpack(places), edges: unpack(edges), first };
      return this.finest;
    }

    makeLens() {
      this.lens = document.createElement("div");
      this.lens.className = "lens";
      this.hair = document.createElement("div");
      this.hair.className = "hair";
      this.hair.hidden = true;
      this.lens.append(this.hair);
      this.element.append(this.lens);
      this.place();
      this.lens.addEventListener("pointermove", (event) => this.move(event));
      this.lens.addEventListener("pointerleave", () => this.leave());
      this.lens.addEventListener("pointerdown", (event) => this.down(event));
      this.lens.addEventListener("pointerup", (event) => this.up(event));
      this.lens.addEventListener("pointercancel", () => this.stopDrag());
      this.lens.addEventListener("dblclick", () => this.zoom([0, 1]));
    }

    place() {
      const style = getComputedStyle(this.element);
      const room = (side) => parseFloat(style["padding" + side]);
      Object.assign(this.lens.style, {
        left: room("Left") + "px", right: room("Right") + "px", top: room("Top") + "px", bottom: room("Bottom") + "px",
      });
    }

    share(event) {
      const box = this.lens.getBoundingClientRect();
      return Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
    }

    // Share of what is shown <-> share of the whole axis.
    whole(share) { return this.range[0] + share * (this.range[1] - this.range[0]); }
    shown(share) { return (share - this.range[0]) / (this.range[1] - this.range[0]); }

    move(event) {
      const share = this.share(event);
      if (this.dragFrom !== undefined) {
        const [a, b] = [this.dragFrom, share].sort((p, q) => p - q);
        Object.assign(this.dragBox.style, { left: a * 100 + "%", width: (b - a) * 100 + "%" });
        hideTip();
        return;
      }
      const box = this.lens.getBoundingClientRect();
      this.read(share, (event.clientY - box.top) / box.height);
    }

    down(event) {
      if (event.button !== 0 || event.pointerType === "touch") return;
      this.lens.setPointerCapture(event.pointerId);
      this.dragFrom = this.share(event);
      this.dragBox = document.createElement("div");
      this.dragBox.className = "drag";
      this.lens.append(this.dragBox);
    }

    up(event) {
      if (this.dragFrom === undefined) return;
      const [a, b] = [this.dragFrom, this.share(event)].sort((p, q) => p - q);
      this.stopDrag();
      if ((b - a) * this.lens.clientWidth >= WORTH) this.zoom([this.whole(a), this.whole(b)]);
      else this.follow(event.clientX, event.clientY);
    }

    // The lens lies above the picture's links: a click leads where the link below it does.
    follow(x, y) {
      const near = (link) => {
        const box = link.getBoundingClientRect();
        return box.left - NEAR <= x && x <= box.right + NEAR && box.top - NEAR <= y && y <= box.bottom + NEAR;
      };
      const link = Array.from(this.frame.querySelectorAll(".notes a")).find(near);
      if (!link) return;
      const target = link.getAttribute("href");
      reveal(target.slice(1));
      location.hash = target;
    }

    stopDrag() {
      if (this.dragBox) this.dragBox.remove();
      this.dragFrom = this.dragBox = undefined;
    }

    leave() {
      this.hair.hidden = true;
      hideTip();
    }

    // --- Reading values
    read(share, up) {
      if (this.data.kind === "intervals") this.readInterval(this.value(this.whole(share)));
      else this.readPoint(share, up);
    }

    readInterval(value) {
      const { low, high } = this.intervals;
      let a = 0, b = low.length - 1;
      while (a < b) { // the last interval that begins at or before the value
        const middle = (a + b + 1) >> 1;
        if (low[middle] <= value) a = middle; else b = middle - 1;
      }
      if (value >= high[a] && a + 1 < low.length && low[a + 1] - value < value - high[a]) a++;
      this.showInterval(a);
    }

    showInterval(i) {
      const { low, high, series } = this.intervals;
      this.cursor = i;
      const { kind, high: largest } = this.data.x;
      const say = kind === "ns" ? exact : kind === "count" ? (v) => grouped(Math.round(v)) : (v) => clockText(v, largest);
      const middle = this.at((Math.max(low[i], this.data.x.low) + high[i]) / 2);
      const rows = series.map((s) => [s.name, SAY[s.kind](s.values[i]), s.key]);
      this.show(this.shown(middle), said("{low} to {high}", { low: say(low[i]), high: say(high[i]) }), rows);
    }

    points() {
      const y = this.data.y;
      const up = y.log
        ? (v, total) => Math.log(Math.max(v, 0.5) / total / y.low) / Math.log(y.high / y.low)
        : (v) => (v - y.low) / (y.high - y.low);
      return this.native.series.flatMap((s, n) => s.x.map((x, i) => ({ n, i, s, x, at: this.at(x), up: up(s.y[i], s.total) })));
    }

    readPoint(share, down) {
      this.all = this.all || this.points();
      const { clientWidth: w, clientHeight: h } = this.lens;
      let best = -1, least = Infinity;
      this.all.forEach((p, i) => {
        const far = ((this.shown(p.at) - share) * w) ** 2 + ((1 - p.up - down) * h) ** 2;
        if (far < least) [best, least] = [i, far];
      });
      if (best >= 0) this.showPoint(best);
    }

    showPoint(i) {
      this.all = this.all || this.points();
      this.cursor = i;
      const { s, i: k, x, at } = this.all[i];
      const rows = s.says
        ? [[s.names[k], s.says[k], s.key]]
        : s.names
        ? [[s.names[k], exact(x), s.key]]
        : [[said("later than"), exact(x), s.key],
           [s.unit, said("{part} of {whole}", { part: grouped(s.y[k]), whole: grouped(s.total) })],
           [said("share"), s.y[k] ? oneIn(s.total / s.y[k]) : said("none: the largest seen")]];
      this.show(this.shown(at), s.name, rows);
    }

    show(share, head, rows) {
      if (share < 0 || share > 1) return this.leave();
      this.hair.hidden = false;
      this.hair.style.left = share * 100 + "%";
      const box = this.lens.getBoundingClientRect();
      showTip(head, rows, box.left + share * box.width, box.top);
    }

    // --- Keyboard
    key(event) {
      const count = this.data.kind === "intervals" ? this.intervals.low.length : (this.all = this.all || this.points()).length;
      const go = (i) => {
        const to = Math.min(count - 1, Math.max(0, i));
        if (this.data.kind === "intervals") this.showInterval(to); else this.showPoint(to);
      };
      const leap = event.shiftKey ? 10 : 1;
      const middle = () => {
        const share = this.hair.hidden ? 0.5 : parseFloat(this.hair.style.left) / 100;
        return this.whole(share);
      };
      const scale = (factor) => {
        const half = ((this.range[1] - this.range[0]) * factor) / 2, at = middle();
        this.zoom([at - half, at + half]);
      };
      const actions = {
        ArrowRight: () => go(this.cursor + leap), ArrowLeft: () => go(this.cursor < 0 ? count - 1 : this.cursor - leap),
        Home: () => go(0), End: () => go(count - 1), "+": () => scale(0.5), "=": () => scale(0.5), "-": () => scale(2),
        0: () => this.zoom([0, 1]), Escape: () => this.leave(),
      };
      const action = actions[event.key];
      if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      action();
    }

    // --- Zoom
    zoom(range) {
      const a = Math.max(0, range[0]), b = Math.min(1, range[1]);
      if (b - a < 1e-6) return;
      const all = a === 0 && b === 1, values = [this.value(a), this.value(b)];
      for (const plot of plots) {
        if (plot === this) plot.setRange([a, b]);
        else if (this.data.link && plot.data.link === this.data.link) {
          // The same values, which stand elsewhere on an axis of another length.
          const [c, d] = all ? [0, 1] : [Math.max(0, plot.at(values[0])), Math.min(1, plot.at(values[1]))];
          if (d - c >= 1e-6) plot.setRange([c, d]);
        }
      }
      this.leave();
    }

    setRange(range) {
      this.range = range;
      this.cursor = -1;
      const [width, height] = this.data.plane;
      this.plane.setAttribute("viewBox", `${range[0] * width} 0 ${(range[1] - range[0]) * width} ${height}`);
      if (this.data.merge) this.drawBars();
      this.drawTicks();
      for (const note of this.frame.querySelectorAll(".note:not(.row)")) {
        const share = this.shown(Number(note.dataset.at));
        note.setAttribute("x", share * 100 + "%");
        note.style.display = share < -1e-9 || share > 1 + 1e-9 ? "none" : "";
        const text = note.querySelector("text");
        if (text && !text.classList.contains("mid")) {
          text.setAttribute("class", share > 0.6 ? "left" : "right");
          text.setAttribute("x", share > 0.6 ? -9 : 9);
        }
      }
      this.offerReset();
    }

    drawTicks() {
      const { kind, log, knee, high: largest, names } = this.data.x;
      const low = this.value(this.range[0]), high = this.value(this.range[1]);
      const about = Math.max(3, Math.min(8, Math.floor(this.frame.getBoundingClientRect().width / 90)));
      const ticks = names ? this.nameTicks(low, high) : knee ? bentTicks(low, high, knee, about) : (log ? logTicks : linearTicks)(low, high, about);
      const group = this.frame.querySelector(".x");
      group.replaceChildren();
      for (const tick of ticks) {
        const x = this.shown(this.at(tick)) * 100 + "%";
        const line = document.createElementNS(SVG, "line");
        for (const [k, v] of Object.entries({ x1: x, x2: x, y1: "0", y2: "100%" })) line.setAttribute(k, v);
        const text = document.createElementNS(SVG, "text");
        for (const [k, v] of Object.entries({ x, y: "100%", dy: "1.4em" })) text.setAttribute(k, v);
        text.textContent = names ? names[Math.floor(tick)] : kind === "ns" ? timeText(tick) : kind === "count" ? countText(tick) : kind === "share" ? percentText(tick) : clockText(tick, largest);
        group.append(line, text);
      }
      this.element.dataset.low = low;
      this.element.dataset.high = high;
    }

    // A name that would reach what stands at the end of its row loses its middle, as in the terminal.
    fitNames() {
      const notes = Array.from(this.frame.querySelectorAll(".note.row"));
      const width = this.frame.getBoundingClientRect().width;
      this.names = this.names || notes.map((note) => note.textContent);
      notes.forEach((note, i) => {
        const text = note.querySelector("text.right"), whole = this.names[i];
        const end = notes.find((other) => other !== note && other.getAttribute("y") === note.getAttribute("y"));
        if (!text || !end || !width) return;
        const room = width - end.querySelector("text").getComputedTextLength() - 12;
        text.textContent = whole;
        if (text.getComputedTextLength() <= room) return;
        const name = whole.replace(/ \([^()]*\)$/, "");
        text.textContent = name;
        for (let left = name.length - 1; left > 2 && text.getComputedTextLength() > room; left--)
          text.textContent = name.slice(0, (left + 1) >> 1) + "…" + name.slice(name.length - (left >> 1));
      });
    }

    // Every name, or every n-th where there is no room; the last one always.
    nameTicks(low, high) {
      const { names } = this.data.x;
      const longest = Math.max(...names.map((name) => name.length)) * 7 + 12;
      const room = this.frame.getBoundingClientRect().width / Math.max(1, high - low);
      const every = Math.max(1, Math.ceil(longest / Math.max(1, room)));
      return names.map((_, i) => i + 0.5).filter((at, i) => (names.length - 1 - i) % every === 0 && low <= at && at <= high);
    }

    drawBars() {
      const { low, high, series } = this.intervals;
      const [width, height] = this.data.plane;
      const { floor, top } = this.data.merge;
      const left = (v) => (this.at(Math.max(v, this.data.x.low)) * width).toFixed(2);
      let path = "", end = null;
      low.forEach((v, i) => {
        const y = height * (1 - Math.log(series[0].values[i] / floor) / Math.log(top / floor));
        if (v !== end) path += (end === null ? "" : `V${height}z`) + `M${left(v)},${height}`;
        path += `V${y.toFixed(1)}H${left(high[i])}`;
        end = high[i];
      });
      this.plane.querySelector(".bars").setAttribute("d", path + `V${height}z`);
    }

    offerReset() {
      const all = this.range[0] <= 0 && this.range[1] >= 1;
      if (all && this.reset) {
        this.reset.remove();
        this.reset = undefined;
      } else if (!all && !this.reset) {
        this.reset = document.createElement("button");
        this.reset.type = "button";
        this.reset.className = "reset";
        this.reset.textContent = said("Show all");
        this.reset.addEventListener("click", () => this.zoom([0, 1]));
        this.element.append(this.reset);
      }
    }
  }

  // Bins of equal width on a logarithmic axis: 2^coarser of the finest ones are one.
  function merge(native, places, coarser) {
    const low = [], high = [], counts = [];
    const edge = (place) => places.edges[(place << coarser) - places.first];
    let before;
    native.low.forEach((v, i) => {
      const here = places.of[i] >> coarser;
      const last = low.length - 1;
      if (here === before) {
        high[last] = Math.max(high[last], native.high[i]);
        counts[last] += native.series[0].values[i];
      } else {
        low.push(Math.max(Math.min(v, edge(here)), last >= 0 ? high[last] : -Infinity));
        high.push(Math.max(native.high[i], edge(here + 1)));
        counts.push(native.series[0].values[i]);
      }
      before = here;
    });
    return { low, high, series: [{ ...native.series[0], values: counts }] };
  }

  // --- The one tooltip ---------------------------------------------------------------------------------------------
  const tip = document.getElementById("tip");

  function hideTip() {
    tip.hidden = true;
  }

  function showTip(head, rows, x, y) {
    const title = document.createElement("b");
    title.textContent = head;
    const table = document.createElement("table");
    for (const [name, value, key] of rows) {
      const row = table.insertRow();
      row.insertCell().textContent = name;
      const cell = row.insertCell();
      cell.textContent = value;
      if (key) row.cells[0].className = key;
    }
    tip.replaceChildren(title, table);
    tip.hidden = false;
    const width = document.documentElement.clientWidth;
    const side = x > width / 2 ? x - tip.offsetWidth - 14 : x + 14;
    tip.style.left = Math.max(8, Math.min(width - tip.offsetWidth - 8, side)) + window.scrollX + "px";
    const above = y - tip.offsetHeight - 6; // beside the pointer only where there is no room above the plot
    tip.style.top = (above > 4 ? above : Math.max(4, y + 6)) + window.scrollY + "px";
  }

  // --- The page ----------------------------------------------------------------------------------------------------
  const plots = Array.from(document.querySelectorAll(".plot"), (element) => new Plot(element));
  const retick = () => plots.forEach((plot) => { plot.place(); plot.drawTicks(); plot.fitNames(); });
  retick();
  for (const folded of document.querySelectorAll("details")) folded.addEventListener("toggle", retick);
  let width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth !== width) retick();
    width = innerWidth;
  });

  // A zoomed plot hides what lies outside of its range: a jump there shows all again.
  function reveal(ident) {
    const target = ident && document.getElementById(ident);
    const plot = target && plots.find((each) => each.frame.contains(target));
    if (!plot) return;
    if (target.style.display === "none") plot.zoom([0, 1]);
    (target.querySelector("path, text") || target).scrollIntoView({ block: "center" });
  }
  addEventListener("hashchange", () => reveal(location.hash.slice(1)));

  for (const item of document.querySelectorAll(".legend [data-series]")) {
    const lines = (on) => {
      for (const mark of item.closest(".chart").querySelectorAll(".plane path, .marker")) {
        if (item.contains(mark) || mark.closest(".legend")) continue;
        mark.classList.toggle("dim", on && !mark.classList.contains("s" + item.dataset.series));
      }
    };
    item.addEventListener("pointerenter", () => lines(true));
    item.addEventListener("pointerleave", () => lines(false));
  }
})();
