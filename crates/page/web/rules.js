// The owner's rules, how often each decided, and what they say of a call.

import { get, post } from "./api.js";
import { block, button, changes, chip, count, effect, facts, h, line, moment, name } from "./dom.js";

const VERDICTS = { allow: "allows", ask: "asks", deny: "denies" };
const verdict = (then) => chip(VERDICTS[then] ?? line(then), `verdict-${line(then)} ${then === "allow" ? "good" : ""}`);

export function rules() {
  const explaining = explainForm();
  return {
    title: "Rules",
    concerns: ({ kind, event }) => kind === "run" && event === "ended",
    draw: changes(() => get("api/rules"), ({ file, rules, defaults, by_default, tests }) => {
      const heading = h("h1", {}, "Rules");
      if (!file) return [heading, h("section", { class: "empty" }, h("h2", {}, "There are no rules"), h("p", {}, "Every call of every tool is allowed. A ", h("code", {}, "policy.toml"), " beside your configuration changes that."))];
      return [
        heading,
        h("p", { class: "quiet" }, h("code", {}, line(file)), `: ${count(rules.length, "rule")}, ${count(tests, "test")}. The counts are of all calls in the ledger, by a rule's name.`),
        explaining,
        h("h2", {}, "In the order of the file"),
        h("ul", { class: "rules" }, rules.map((rule) => h("li", {}, ruleRow(rule)))),
        h("h2", {}, "Where no rule decides"),
        facts(Object.entries(defaults).map(([kind, then]) => [[effect(kind)], verdict(then)])),
        h("p", { class: "quiet" }, by_default.length ? ["Decided so: ", hits(by_default)] : "No call was decided so yet."),
      ];
    }),
  };
}

const hits = (all) => (all.length ? all.map(({ verdict: then, calls, last_ms }, at) => [at ? ", " : null, `${VERDICTS[then] ?? line(then)} ${count(calls, "call")}, the last `, moment(last_ms)]) : null);

/** A rule: what it does, how often it did, and its text. */
export function ruleRow({ rule, then, why, line: at, text, hits: known }) {
  const decided = known?.reduce((sum, { calls }) => sum + calls, 0);
  return h("details", { class: "rule", "data-key": `rule ${rule}` },
    h("summary", { "data-key": `summary ${rule}` }, h("span", { class: "id" }, name(rule)), verdict(then),
      known ? h("span", { class: "hits" }, decided ? count(decided, "hit") : "no hits") : null, why ? h("span", { class: "summary" }, line(why)) : null),
    h("div", { class: "inside" }, known ? h("p", { class: "quiet" }, known.length ? hits(known) : "It decided about no call that the ledger has.") : null,
      h("p", { class: "quiet" }, `Line ${at} of the file`), h("pre", { tabindex: "0", "aria-label": `Rule ${line(rule)}` }, block(text))));
}

/** What the rules say of a call, step by step. */
export function explanation({ verdict: then, rule, why, effect: kind, destructive, steps, who, call_timeout_ms, repeated }) {
  const condition = ({ condition, seen, met }) =>
    h("li", {}, chip(met == null ? "unknown" : met ? "met" : "not met", met == null ? "warn" : met ? "good" : ""), " ", line(condition), h("span", { class: "quiet" }, ` (${line(seen)})`));
  return [
    h("p", { class: "decision" }, verdict(then), " ", rule ? ["by rule ", name(rule)] : "by the default", why ? [": ", name(why)] : null),
    h("p", { class: "quiet" }, kind ? [effect(kind), destructive ? ", may destroy something" : null] : null, who?.length ? ` · asked by ${[who].flat().map(line).join(", ")}` : null,
      call_timeout_ms ? ` · fails after ${call_timeout_ms / 1000} s without progress` : null, repeated ? " · repeated once if its server dies" : null),
    steps.length ? h("ol", { class: "steps" }, steps.map((step) => h("li", {}, h("span", { class: "id" }, name(step.rule)), " ", verdict(step.then), " ", chip(step.matches ? "matches" : "does not match", step.matches ? "warn" : ""), ` line ${step.line}`,
      step.conditions.length ? h("ul", {}, step.conditions.map(condition)) : null))) : null,
  ];
}

function explainForm() {
  const told = h("div", { class: "told", role: "alert" });
  const shown = h("div", { class: "answer", "aria-live": "polite" });
  const path = h("input", { id: "path", "data-key": "path", type: "text", placeholder: "server.tool", autocomplete: "off", spellcheck: "false", maxlength: 1000 });
  const input = h("textarea", { id: "input", "data-key": "input", rows: 2, spellcheck: "false", autocomplete: "off", maxlength: 100_000 }, "{}");
  const explain = async () => shown.replaceChildren(...explanation(await post("api/explain", { tool: path.value, arguments: input.value })).flat(Infinity).filter(Boolean));
  const go = button("Explain", told, explain);
  return h("form", { class: "explain", "aria-label": "Explain a call", on: { submit: (event) => { event.preventDefault(); go.click(); } } },
    h("h2", {}, "What would happen to a call?"),
    h("div", { class: "filters" }, h("label", { for: "path" }, h("span", {}, "Tool"), path), h("label", { for: "input", class: "wide" }, h("span", {}, "Arguments, a JSON object"), input), go),
    told, shown);
}
