// What runs cost: tokens of definitions, and runs and their times over time.

import { get } from "./api.js";
import { changes, compact, count, distance, duration, facts, h, name, span, svg } from "./dom.js";

const [WIDTH, HEIGHT] = [640, 150];

export function cost() {
  return {
    title: "Cost",
    concerns: ({ kind, event }) => kind === "run" && event === "ended",
    draw: changes(() => get("api/cost"), ({ tokens, times, most_runs }) => [
      h("h1", {}, "Cost"), spared(tokens), times.parts.length ? overTime(times, most_runs) : h("section", { class: "empty" }, h("h2", {}, "No runs yet"), h("p", {}, "When there are some, their number and times are here.")),
    ]),
  };
}

/** What a model is spared: the definitions of all tools, held against belljar's two. */
function spared({ servers, unlisted, direct_tokens, belljar_tokens, look_up_tokens, saved_tokens, saved_percent, estimate }) {
  const most = Math.max(direct_tokens, belljar_tokens, 1);
  const bar = (label, tokens, kind) => h("div", { class: "budget" }, h("span", { class: "label" }, label), h("span", { class: "meter", "aria-hidden": "true" }, h("i", { class: kind, vars: { "--part": `${Math.max((tokens / most) * 100, 0.6)}%` } })), h("span", { class: "value" }, `${tokens.toLocaleString("en")} tokens`));
  const all = servers.reduce((sum, { tools }) => sum + tools, 0);
  const sentence = saved_tokens > 0 ? [h("strong", {}, `${saved_tokens.toLocaleString("en")} tokens`), ` spared in each conversation, ${Math.round(saved_percent)} % of what the definitions of all tools take.`] : "The few tools that are known take less than belljar's two: nothing is spared yet.";
  return h("section", { "aria-label": "Tokens" }, h("h2", {}, "Tokens of a conversation before its first word"), h("p", { class: "lead" }, sentence),
    h("div", { class: "budgets" }, bar(`All ${count(all, "tool")}`, direct_tokens, "much"), bar("belljar's two", belljar_tokens, ""), look_up_tokens ? bar("Finding a tool", look_up_tokens, "") : null),
    h("p", { class: "quiet" }, `Estimated: ${estimate}.`, unlisted.length ? [" Not counted, because their tools are not known yet: ", unlisted.map((server, at) => [at ? ", " : null, name(server)]), "."] : null),
    servers.length > 1 ? h("details", { "data-key": "servers" }, h("summary", { "data-key": "servers summary" }, "By server"), table(["Server", "Tools", "Tokens"], servers.map(({ server, tools, tokens }) => [name(server), tools, tokens.toLocaleString("en")]))) : null);
}

const table = (headings, rows) =>
  h("div", { class: "scrolled", tabindex: "0", role: "group", "aria-label": "Figures" }, h("table", { class: "figures" }, h("thead", {}, h("tr", {}, headings.map((heading) => h("th", { scope: "col" }, heading)))),
    h("tbody", {}, rows.map(([first, ...rest]) => h("tr", {}, h("th", { scope: "row" }, first), rest.map((cell) => h("td", {}, cell ?? "")))))));

const when = (at) => new Date(at).toLocaleString(undefined, { dateStyle: "short", timeStyle: "short" });

function overTime({ part_ms, parts, all, until_ms }, most_runs) {
  const until = parts.length * part_ms + parts[0].from_ms;
  const ends = [`${distance(parts[0].from_ms)} ago`, `a bar is ${span(part_ms)}`, Date.now() - until < part_ms ? "now" : `${distance(until_ms)} ago`];
  const rows = parts.filter(({ runs }) => runs).map((part) => [when(part.from_ms), part.runs, part.failed, part.calls, compact(part.fuel), duration(part.p50_ms), duration(part.p95_ms)]);
  return h("section", { "aria-label": "Over time" }, h("h2", {}, "Runs over time"),
    facts([["Runs", all.runs.toLocaleString("en")], ["Failed", all.failed.toLocaleString("en")], ["Calls", all.calls.toLocaleString("en")], ["Fuel", compact(all.fuel)], ["Half of them within", duration(all.p50_ms)], ["95 of 100 within", duration(all.p95_ms)]]),
    all.runs >= most_runs ? h("p", { class: "quiet" }, `Of the latest ${most_runs.toLocaleString("en")} runs.`) : null,
    plot("Runs", `${count(all.runs, "run")}, ${all.failed} failed`, ends, bars(parts), Math.max(...parts.map(({ runs }) => runs)).toLocaleString("en"), [["fill-ok", "succeeded"], ["fill-bad", "failed"]]),
    plot("How long runs took", `half within ${duration(all.p50_ms)}, 95 of 100 within ${duration(all.p95_ms)}`, ends, lines(parts), duration(Math.max(...parts.map(({ p95_ms }) => p95_ms ?? 0))), [["line-p50", "half within"], ["line-p95", "95 of 100 within"]]),
    h("details", { "data-key": "figures" }, h("summary", { "data-key": "figures summary" }, "As a table"), table(["From", "Runs", "Failed", "Calls", "Fuel", "p50", "p95"], rows)));
}

function plot(title, words, ends, drawn, top, legend) {
  return h("figure", { class: "plot" }, h("figcaption", {}, h("strong", {}, title), h("span", { class: "legend" }, legend.map(([kind, label]) => h("span", {}, svg("svg", { viewBox: "0 0 12 12", "aria-hidden": "true" }, svg("rect", { class: kind, x: 0, y: 3, width: 12, height: 6 })), label))), h("span", { class: "top" }, `top: ${top}`)),
    svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `${title}: ${words}`, preserveAspectRatio: "none" }, [0.25, 0.5, 0.75].map((part) => svg("line", { class: "grid", x1: 0, x2: WIDTH, y1: HEIGHT * part, y2: HEIGHT * part })), drawn),
    h("div", { class: "ends", "aria-hidden": "true" }, ends.map((end) => h("span", {}, end))));
}

function bars(parts) {
  const [most, width] = [Math.max(...parts.map(({ runs }) => runs), 1), WIDTH / parts.length];
  return parts.map(({ runs, failed }, at) => {
    const [whole, bad] = [(runs / most) * (HEIGHT - 4), (failed / most) * (HEIGHT - 4)];
    const bar = (kind, y, height) => (height > 0 ? svg("rect", { class: kind, x: at * width + width * 0.1, width: width * 0.8, y, height }) : null);
    return [bar("fill-ok", HEIGHT - whole, whole - bad), bar("fill-bad", HEIGHT - bad, bad)];
  });
}

/** A line through the parts that have runs, and a point at each of them: a single one has no line. */
function lines(parts) {
  const [most, width] = [Math.max(...parts.map(({ p95_ms }) => p95_ms ?? 0), 0.001), WIDTH / parts.length];
  return ["p95", "p50"].map((kind) => {
    const points = parts.map((part, at) => [at * width + width / 2, part[`${kind}_ms`]]).filter(([, ms]) => ms != null).map(([x, ms]) => [x.toFixed(1), (HEIGHT - 4 - (ms / most) * (HEIGHT - 12)).toFixed(1)]);
    return [svg("polyline", { class: `line-${kind}`, points: points.map((point) => point.join(",")).join(" ") }), points.map(([x, y]) => svg("rect", { class: `line-${kind}`, x: x - 2, y: y - 2, width: 4, height: 4 }))];
  });
}
