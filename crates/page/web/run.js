// One run: what it was, what it used, and each of its calls.

import { get } from "./api.js";
import { block, changes, chip, count, duration, effect, h, line, moment, name, size } from "./dom.js";
import { by, ended, state } from "./runs.js";

const SHOWN_CALLS = 1000;
const SHOWN_LINES = 5000;

export function run(id) {
  return {
    title: `Run ${id}`,
    concerns: (update) => update.run === id,
    draw: changes(() => get(`/api/runs/${id}`), ({ run: kept, calls, recording, live, asking, limits }) => {
      const known = kept ?? { ...live, state: ended(live) };
      const rows = joined(calls, live, recording, asking);
      return [
        h("p", { class: "back" }, h("a", { href: "#/runs" }, "All runs")),
        h("header", { class: "title" }, h("h1", {}, h("code", {}, id)), state(known)),
        facts(known, recording),
        asking?.length ? h("p", { class: "notice" }, `${count(asking.length, "call")} of it ${asking.length === 1 ? "waits" : "wait"} for you: `, h("a", { href: "#/approvals" }, "decide")) : null,
        budgets(known, rows.length, recording?.limits ?? limits),
        source(known, recording),
        waterfall(rows, known, live),
        logs(live),
      ];
    }),
  };
}

function facts(run, recording) {
  const error = run.error && !run.waits ? [chip(line(run.error), "bad"), run.line ? ` at line ${run.line}` : null] : null;
  const kept = { replayable: "kept: it can be replayed", verifiable: "redacted: it can be compared, not replayed", not_replayable: "none that can be replayed" };
  const pairs = [
    ["Began", moment(run.at_ms)],
    ["Took", duration(run.ms) || (run.state === "running" || run.state === "queued" ? "goes on" : null)],
    ["By", by(run)],
    ["Origin", run.origin ? line(run.origin) : null],
    ["Error", error],
    ["Script", size(run.source_bytes ?? null) || null],
    ["Recording", run.recording ? (kept[run.recording] ?? line(run.recording)) : null],
    ["Replay", recording && run.recording === "replayable" ? h("code", {}, `belljar replay ${run.run}`) : null],
  ];
  return h("dl", { class: "facts" }, pairs.filter(([, value]) => value).map(([term, value]) => h("div", {}, h("dt", {}, term), h("dd", {}, value))));
}

/** A limit as a number: it is a number, or a duration or size with a unit. */
function limited(value) {
  if (typeof value === "number") return value;
  const units = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
  return [...String(value ?? "").matchAll(/([\d.]+)\s*(ms|s|m|h)/g)].reduce((sum, [, number, unit]) => sum + number * units[unit], 0);
}

function budgets(run, calls, limits) {
  if (!limits) return null;
  const used = [
    ["Wall time", run.ms, limits.timeout, duration],
    ["Inside the script", run.guest_ms, limits.compute, duration],
    ["Memory", run.peak_memory_bytes, limits.memory, size],
    ["Calls", calls, limits.max_calls, (number) => number.toLocaleString("en")],
    ["Fuel", run.fuel, limits.fuel, (number) => Intl.NumberFormat("en", { notation: "compact", compactDisplay: "long", maximumFractionDigits: 1 }).format(number)],
  ].filter(([, value, limit]) => value != null && limited(limit) > 0);
  if (!used.length) return null;
  return h("section", { "aria-label": "Budgets" }, h("h2", {}, "Budgets"),
    h("div", { class: "budgets" }, used.map(([label, value, limit, told]) => {
      const part = Math.min(100, (value / limited(limit)) * 100);
      return h("div", { class: "budget" }, h("span", { class: "label" }, label),
        h("span", { class: "meter", role: "meter", "aria-label": label, "aria-valuenow": part.toFixed(1), "aria-valuemin": "0", "aria-valuemax": "100", "aria-valuetext": `${told(value)} of ${told(limited(limit))}` },
          h("i", { class: part > 80 ? "much" : "", vars: { "--part": `${Math.max(part, 0.6)}%` } })),
        h("span", { class: "value" }, told(value), h("small", {}, ` of ${told(limited(limit))}`)));
    })));
}

