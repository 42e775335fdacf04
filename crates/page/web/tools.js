// The servers, their tools, and a call that a person writes.

import { get, LONG, post } from "./api.js";
import { again, block, button, changes, chip, count, duration, effect, facts, h, line, lines, moment, name, opens, readTo, size, toTool } from "./dom.js";
import { explanation, ruleRow } from "./rules.js";

const STATES = { ready: "ok", busy: "running", starting: "running", failing: "failed", open: "failed" };
const WORDS = { cold: "not running", open: "left alone for a while", failing: "failing", ready: "ready", busy: "busy", starting: "starting", stopping: "stopping" };
let searched = "";

export function tools() {
  const searching = searchForm();
  return {
    title: "Tools",
    concerns: ({ kind }) => kind === "child",
    draw: changes(async () => {
      const { servers, warnings, more_warnings, figures } = await get("api/servers");
      // It is another one at each look.
      for (const server of servers) server.since = server.uptime_ms == null ? null : Math.floor((Date.now() - server.uptime_ms) / 10_000) * 10_000;
      for (const server of servers) delete server.uptime_ms;
      return { servers, warnings, more_warnings, figures };
    }, ({ servers, warnings, more_warnings, figures }) => [
      h("h1", {}, "Tools"), searching,
      h("h2", {}, "Servers ", h("small", {}, servers.length || "")),
      servers.length ? h("ul", { class: "questions" }, servers.map((server) => h("li", {}, card(server, figures.servers.find((known) => known.name === server.name), figures.days))))
        : h("section", { class: "empty" }, h("h3", {}, "No servers are configured"), h("p", {}, h("code", {}, "belljar add"), " and ", h("code", {}, "belljar import"), " add some.")),
      warnings.length ? h("section", {}, h("h2", {}, "Definitions that speak to a model ", h("small", {}, more_warnings ? `${warnings.length} of ${(warnings.length + more_warnings).toLocaleString("en")}` : "")), h("ul", {}, warnings.map(({ server, tool, place, message }) => h("li", {}, name(`${server}.${tool}`), `: ${line(place)}: ${line(message)}`)))) : null,
    ]),
  };
}

function card(server, figures, days) {
  const id = `server-${server.name}${server.key ?? ""}${server.principal ?? ""}`;
  const state = WORDS[server.state] ?? line(server.state);
  return h("article", { class: `question server is-${STATES[server.state] ?? "cold"}`, "aria-label": line(server.name) },
    h("header", { class: "title" }, h("h3", {}, h("a", { href: `#/server/${encodeURIComponent(server.name)}`, "data-key": id }, name(server.name)), server.key ? [" ", name(server.key)] : null),
      h("span", { class: `state state-${STATES[server.state] ?? "cold"}` }, state)),
    server.last_error ? h("div", { class: "notice is-bad" }, h("p", {}, h("strong", {}, "Last error: "), line(server.last_error)), server.hint ? h("p", {}, h("strong", {}, "To fix it: "), line(server.hint)) : null) : null,
    facts([
      ["Version", server.version ? name(server.version) : null],
      ["Tools", server.tools == null ? "not known yet" : server.tools.toLocaleString("en")],
      ["Reached by", line(server.transport).replace("_", "-")],
      ["MCP", server.era ? line(server.era) : null],
      ["Ready since", server.since ? moment(server.since) : null],
      ["Calls", server.calls.toLocaleString("en")],
      ["Restarts", server.restarts || null],
      ["For", server.principal ? name(server.principal) : null],
    ]),
    figures ? latencies(figures, days) : null);
}

function latencies(figures, days) {
  const rows = [["Starts", figures.starts], ["First calls", figures.first_calls], ["Other calls", figures.warm_calls]].filter(([, timing]) => timing.count);
  const counts = [[figures.failed_starts, "failed start"], [figures.errors, "call without a result", "calls without a result"], [figures.tool_errors, "error of a tool", "errors of tools"], [figures.deaths, "death"], [figures.breaker_trips, "pause after failures", "pauses after failures"]].filter(([number]) => number);
  if (!rows.length && !counts.length) return null;
  return [
    rows.length ? h("div", { class: "sideways", tabindex: "0", role: "group", "aria-label": "Times" }, h("table", { class: "figures" }, h("caption", {}, `Times of the last ${days} days`),
      h("thead", {}, h("tr", {}, ["", "count", "p50", "p95", "longest"].map((heading) => (heading ? h("th", { scope: "col" }, heading) : h("td", {}))))),
      h("tbody", {}, rows.map(([label, { count: number, p50_ms, p95_ms, max_ms }]) => h("tr", {}, h("th", { scope: "row" }, label), [number.toLocaleString("en"), duration(p50_ms), duration(p95_ms), duration(max_ms)].map((cell) => h("td", {}, cell))))))) : null,
    counts.length ? h("p", { class: "quiet" }, counts.map(([number, one, many]) => count(number, one, many)).join(", ")) : null,
    (figures.targets ?? []).map(({ name: target, met, measured, target: wanted, unit }) => h("p", { class: "quiet" }, chip(met == null ? "not measured yet" : met ? "met" : "missed", met == null ? "" : met ? "good" : "bad"), ` ${line(target)}: at most ${wanted} ${line(unit)}`, measured == null ? null : `, measured ${measured} ${line(unit)}`)),
  ];
}

