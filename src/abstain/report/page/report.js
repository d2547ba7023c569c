"use strict";
// The page recounts the same scores at another reject cost. Text is inserted only through textContent.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const doubles = (packed) => {
    const bytes = Uint8Array.from(atob(packed), (c) => c.charCodeAt(0));
    const view = new DataView(bytes.buffer);
    return Float64Array.from({ length: bytes.length / 8 }, (_, i) => view.getFloat64(8 * i, true));
  };
  const sums = (counts) => {
    const total = [0];
    for (const count of counts) total.push(total[total.length - 1] + count);
    return total;
  };
  const scores = doubles(data.steps.score);
  const [sumBelow, sumAbove] = [sums(data.steps.below ?? data.steps.above.map((count) => 1 - count)), sums(data.steps.above)];
  const { novel } = data; // rejected as unlike the training rows, whatever the score and the reject cost
  const novelCount = novel.rejected[0] + novel.rejected[1];
  const [nBelow, nAbove] = [sumBelow.at(-1) + novel.rejected[0], sumAbove.at(-1) + novel.rejected[1]];
  const n = nBelow + nAbove;
  const stated = { lower: Number(data.thresholds[0]), upper: Number(data.thresholds[1]) };
  const { aboveWrong, belowWrong } = data.costs; // c_fp and c_fn, with "above" in the place of the positive class
  const statedShare = Math.min(data.reject[0] / aboveWrong + data.reject[1] / belowWrong, 1);
  const largest = data.reject.map((price) => price / statedShare); // where r_neg/c_fp + r_pos/c_fn = 1

  // Number of scores below t, or (orEqual) not above it, by bisection in the sorted scores.
  const before = (t, orEqual) => {
    let [low, high] = [0, scores.length];
    while (low < high) {
      const mid = (low + high) >> 1;
      if (scores[mid] < t || (orEqual && scores[mid] === t)) low = mid + 1;
      else high = mid;
    }
    return low;
  };

  // delta_low = log(r_neg / (c_fn - r_pos)), delta_high = log((c_fp - r_neg) / r_pos); if rejecting never pays: both are the cut.
  function thresholdsAt(reject) {
    if (!data.followsPrice || reject === data.reject) return stated;
    if (reject[0] / aboveWrong + reject[1] / belowWrong >= 1 - 1e-12) return { lower: data.cut, upper: data.cut };
    return { lower: Math.log(reject[0] / (belowWrong - reject[1])), upper: Math.log((aboveWrong - reject[0]) / reject[1]) };
  }

  // +1 if s > upper; else -1 if s < lower or lower == upper; else reject. Rows true class, columns decision, from below to above.
  // Novel rows are rejected, unless the choice is forced.
  function counts({ lower, upper }, forced = false) {
    const last = before(upper, true);
    const first = lower === upper ? last : before(lower, false);
    const unlike = (at) => (forced ? [novel.forced[at][0], 0, novel.forced[at][1]] : [0, novel.rejected[at], 0]);
    const row = (sum, [below, rejected, above]) => [sum[first] + below, sum[last] - sum[first] + rejected, sum.at(-1) - sum[last] + above];
    return [row(sumBelow, unlike(0)), row(sumAbove, unlike(1))];
  }

  const price = ([[, r0, wrong0], [wrong1, r1]], reject) =>
    (aboveWrong * wrong0 + belowWrong * wrong1 + reject[0] * r0 + reject[1] * r1) / n;

  function measures(reject) {
    const thresholds = thresholdsAt(reject);
    const table = counts(thresholds);
    const [[right0, r0, wrong0], [wrong1, r1, right1]] = table;
    const [rejected, errors] = [r0 + r1, wrong0 + wrong1];
    const [found, missed, alarms] = data.positiveAbove ? [right1, wrong1, wrong0] : [right0, wrong0, wrong1];
    return {
      reject, thresholds, table, rejected,
      mean_cost: price(table, reject),
      forced_cost: price(counts({ lower: data.cut, upper: data.cut }, true), reject),
      rejecting_cost: (reject[0] * nBelow + reject[1] * nAbove) / n,
      reject_rate: rejected / n, coverage: 1 - rejected / n, error_rate: errors / n,
      selective_error: errors / (n - rejected), selective_accuracy: (right0 + right1) / (n - rejected),
      sensitivity: found / (found + missed), positive_predictivity: found / (found + alarms),
    };
  }

  const amount = (x) => {
    if (Number.isNaN(x)) return "n/a";
    if (!Number.isFinite(x)) return x > 0 ? "∞" : "−∞";
    const size = Math.abs(x);
    const text = size !== 0 && (size < 1e-4 || size >= 1e4) ? Number(x.toPrecision(4)).toExponential() : String(Number(x.toPrecision(4)));
    return text.replace("e+", "e").replaceAll("-", "−");
  };
  const share = (x) => (Number.isNaN(x) ? "n/a" : `${(100 * x).toFixed(1)} %`);
  const AMOUNTS = ["mean_cost", "forced_cost", "rejecting_cost"];
  const SHARES = ["reject_rate", "coverage", "error_rate", "selective_error", "selective_accuracy", "sensitivity", "positive_predictivity"];

  const show = (name, text) => {
    for (const place of document.querySelectorAll(`[data-show="${name}"]`)) place.textContent = text;
  };

  function showNumbers(m) {
    for (const name of AMOUNTS) show(name, amount(m[name]));
    for (const name of SHARES) show(name, share(m[name]));
    m.table.forEach((row, i) => row.forEach((count, j) => show(`n${i}${j}`, count)));
    const open = m.thresholds.lower < m.thresholds.upper;
    show("rejected", m.rejected);
    show("upper", amount(m.thresholds.upper));
    show("below_word", open ? "below " : "not");
    show("lower", open ? amount(m.thresholds.lower) : "");
    show("band_word", open ? ", and rejects in between, thresholds included." : novelCount ? ", and rejects no others." : ", and never rejects.");
    show("reject_below", amount(m.reject[0]));
    show("reject_above", amount(m.reject[1]));
    show("moved", m.reject === data.reject ? " (the stated cost)" : ` (moved from the stated ${[...new Set(data.reject.map(amount))].join(" and ")}; same machine, not retrained)`);
    document.getElementById("now").textContent =
      `Cost per row ${amount(m.mean_cost)} · ${share(m.reject_rate)} rejected · ${m.rejected < n ? `${share(m.selective_error)} wrong among accepted rows` : "no row is accepted"}`;
  }

  // ---- plots
  const make = (parent, tag, attributes, text) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    if (text !== undefined) element.textContent = text;
    return parent.appendChild(element);
  };
  const ticks = (low, high, most) => {
    const rough = (high - low) / most;
    const unit = 10 ** Math.floor(Math.log10(rough));
    const step = unit * [1, 2, 2.5, 5, 10].find((k) => k * unit >= rough * 0.999);
    const found = [];
    for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) found.push(Number((k * step).toPrecision(12)));
    return found;
  };

  // An empty plot with axes; x and y map values to positions.
  function frame(id, height, [x0, x1], [y0, y1], xTitle, yTitle, xText, yText, label) {
    const host = document.getElementById(id);
    const width = Math.max(host.clientWidth, 240);
    const [left, right, top, bottom] = [52, 12, 24, 40];
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    for (const [name, value] of Object.entries({ viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label })) svg.setAttribute(name, value);
    const x = (v) => left + ((v - x0) / (x1 - x0)) * (width - left - right);
    const y = (v) => height - bottom - ((v - y0) / (y1 - y0)) * (height - top - bottom);
    const back = make(svg, "g", {}); // drawn under the grid
    for (const v of ticks(y0, y1, 5)) {
      make(svg, "line", { class: "grid", x1: left, x2: width - right, y1: y(v), y2: y(v) });
      make(svg, "text", { x: left - 7, y: y(v) + 4, "text-anchor": "end" }, yText(v));
    }
    for (const v of ticks(x0, x1, width < 420 ? 4 : 8)) make(svg, "text", { x: x(v), y: height - bottom + 17, "text-anchor": "middle" }, xText(v));
    make(svg, "line", { class: "axis", x1: left, x2: width - right, y1: height - bottom, y2: height - bottom });
    make(svg, "text", { class: "title", x: (left + width - right) / 2, y: height - 4, "text-anchor": "middle" }, xTitle);
    make(svg, "text", { class: "title", x: 2, y: 13 }, yTitle);
    host.replaceChildren(svg);
    return { svg, back, x, y, clamp: (v) => Math.min(Math.max(v, x0), x1), ends: [y(y0), y(y1)] };
  }

  function drawHistogram(m) {
    const { edges, below, above, novel_below, novel_above } = data.histogram;
    const most = Math.max(...below.map((count, i) => count + novel_below[i]), ...above.map((count, i) => count + novel_above[i]), 1);
    const words = `Histogram of ${n} scores${novelCount ? `, of which ${novelCount} are of novel rows` : ""}; the reject band is from ${amount(m.thresholds.lower)} to ${amount(m.thresholds.upper)}.`;
    const plain = (v) => (Number.isInteger(v) ? String(Math.abs(v)) : "");
    const f = frame("histogram", 300, [edges[0], edges.at(-1)], [-most * 1.05, most * 1.05], "score", "rows", amount, plain, words);
    const [lower, upper] = [f.x(f.clamp(m.thresholds.lower)), f.x(f.clamp(m.thresholds.upper))];
    const [foot, head] = f.ends;
    make(f.back, "rect", { class: "reject", x: lower, y: head, width: upper - lower, height: foot - head });
    below.forEach((count, i) => {
      const bar = { x: f.x(edges[i]) + 0.5, width: Math.max(f.x(edges[i + 1]) - f.x(edges[i]) - 1, 1) };
      make(f.svg, "rect", { class: "bar-above", ...bar, y: f.y(above[i]), height: f.y(0) - f.y(above[i]) });
      make(f.svg, "rect", { class: "bar-below", ...bar, y: f.y(0), height: f.y(-count) - f.y(0) });
      if (novel_above[i]) make(f.svg, "rect", { class: "bar-novel", ...bar, y: f.y(above[i] + novel_above[i]), height: f.y(above[i]) - f.y(above[i] + novel_above[i]) });
      if (novel_below[i]) make(f.svg, "rect", { class: "bar-novel", ...bar, y: f.y(-count), height: f.y(-count - novel_below[i]) - f.y(-count) });
    });
    make(f.svg, "line", { class: "axis", x1: f.x(edges[0]), x2: f.x(edges.at(-1)), y1: f.y(0), y2: f.y(0) });
    const lines = m.thresholds.lower < m.thresholds.upper ? [["threshold", m.thresholds.lower], ["threshold", m.thresholds.upper]] : [];
    for (const [kind, at] of [...lines, ["cut", data.cut]]) {
      if (at >= edges[0] && at <= edges.at(-1)) make(f.svg, "line", { class: kind, x1: f.x(at), x2: f.x(at), y1: foot, y2: head });
    }
  }

  function drawCurve(id, curve, point, yTitle, yText, [low, high], label) {
    const pad = 0.06 * (high - low) || 0.05;
    const f = frame(id, 280, [0, 1], [Math.max(low - pad, 0), high + (id === "accuracy" ? Math.min(pad, 1 - high) : pad)], "rejected", yTitle, (v) => `${Math.round(100 * v)} %`, yText, label);
    const at = (values) => values.map((v, i) => `${f.x(curve.grid[i]).toFixed(1)},${f.y(v).toFixed(1)}`);
    if (data.level) make(f.svg, "path", { class: "ribbon", d: `M${at(curve.upper).join("L")}L${at(curve.lower).reverse().join("L")}Z` });
    make(f.svg, "path", { class: "curve", d: `M${at(curve.estimate).join("L")}` });
    if (Number.isNaN(point[1])) return;
    make(f.svg, "line", { class: "drop", x1: f.x(point[0]), x2: f.x(point[0]), y1: f.y(point[1]), y2: f.ends[0] });
    make(f.svg, "circle", { class: "point", cx: f.x(point[0]), cy: f.y(point[1]), r: 5.5 });
  }

  // The cost is linear in the reject cost, so the curve is exact between two of them; its band is interpolated.
  function costCurve(price) {
    const { shares, grid } = data.cost;
    const t = Math.min(Math.max(price / largest[0], shares[0]), shares.at(-1));
    const next = Math.max(shares.findIndex((s) => s >= t), 1);
    const [i, j] = [next - 1, next];
    const weight = shares[j] === shares[i] ? 1 : (t - shares[i]) / (shares[j] - shares[i]);
    const mix = (rows) => rows[i].map((v, k) => v + weight * (rows[j][k] - v));
    return { grid, estimate: mix(data.cost.estimate), lower: mix(data.cost.lower), upper: mix(data.cost.upper) };
  }

  function drawPictures(m) {
    drawHistogram(m);
    const [estimate, lower, upper] = ["estimate", "lower", "upper"].map((part) => data.accuracy[part][0]);
    const accuracy = [m.reject_rate, m.selective_accuracy];
    const range = [Math.min(...lower, ...estimate, 1), Math.max(...upper, ...estimate)];
    drawCurve("accuracy", { grid: data.accuracy.grid, estimate, lower, upper }, accuracy, "accuracy among accepted rows", (v) => `${Number((100 * v).toFixed(1))} %`, range,
      `Accuracy among accepted rows against the share rejected; at the operating point ${share(accuracy[1])} at ${share(accuracy[0])}.`);
    const curve = costCurve(m.reject[0]);
    const costRange = [0, Math.max(...curve.upper, ...curve.estimate, m.mean_cost)];
    drawCurve("cost", curve, [m.reject_rate, m.mean_cost], "cost per row", amount, costRange,
      `Cost per row against the share rejected; at the operating point ${amount(m.mean_cost)} at ${share(m.reject_rate)}.`);
  }

  // ---- the slider
  const [slider, typed, back, problem] = ["price", "typed", "stated", "typed-error"].map((id) => document.getElementById(id));
  let reject = data.reject;
  const rounded = (x) => Math.min(Number(x.toPrecision(3)), largest[0]);
  const inProportion = (first) => [first, data.reject[0] === data.reject[1] ? first : (first / data.reject[0]) * data.reject[1]];
  function update(next, from) {
    reject = next[0] === data.reject[0] ? data.reject : next;
    const m = measures(reject);
    showNumbers(m);
    drawPictures(m);
    if (from !== "slider") slider.value = Math.round((1000 * reject[0]) / largest[0]);
    if (from !== "typed") typed.value = String(Number(reject[0].toPrecision(6)));
    slider.setAttribute("aria-valuetext", amount(reject[0]));
    back.disabled = reject === data.reject;
    problem.textContent = "";
  }
  slider.addEventListener("input", () => {
    const at = Number(slider.value);
    update(inProportion(at >= 1000 ? largest[0] : rounded((at / 1000) * largest[0])), "slider");
  });
  const smallest = largest[0] / 1000;
  const typedCost = () => (typed.value === "" || typed.validity.badInput ? NaN : Number(typed.value));
  typed.addEventListener("input", () => {
    const value = typedCost();
    if (value >= smallest && value <= largest[0] * (1 + 1e-12)) return update(inProportion(value), "typed");
    if (value < 0) typed.value = String(Number(reject[0].toPrecision(6))); // can never become a cost by typing on
    problem.textContent = `Enter a cost from ${amount(smallest)} to ${amount(largest[0])}: above that, rejecting can never pay.`;
  });
  // When the field is left: the nearest cost that is allowed, or the current one if there is no number.
  typed.addEventListener("change", () => {
    const value = typedCost();
    if (value < smallest || value > largest[0]) update(inProportion(Math.min(Math.max(value, smallest), largest[0])), "clamped");
    else typed.value = String(Number(reject[0].toPrecision(6)));
    problem.textContent = "";
  });
  back.addEventListener("click", () => update(data.reject, "button"));

  for (const part of document.querySelectorAll(".needs-script")) part.hidden = false;
  document.getElementById("without-script").hidden = true;
  typed.max = largest[0];
  update(data.reject, "start");
  let width = document.getElementById("histogram").clientWidth;
  new ResizeObserver(([{ target }]) => {
    if (target.clientWidth === width) return;
    width = target.clientWidth;
    requestAnimationFrame(() => drawPictures(measures(reject)));
  }).observe(document.getElementById("histogram"));
})();