function source(run, recording) {
  const heading = h("h2", {}, "Script");
  if (!recording) {
    const where = run.line ? ` It failed at line ${run.line}.` : "";
    return h("section", {}, heading, h("p", { class: "quiet" }, `The ledger has no text of it.${where} With `, h("code", {}, "belljar run --ledger recordings"), ", or ", h("code", {}, 'level = "recordings"'), " in [ledger], scripts, arguments and results of later runs are kept and shown here."));
  }
  const all = block(recording.source).split("\n");
  const lines = all.slice(0, SHOWN_LINES);
  return h("section", {}, heading,
    h("ol", { class: "source", tabindex: "0", "aria-label": "Script", "data-key": "source" }, lines.map((text, at) =>
      h("li", { class: at + 1 === run.line ? "failing" : "", "aria-current": at + 1 === run.line ? "location" : null }, h("code", {}, text || " "), at + 1 === run.line ? chip(`failed here: ${line(run.error)}`, "bad") : null))),
    all.length > lines.length ? h("p", { class: "quiet" }, `${count(all.length - lines.length, "further line")} not shown.`) : null);
}

/** The calls as the ledger has them, those that only live events told of, and what crossed. */
function joined(calls, live, recording, asking) {
  const byNumber = new Map(calls.map((call) => [call.number, { ...call }]));
  for (const call of live?.calls ?? []) byNumber.set(call.number, { ...call, ...withoutNull(byNumber.get(call.number)), progress: call.progress, state: better(byNumber.get(call.number)?.state, call.state) });
  for (const { call, ...crossed } of recording?.crossings ?? []) {
    const known = byNumber.get(call);
    if (known) Object.assign(known, crossed);
  }
  for (const { call, id } of asking ?? []) {
    const known = byNumber.get(call);
    if (known) Object.assign(known, { state: "waiting", question: id });
  }
  return [...byNumber.values()].sort((one, other) => one.begun_ms - other.begun_ms || one.number - other.number);
}

const withoutNull = (call) => Object.fromEntries(Object.entries(call ?? {}).filter(([, value]) => value != null));
const better = (kept, live) => (!kept || kept === "sent" ? live : kept);

const OUTCOMES = {
  ok: ["ok", "good"], tool_error: ["failed", "bad"], failed: ["failed", "bad"], fault: ["no answer", "bad"], sent: ["sent", ""], waiting: ["waits for you", "warn"],
  denied: ["denied", "bad"], assumed_done: ["assumed done", "warn"], assumed_failed: ["assumed failed", "warn"],
};

function waterfall(calls, run, live) {
  const heading = h("h2", {}, "Calls ", h("small", {}, calls.length ? calls.length.toLocaleString("en") : ""));
  if (!calls.length) return h("section", {}, heading, h("p", { class: "quiet" }, run.state === "running" ? "It has called nothing yet." : "It called nothing."));
  const end = Math.max(...calls.map((call) => call.begun_ms + (call.ms ?? 0)), run.ms ?? 0, 0.001);
  const more = (live?.more_calls ?? 0) + Math.max(0, calls.length - SHOWN_CALLS);
  return h("section", {}, heading,
    h("p", { class: "scale", "aria-hidden": "true" }, h("span", {}, "0"), h("span", {}, duration(end / 2)), h("span", {}, duration(end))),
    h("ol", { class: "calls" }, calls.slice(0, SHOWN_CALLS).map((call) => h("li", {}, one(call, end)))),
    more ? h("p", { class: "quiet" }, `${count(more, "further call")} not shown; `, h("code", {}, `belljar runs show ${run.run} --json`), " has all that the ledger keeps.") : null);
}

