// All runs: those that go on, and those that the ledger has.

import { get } from "./api.js";
import { again, chip, count, distance, duration, h, line, moment, name, show } from "./dom.js";

const filters = { client: "", tool: "", effect: "", failed: false, waiting: false };
const STEP = 100;
const MAX = 10_000;
/** How long nothing is typed before it is asked for. */
const TYPING = 200;

const STATES = { ok: "ok", failed: "failed", running: "running", queued: "queued", resting: "put aside", interrupted: "interrupted", unknown: "ended" };

/** The state of a live run as the ledger would say it. */
export const ended = (run) => (run.state === "ended" ? (run.error ? "failed" : "ok") : run.state);

/** Whether a run has not ended, and will without anybody's doing. */
export const goesOn = (run) => run.state === "running" || run.state === "queued";

export const state = (run) =>
  h("span", { class: `state state-${run.waits ? "waits" : run.state}` }, run.waits ? "waits for you" : (STATES[run.state] ?? line(run.state)));

/**
 * Who asked for a run: first the principal, which belljar has checked, and then what the client calls itself, in
 * quotation marks. Each has a line of its own, so that no name of a client passes for a principal, or hides it.
 */
export const by = (run) => [
  run.principal ? name(run.principal, "principal") : null,
  run.client ? h("span", { class: "client", title: `It calls itself “${line(run.client)}”` }, "“", name(run.client), "”") : h("span", { class: "client" }, line(run.origin ?? "unknown")),
];

export function runs() {
  // One and the same while the view is shown: what is being typed stays.
  const list = windowed();
  let typing = 0;
  const filtering = form(() => {
    clearTimeout(typing);
    typing = setTimeout(() => {
      list.reset();
      again();
    }, TYPING);
  });
  const when = h("div");
  let isShown = false;
  return {
    title: "Runs",
    concerns: ({ event }) => ["begun", "queued", "admitted", "ended", "parked", "resumed"].includes(event),
    draw: async () => {
      await list.refresh();
      show(when, timeline(list.latest()));
      if (isShown) return null;
      isShown = true;
      return [h("h1", {}, "Runs"), filtering, when, list.element];
    },
  };
}

/**
 * The list, in parts of which only those near the window are filled and asked for: however many runs there are, the
 * document has some hundred rows. A part that is far away keeps its height.
 */
function windowed() {
  const heading = h("div", { class: "run head", "aria-hidden": "true" }, ["State", "Run", "Began", "Took", "Calls", "By", "Error"].map((label) => h("span", {}, label)));
  const [place, note] = [h("div", { class: "parts" }), h("div")];
  const element = h("div", {}, heading, place, note);
  let [parts, longest, turn] = [[], 1, 0];
  const watching = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      const part = parts.find((known) => known.element === target);
      // The first part is filled before it is in the document.
      if (!part || part.isNear === isIntersecting || !target.isConnected) continue;
      part.isNear = isIntersecting;
      if (isIntersecting) load(part).catch(() => {});
      else clear(part);
    }
  }, { rootMargin: "1200px 0px" });

  function append() {
    const from = parts.length * STEP;
    const made = { from, element: h("ul", { class: "runs", "aria-label": `Runs from ${from + 1}` }), isNear: from === 0, runs: [], text: null };
    parts.push(made);
    place.append(made.element);
    watching.observe(made.element);
    return made;
  }

  /** Nothing that has the focus is taken away. */
  function clear({ element: list }, part = parts.find((known) => known.element === list)) {
    if (!list.childElementCount || list.contains(document.activeElement)) return;
    list.style.setProperty("--height", `${list.offsetHeight}px`);
    list.classList.add("is-away");
    list.replaceChildren();
    part.text = null;
  }

  async function load(part) {
    const asked = new URLSearchParams({ limit: STEP, from: part.from });
    for (const [filter, value] of Object.entries(filters)) if (value) asked.set(filter, value === true ? "1" : value);
    const began = turn;
    const { runs: kept, more, unkept } = await get(`api/runs?${asked}`);
    if (began !== turn || !part.isNear) return;
    const live = unkept.map((run) => ({ ...run, calls: run.more_calls, state: ended(run) }));
    const all = [...live, ...kept];
    const text = JSON.stringify(all);
    if (text !== part.text) {
      [part.text, part.runs] = [text, all];
      longest = Math.max(longest, ...all.map((run) => run.ms ?? 0));
      show(part.element, all.map((run) => h("li", {}, row(run, longest))));
      part.element.classList.remove("is-away");
    }
    const at = parts.indexOf(part);
    if (!more) for (const past of parts.splice(at + 1)) past.element.remove();
    else if (at === parts.length - 1) append();
    heading.hidden = !parts[0].runs.length;
    show(note, parts[0].runs.length ? (!more && part.from + STEP >= MAX ? h("p", { class: "quiet further" }, `The latest ${MAX.toLocaleString("en")} are shown; `, h("code", {}, "belljar runs --since"), " finds earlier ones.") : null) : nothing());
  }

  return {
    element,
    latest: () => parts[0]?.runs ?? [],
    reset: () => {
      turn += 1;
      for (const { element: past } of parts.splice(0)) past.remove();
    },
    refresh: async () => {
      if (!parts.length) append();
      for (const part of parts.filter(({ isNear }) => isNear)) await load(part);
    },
  };
}

function form(narrow) {
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
