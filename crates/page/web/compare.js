// Two runs side by side.

import { get } from "./api.js";
import { changes, chip, count, duration, h, line, moment, name, size } from "./dom.js";
import { by, state } from "./runs.js";

const SHOWN = 1000;

export function compare(one, other) {
  return {
    title: `${one} and ${other}`,
    concerns: (update) => update.run === one || update.run === other,
    draw: changes(() => get(`api/runs/${one}/with/${other}`), (told) => [
      h("p", { class: "back" }, h("a", { href: `#/run/${one}` }, "Back to ", h("code", {}, one))),
      h("h1", {}, "Two runs"), first(told.difference, [told.one.run, told.other.run]), figures(told.one.run, told.other.run), calls(told.one, told.other)]),
  };
}

/** Where texts are of which only digests were compared. */
function texts(runs) {
  const kept = runs.filter(({ recording }) => recording && recording !== "not_replayable");
  if (!kept.length) return "The ledger has no texts of these runs: it keeps those of runs at the level recordings alone.";
  return [kept.length === 2 ? "The texts are on the pages of both runs." : "The ledger has the texts of one run alone, on its page: ", kept.length === 1 ? h("a", { href: `#/run/${kept[0].run}` }, h("code", {}, kept[0].run)) : null];
}

function first(difference, runs) {
  if (!difference) return h("p", { class: "notice is-good" }, "They are equal: script, calls, arguments, answers, end and fuel.");
  const { what, call, one, other } = difference;
  const of = call == null ? "" : ` of call ${call}`;
  const shown = (text) => h("code", {}, line(text) || "nothing");
  const is_digest = ["source", "arguments", "answer"].includes(what);
  return h("p", { class: "notice" }, `They differ first in the ${line(what)}${of}`, is_digest ? [". Their digests differ. ", texts(runs)] : [": ", shown(one), " and ", shown(other), "."]);
}

function figures(one, other) {
  const rows = [
    ["State", state], ["Error", (run) => (run.error ? [chip(line(run.error), "bad"), run.line ? ` line ${run.line}` : null] : "none")], ["Began", (run) => moment(run.at_ms)], ["Took", (run) => duration(run.ms)],
    ["Inside the script", (run) => duration(run.guest_ms)], ["Fuel", (run) => run.fuel?.toLocaleString("en")], ["Memory", (run) => size(run.peak_memory_bytes)], ["Calls", (run) => run.calls.toLocaleString("en")], ["Script", (run) => size(run.source_bytes)], ["By", by],
  ];
  const same = { State: "state", Error: "error", Fuel: "fuel", Calls: "calls", Script: "source_digest" };
  return h("div", { class: "scrolled", tabindex: "0", role: "group", "aria-label": "Figures of both" }, h("table", { class: "figures beside" }, h("thead", {}, h("tr", {}, h("td", {}), [one, other].map(({ run }) => h("th", { scope: "col" }, h("a", { href: `#/run/${run}` }, h("code", {}, run)))))),
    h("tbody", {}, rows.map(([label, cell]) => {
      const differs = same[label] && one[same[label]] !== other[same[label]];
      return h("tr", { class: differs ? "differs" : "" }, h("th", { scope: "row" }, label, differs ? [" ", chip("differs", "warn")] : null), [one, other].map((run) => h("td", {}, cell(run) ?? "")));
    }))));
}

const SAME = [["tool", ({ server, tool }) => `${server}.${tool}`], ["arguments", (call) => call.arguments_digest], ["answer", (call) => call.answer_digest], ["state", (call) => call.state]];

/** What of two calls differs: all, where one run has none at this place. */
const difference = (one, other) => (one && other ? SAME.filter(([, of]) => of(one) !== of(other)).map(([what]) => what) : ["only in one"]);

function calls({ calls: ones }, { calls: others }) {
  const rows = Array.from({ length: Math.max(ones.length, others.length) }, (_, at) => [ones[at], others[at]]);
  const differing = rows.filter(([one, other]) => difference(one, other).length);
  const cell = (call) => (call ? [name(`${call.server}.${call.tool}`), " ", h("span", { class: "quiet" }, line(call.state).replace("_", " "), " ", duration(call.ms))] : h("span", { class: "quiet" }, "none"));
  return h("section", { class: "pairs" }, h("h2", {}, "Calls ", h("small", {}, rows.length ? `${count(rows.length, "place")}, ${differing.length} differ` : "")),
    rows.length ? h("div", { class: "scrolled", tabindex: "0", role: "group", "aria-label": "Calls of both" }, h("table", { class: "figures beside" }, h("thead", {}, h("tr", {}, ["Number", "One", "Other", "Differs in"].map((heading) => h("th", { scope: "col" }, heading)))),
      h("tbody", {}, rows.slice(0, SHOWN).map(([one, other]) => {
        const differs = difference(one, other);
        return h("tr", { class: differs.length ? "differs" : "" }, h("th", { scope: "row" }, String((one ?? other).number)), h("td", {}, cell(one)), h("td", {}, cell(other)), h("td", {}, differs.map((what) => [chip(what, "warn"), " "])));
      })))) : h("p", { class: "quiet" }, "Neither called anything."));
}
