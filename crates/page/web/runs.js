// All runs: those that go on, and those that the ledger has.

import { get } from "./api.js";
import { again, changes, chip, count, distance, duration, h, line, moment, name } from "./dom.js";

const filters = { client: "", tool: "", effect: "", failed: false, waiting: false };
const STEP = 200;
const MAX = 10_000;
let limit = STEP;

const STATES = { ok: "ok", failed: "failed", running: "running", queued: "queued", resting: "put aside", interrupted: "interrupted", unknown: "ended" };

/** The state of a live run as the ledger would say it. */
export const ended = (run) => (run.state === "ended" ? (run.error ? "failed" : "ok") : run.state);

export const state = (run) =>
  h("span", { class: `state state-${run.waits ? "waits" : run.state}` }, run.waits ? "waits for you" : (STATES[run.state] ?? line(run.state)));

/** Who asked for a run. */
export const by = (run) => [name(run.client ?? run.origin ?? "unknown"), run.principal ? [" for ", name(run.principal)] : null];

export function runs() {
  // One and the same while the view is shown: what is being typed stays.
  const filtering = form();
  return {
    title: "Runs",
    concerns: ({ event }) => ["begun", "queued", "admitted", "ended", "parked", "resumed"].includes(event),
    draw: changes(async () => {
      const asked = new URLSearchParams({ limit });
      for (const [filter, value] of Object.entries(filters)) if (value) asked.set(filter, value === true ? "1" : value);
      return { asked: String(asked), ...(await get(`/api/runs?${asked}`)) };
    }, ({ runs, more, unkept }) => {
      const live = unkept.map((run) => ({ ...run, calls: run.more_calls, state: ended(run) }));
      const all = [...live, ...runs];
      return [h("h1", {}, "Runs"), filtering, timeline(all), all.length ? list(all) : nothing(), more ? further(all.length) : null];
    }),
  };
}

function form() {
  const narrow = () => {
    limit = STEP;
    again();
  };
  const text = (filter, label, example) =>
    h("label", { for: filter }, h("span", {}, label),
      h("input", { id: filter, "data-key": filter, type: "search", value: filters[filter], placeholder: example, autocomplete: "off", spellcheck: "false", maxlength: 100,
        on: { input: (event) => { filters[filter] = event.target.value.trim(); narrow(); } } }));
  const box = (filter, label) =>
    h("label", { class: "box" },
      h("input", { type: "checkbox", "data-key": filter, checked: filters[filter], on: { change: (event) => { filters[filter] = event.target.checked; narrow(); } } }), label);
  const effects = [["", "any effect"], ["read_only", "reads"], ["mutating", "changes"], ["external", "external"]];
  return h("form", { class: "filters", role: "search", "aria-label": "Filter runs", on: { submit: (event) => event.preventDefault() } },
    text("client", "Client", "name or origin"),
    text("tool", "Tool", "server or server.tool"),
    h("label", { for: "effect" }, h("span", {}, "Effect"),
      h("select", { id: "effect", "data-key": "effect", on: { change: (event) => { filters.effect = event.target.value; narrow(); } } },
        effects.map(([value, label]) => h("option", { value, selected: filters.effect === value }, label)))),
    box("failed", "failed"), box("waiting", "waiting for me"));
}

/** When the listed runs began: a bar for each part of the time, with those that failed below. */
function timeline(all) {
  const times = all.map((run) => run.at_ms).filter(Number.isFinite);
  if (times.length < 3) return null;
  const [first, last] = [Math.min(...times), Math.max(...times, Math.min(...times) + 1)];
  const parts = Array.from({ length: 60 }, () => ({ ok: 0, bad: 0 }));
  for (const run of all) {
    const at = Math.min(59, Math.floor(((run.at_ms - first) / (last - first)) * 60));
    if (run.state === "failed" || run.state === "interrupted") parts[at].bad += 1;
    else parts[at].ok += 1;
  }
  const most = Math.max(...parts.map(({ ok, bad }) => ok + bad));
  const failed = parts.reduce((sum, { bad }) => sum + bad, 0);
  const words = `${count(all.length, "run")} in ${duration(last - first) || "a moment"}, ${failed} failed`;
  return h("figure", { class: "timeline" },
    h("div", { class: "bars", role: "img", "aria-label": words },
      parts.map(({ ok, bad }) => h("span", { class: "part", vars: { "--ok-part": `${(ok / most) * 100}%`, "--bad-part": `${(bad / most) * 100}%` } }, h("i", { class: "bad" }), h("i", { class: "ok" })))),
    h("figcaption", {}, h("span", {}, `${distance(first)} ago`), h("span", {}, words), h("span", {}, `${distance(last)} ago`)));
}

function list(all) {
  const longest = Math.max(...all.map((run) => run.ms ?? 0), 1);
  return [
    h("div", { class: "run head", "aria-hidden": "true" }, ["State", "Run", "Began", "Took", "Calls", "By", "Error"].map((heading) => h("span", {}, heading))),
    h("ul", { class: "runs" }, all.map((run) => h("li", {}, row(run, longest)))),
  ];
}

function row(run, longest) {
  const error = run.error && !run.waits ? [chip(line(run.error), "bad"), run.line ? ` line ${run.line}` : null] : null;
  return h("a", { class: "run", href: `#/run/${run.run}`, "data-key": run.run },
    h("span", { class: "is-state" }, state(run)),
    h("span", { class: "is-id" }, h("code", {}, run.run)),
    h("span", { class: "is-when" }, moment(run.at_ms)),
    h("span", { class: "is-took" }, h("i", { class: "took", vars: { "--part": `${((run.ms ?? 0) / longest) * 100}%` } }), duration(run.ms)),
    h("span", { class: "is-calls" }, run.calls ? count(run.calls, "call") : "no calls"),
    h("span", { class: "is-by" }, by(run)),
    h("span", { class: "is-error" }, error));
}

function nothing() {
  const isNarrow = Object.values(filters).some(Boolean);
  return h("section", { class: "empty" },
    h("h2", {}, isNarrow ? "No run fits these filters" : "No runs yet"),
    h("p", {}, isNarrow ? "Take one of them away to see more." : ["Run something, and it appears here at once: ", h("code", {}, "belljar run --code '1 + 1'")]));
}

function further(shown) {
  if (shown >= MAX) return h("p", { class: "quiet" }, `The latest ${MAX.toLocaleString("en")} are shown; `, h("code", {}, "belljar runs --since"), " finds earlier ones.");
  const more = () => {
    limit = Math.min(MAX, limit * 2);
    again();
  };
  return h("p", { class: "further" }, h("button", { type: "button", "data-key": "further", on: { click: more } }, "Show earlier runs"));
}