function one(call, end) {
  const [outcome, kind] = OUTCOMES[call.state] ?? [line(call.state), ""];
  const bar = h("span", { class: "track", "aria-hidden": "true" },
    h("i", { class: `bar ${call.effect ?? ""} ${kind === "bad" ? "is-bad" : ""} ${call.ms == null ? "is-open" : ""}`, vars: { "--from": `${(call.begun_ms / end) * 100}%`, "--part": `${Math.max(((call.ms ?? end - call.begun_ms) / end) * 100, 0.4)}%` } }));
  const within = h("div", { class: "inside" });
  // There may be a thousand of them, with two megabytes inside.
  const fill = () => within.childElementCount || within.append(...inside(call).flat(Infinity).filter(Boolean));
  return h("details", { class: "call", "data-key": `call ${call.number}`, on: { toggle: fill } },
    h("summary", { "data-key": `summary ${call.number}` },
      h("span", { class: "number" }, String(call.number)),
      h("span", { class: "tool" }, name(`${call.server}.${call.tool}`)),
      h("span", { class: "chips" }, effect(call.effect), call.verdict && call.verdict !== "allow" ? chip(`rule: ${line(call.verdict)}`, `verdict-${line(call.verdict)}`) : null),
      bar,
      h("span", { class: "outcome" }, chip(outcome, kind), " ", h("span", { class: "took" }, call.state === "denied" ? "" : duration(call.ms)))),
    within);
}

function inside(call) {
  const verdict = call.verdict ? [line(call.verdict), call.rule ? [" by rule ", name(call.rule)] : " by the default", call.decided_by ? `, decided by ${line(call.decided_by)}` : null] : null;
  const pairs = [
    ["Tool", name(`${call.server}.${call.tool}`)],
    ["Began", `${duration(call.begun_ms)} after the run`],
    ["Rules", verdict],
    ["Trusted effect", call.trusted_effect ? line(call.trusted_effect).replace("_", "-") : null],
    ["Fuel by then", call.fuel?.toLocaleString("en")],
    ["Progress", call.progress ? name(call.progress) : null],
    ["Decision", call.question ? h("a", { href: "#/approvals" }, "waits for you") : null],
  ];
  const text = (title, bytes, crossed) => crossed
    ? [h("h3", {}, title, h("small", {}, ` ${size(crossed.bytes)}`)), h("pre", { tabindex: "0", "aria-label": title }, block(pretty(crossed.text)), crossed.text.length && new TextEncoder().encode(crossed.text).length < crossed.bytes ? "\n… the beginning of it" : null)]
    : bytes != null ? h("p", { class: "quiet" }, `${title}: ${size(bytes)}, which the ledger does not keep.`) : null;
  return [
    h("dl", { class: "facts" }, pairs.filter(([, value]) => value).map(([term, value]) => h("div", {}, h("dt", {}, term), h("dd", {}, value)))),
    text("Arguments", call.arguments_bytes, call.given),
    call.fault ? text("Fault", null, call.fault) : text("Result", call.answer_bytes, call.answer),
  ];
}

/** JSON laid out where that changes nothing; anything else as it is. */
function pretty(text) {
  try {
    const value = JSON.parse(text);
    const laidOut = JSON.stringify(value) === text ? JSON.stringify(value, null, 2) : text;
    return laidOut.length > Math.max(4096, text.length) * 4 ? text : laidOut;
  } catch {
    return text;
  }
}

function logs(live) {
  if (!live) return null;
  const heading = h("h2", {}, "Log ", h("small", {}, live.logs.length ? String(live.logs.length) : ""));
  if (!live.logs.length) return null;
  return h("section", {}, heading,
    live.earlier_logs ? h("p", { class: "quiet" }, `${count(live.earlier_logs, "earlier text")} not shown.`) : null,
    h("ol", { class: "log", tabindex: "0", "aria-label": "Log", "data-key": "log" }, live.logs.map(({ level, text, at_ms }) => h("li", { class: `level-${line(level)}` }, h("span", { class: "at" }, duration(at_ms)), h("span", { class: "level" }, line(level)), h("bdi", {}, block(text))))));
}
