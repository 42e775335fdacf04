// One run: what it was, what it used, and each of its calls.

import { get, LONG, post, save } from "./api.js";
import { again, block, button, changes, chip, count, duration, effect, facts as pairs, h, line, moment, name, since, size, toTool } from "./dom.js";
import { by, ended, goesOn, state } from "./runs.js";

const SHOWN_CALLS = 1000;
const SHOWN_LINES = 5000;

export function run(id) {
  const acting = actions(id);
  return {
    title: `Run ${id}`,
    concerns: (update) => update.run === id,
    draw: changes(() => get(`api/runs/${id}`), ({ run: kept, calls, recording, live, asking, can_be_cancelled, limits }) => {
      const known = kept ?? { ...live, state: ended(live) };
      const rows = joined(calls, live, recording, asking);
      return [
        h("p", { class: "back" }, h("a", { href: "#/runs" }, "All runs")),
        h("header", { class: "title" }, h("h1", {}, h("code", {}, id)), state(known),
          can_be_cancelled ? h("button", { type: "button", class: "deny", "data-key": "cancel", on: { click: () => cancel(id, rows) } }, "Cancel the run…") : null),
        facts(known, recording),
        kept && !goesOn(known) ? acting : null,
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
  return pairs([
    ["Began", moment(run.at_ms)],
    ["Took", duration(run.ms) || (goesOn(run) ? since(run.at_ms) : null)],
    ["By", by(run)],
    ["Origin", run.origin ? line(run.origin) : null],
    ["Error", error],
    ["Script", size(run.source_bytes ?? null) || null],
    ["Recording", run.recording ? (kept[run.recording] ?? line(run.recording)) : null],
  ]);
}

/** Asks once more, and has belljar end the run. */
function cancel(id, calls) {
  const open = calls.filter((call) => call.state === "sent").length;
  const dialog = h("dialog", { "aria-labelledby": "cancelling" });
  const told = h("p", { class: "told", role: "alert" });
  const close = () => dialog.close();
  const end = async () => {
    for (const button of dialog.querySelectorAll("button")) button.disabled = true;
    try {
      await post(`api/runs/${id}/cancel`);
      close();
    } catch (error) {
      told.textContent = line(error.message);
      dialog.querySelector(".buttons").replaceChildren(h("button", { type: "button", on: { click: close } }, "Close"));
    }
  };
  dialog.addEventListener("close", () => {
    dialog.remove();
    again();
  });
  dialog.append(h("h2", { id: "cancelling" }, "Cancel this run?"), h("p", { class: "of" }, h("code", {}, id)),
    h("p", {}, "Its script ends now, and whoever asked for it is told that you cancelled it. Nothing that it has done is undone."),
    open ? h("p", {}, `${count(open, "call")} ${open === 1 ? "has" : "have"} no answer yet: the server may carry ${open === 1 ? "it" : "them"} out all the same.`) : null,
    told,
    h("p", { class: "buttons" }, h("button", { type: "button", class: "deny", id: "decide", on: { click: end } }, "Cancel the run"),
      h("button", { type: "button", autofocus: true, on: { click: close } }, "Let it go on")));
  document.body.append(dialog);
  dialog.showModal();
}

/** What can be done with a run that the ledger has. */
function actions(id) {
  const [told, shown] = [h("div", { class: "told", role: "alert" }), h("div", { class: "answer", "aria-live": "polite" })];
  const other = h("select", { id: "other", "data-key": "other" }, h("option", { value: "" }, "choose a run"));
  const fill = async () => {
    const { runs } = await get("api/runs?limit=50");
    const chosen = other.value;
    other.replaceChildren(h("option", { value: "" }, "choose a run"), ...runs.filter(({ run }) => run !== id).map(({ run, state, at_ms }) => h("option", { value: run, selected: run === chosen }, `${run}, ${line(state)}, ${new Date(at_ms).toLocaleString()}`)));
  };
  other.addEventListener("change", () => other.value && (location.hash = `#/compare/${id}/${other.value}`));
  fill().catch(() => {});
  const replay = async () => shown.replaceChildren(...replayed(await post(`api/runs/${id}/replay`, {}, LONG)));
  return h("section", { class: "actions", "aria-label": "What can be done with it" },
    h("div", { class: "buttons" }, button("Replay", told, replay), button("Export the recording", told, () => save(`api/runs/${id}/recording`, `${id}.belljar`)), button("Export as JSON", told, () => save(`api/runs/${id}/json`, `${id}.json`)),
      h("label", { for: "other" }, "Compare with ", other)), told, shown);
}

function replayed({ same, why, ok, value, error, fuel }) {
  if (!same) return [h("p", { class: "notice is-bad" }, h("strong", {}, "Not repeated: "), line(why))];
  return [
    h("p", { class: "notice is-good" }, `Repeated exactly: the same calls, answers and end${fuel == null ? "" : `, ${fuel.toLocaleString("en")} fuel`}. No tool was called.`),
    ok ? h("pre", { tabindex: "0", "aria-label": "Value of the replay" }, block(value)) : h("p", {}, chip(line(error?.kind ?? "failed"), "bad"), " ", line(error?.message ?? "")),
  ];
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
    const level = ["With ", h("code", {}, "belljar run --ledger recordings"), ", or ", h("code", {}, 'level = "recordings"'), " in [ledger], "];
    const why = goesOn(run) ? ["A run's texts are kept when it has ended. ", level, "they are shown here then: its script, arguments and results."]
      : run.state === "interrupted" ? `The ledger has no text of it: belljar's process ended before it did.${where}`
      : run.recording ? `The ledger has no text of it, because its recording could not be kept.${where}`
      : [`The ledger has no text of it.${where} `, level, "scripts, arguments and results of later runs are kept and shown here."];
    return h("section", {}, heading, h("p", { class: "quiet" }, why));
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
  ok: ["ok", "good"], tool_error: ["failed", "bad"], failed: ["failed", "bad"], fault: ["no answer", "bad"], sent: ["sent", ""], waiting: ["waits for you", "warn"], not_sent: ["not sent", ""],
  denied: ["denied", "bad"], assumed_done: ["assumed done", "warn"], assumed_failed: ["assumed failed", "warn"],
};

function waterfall(calls, run, live) {
  const heading = h("h2", {}, "Calls ", h("small", {}, calls.length ? calls.length.toLocaleString("en") : ""));
  if (!calls.length) return h("section", {}, heading, h("p", { class: "quiet" }, goesOn(run) ? "It has called nothing yet." : "It called nothing."));
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
      h("span", { class: "outcome" }, chip(outcome, kind), " ", h("span", { class: "took" }, ["denied", "not_sent"].includes(call.state) ? "" : duration(call.ms)))),
    within);
}

function inside(call) {
  const verdict = call.verdict ? [line(call.verdict), call.rule ? [" by rule ", name(call.rule)] : " by the default", call.decided_by ? `, decided by ${line(call.decided_by)}` : null] : null;
  const known = [
    ["Tool", h("a", { href: toTool(`${call.server}.${call.tool}`) }, name(`${call.server}.${call.tool}`))],
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
    pairs(known),
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