function searchForm() {
  const found = h("div", { "aria-live": "polite" });
  const told = h("div", { class: "told", role: "alert" });
  const query = h("input", { id: "query", "data-key": "query", type: "search", value: searched, placeholder: "what a model would ask for", autocomplete: "off", spellcheck: "false", maxlength: 500 });
  const look = async () => {
    searched = query.value.trim();
    found.replaceChildren(h("p", { class: "quiet" }, "Searching; servers whose tools are not known are started…"));
    try {
      const { answer, text } = await get(`api/search?${new URLSearchParams({ query: searched })}`, LONG);
      found.replaceChildren(...results(answer, text));
    } catch (error) {
      found.replaceChildren();
      throw error;
    }
  };
  const go = button("Search", told, look);
  return h("form", { class: "filters", role: "search", "aria-label": "Search the tools", on: { submit: (event) => { event.preventDefault(); go.click(); } } },
    h("label", { for: "query", class: "wide" }, h("span", {}, "Search as a model does"), query), go, told, h("div", { class: "found" }, found));
}

function results({ results, omitted, notes }, text) {
  const more = omitted ? `, ${count(omitted, "further one")} left out` : "";
  return [
    h("p", { class: "quiet" }, results.length ? `${count(results.length, "tool")}${more}` : "No tool fits."),
    ...(notes ?? []).map((note) => h("p", { class: "quiet" }, line(note))),
    h("ul", { class: "tools" }, results.map((tool) => h("li", {}, toolRow(tool)))),
    h("details", { "data-key": "read" }, h("summary", {}, "What a model reads"), h("pre", { tabindex: "0", "aria-label": "What a model reads" }, block(text))),
  ];
}

const toolRow = ({ path, effect: kind, summary }) =>
  h("a", { class: "tool-row", href: toTool(path), "data-key": path }, h("span", { class: "tool" }, name(path)), effect(kind), summary ? h("span", { class: "summary" }, line(summary)) : null);

export function server(named) {
  return {
    title: `Tools of ${line(named)}`,
    isStill: true,
    draw: changes(() => get(`api/tools?${new URLSearchParams({ server: named })}`, LONG), ({ results, omitted, unavailable, notes }) => [
      h("p", { class: "back" }, h("a", { href: "#/tools" }, "All servers")),
      h("header", { class: "title" }, h("h1", {}, name(named)), h("span", { class: "quiet" }, count(results.length + omitted, "tool"))),
      unavailable.filter((known) => known.server === named).map(({ reason, hint }) => h("div", { class: "notice is-bad" }, h("p", {}, line(reason)), h("p", {}, h("strong", {}, "To fix it: "), line(hint)))),
      (notes ?? []).map((note) => h("p", { class: "quiet" }, line(note))),
      h("ul", { class: "tools" }, results.map((tool) => h("li", {}, toolRow(tool)))),
      omitted ? h("p", { class: "quiet" }, `${count(omitted, "further tool")} not shown.`) : null,
    ]),
  };
}

export function tool(path) {
  let trying = null;
  return {
    title: line(path),
    isStill: true,
    draw: changes(() => get(`api/tool?${new URLSearchParams({ path })}`, LONG), (told) => {
      trying ??= tryForm(path, told.schema);
      const { found, description, declares_result, observed_calls, trusted_effect, destructive, rules, pinned } = told;
      const details = [found.folders, ...(found.details ?? [])].filter(Boolean);
      const back = `#/server/${encodeURIComponent(found.server)}`;
      return [
        h("p", { class: "back" }, h("a", { href: back }, "Tools of ", name(found.server))),
        h("header", { class: "title" }, h("h1", {}, name(path)), effect(found.effect)),
        description ? h("p", { class: "prose" }, block(description)) : null,
        facts([
          ["For decisions it counts as", [effect(trusted_effect), destructive ? " and may destroy something" : null]],
          ["Its server is started with", found.started_with ? h("code", {}, line(found.started_with)) : null],
          ["Keeps state", found.stateful ? "yes: calls that overlap may mix" : null],
          ["Definition", pinned ? "pinned: you are asked when it changes" : null],
        ]),
        h("section", {}, h("h2", {}, "Declaration"),
          h("pre", { tabindex: "0", "aria-label": "Declaration", "data-key": "declaration" }, block(found.declaration)),
          h("p", { class: "quiet" }, declares_result ? "The server declares its result." : observed_calls ? `The server declares no result: its shape is from ${count(observed_calls, "call")}.` : "The server declares no result, and no call has shown one yet."),
          details.map((text) => h("p", { class: "quiet" }, line(text)))),
        h("section", {}, h("h2", {}, "Rules for it ", h("small", {}, rules.length || "")),
          rules.length ? h("ul", { class: "rules" }, rules.map((rule) => h("li", {}, ruleRow(rule)))) : null,
          h("p", { class: "quiet" }, told.default ? `Where none of them decides: ${line(told.default)}.` : "There are no rules: every call is allowed.")),
        trying,
      ];
    }),
  };
}

const BLANK = { string: "", number: 0, integer: 0, boolean: false, array: [], object: {} };

/** The arguments that a call needs, to be filled in. A schema may be anything; none of its values is taken over. */
function skeleton(schema) {
  const required = [schema?.required].flat().filter((at) => typeof at === "string" && line(at) === at).slice(0, 20);
  const type = (at) => [schema.properties?.[at]?.type].flat().find((known) => typeof known === "string" && Object.hasOwn(BLANK, known));
  return JSON.stringify(Object.fromEntries(required.map((at) => [at, BLANK[type(at)] ?? null])), null, 2);
}

function tryForm(path, schema) {
  const told = h("div", { class: "told", role: "alert" });
  const shown = h("div", { class: "answer", "aria-live": "polite" });
  const input = h("textarea", { id: "arguments", "data-key": "arguments", rows: 6, spellcheck: "false", autocomplete: "off", maxlength: 100_000 }, skeleton(schema));
  const explain = async () => shown.replaceChildren(...explanation(await post("api/explain", { tool: path, arguments: input.value })).flat(Infinity).filter(Boolean));
  const call = async () => confirm(path, input.value, await post("api/call/show", { tool: path, arguments: input.value }), shown);
  return h("section", { class: "try" }, h("h2", {}, "Try a call"),
    h("label", { for: "arguments" }, "Arguments, a JSON object"), input,
    h("p", { class: "buttons" }, button("What the rules say", told, explain), button("Call…", told, call, "approve")), told, shown);
}

/** Shows the call as it would be made, and makes exactly that. It is judged by the rules as each call is. */
function confirm(path, written, { explained, confirmation }, shown) {
  const dialog = h("dialog", { "aria-labelledby": "calling" });
  const told = h("p", { class: "told", role: "alert" });
  const end = h("span", { class: "end" });
  const close = () => dialog.close();
  const send = async () => {
    for (const button of dialog.querySelectorAll("button")) button.disabled = true;
    told.textContent = "Calling…";
    try {
      shown.replaceChildren(...answer(await post("api/call", { tool: path, arguments: written, confirmation }, LONG)));
      close();
      again();
    } catch (error) {
      if (!dialog.isConnected) return shown.replaceChildren(h("p", { class: "notice is-bad" }, line(error.message)));
      told.textContent = line(error.message);
      dialog.querySelector(".buttons").replaceChildren(h("button", { type: "button", on: { click: close } }, "Close"));
    }
  };
  dialog.addEventListener("close", () => dialog.remove());
  dialog.append(h("h2", { id: "calling" }, "Make this call?"), h("p", { class: "of" }, name(path), " ", effect(explained.effect)),
    h("div", { class: "shown" }, explanation(explained).flat(Infinity).filter(Boolean), h("h3", {}, "Arguments"), lines(explained.arguments_text, "Arguments", "call"), end), told,
    h("p", { class: "buttons" }, h("button", { type: "button", class: "approve", id: "decide", disabled: true, on: { click: send } }, "Call it"),
      h("button", { type: "button", on: { click: close } }, "Not now")));
  document.body.append(dialog);
  opens(dialog);
  readTo(end, () => (dialog.querySelector("#decide").disabled = false));
}

function answer({ ok, run, error, warning, ms, value, value_bytes }) {
  return [
    h("h3", {}, chip(ok ? "ok" : line(error?.kind ?? "failed"), ok ? "good" : "bad"), " ", duration(ms), run ? [" ", h("a", { href: `#/run/${run}` }, h("code", {}, run))] : null),
    warning ? h("p", { class: "quiet" }, line(warning)) : null,
    error ? h("div", { class: "notice is-bad" }, h("p", {}, block(error.message)), error.hint ? h("p", {}, line(error.hint)) : null) : h("pre", { tabindex: "0", "aria-label": "Value", "data-key": "value" }, block(value)),
    new TextEncoder().encode(value).length < value_bytes ? h("p", { class: "quiet" }, `The beginning of ${size(value_bytes)}; `, h("code", {}, "belljar call"), " prints all of it.") : null,
  ].filter(Boolean);
}
