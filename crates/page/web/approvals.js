// What waits for a decision, exactly as it would be sent, and the decision.

import { get, post } from "./api.js";
import { again, changes, chip, count, effect, h, line, lines, moment, name, opens, readTo, size, span } from "./dom.js";

export function approvals() {
  return {
    title: "Approvals",
    concerns: ({ kind, event }) => kind === "run" && ["parked", "resumed", "ended"].includes(event),
    draw: changes(() => get("api/approvals"), ({ approvals }) => {
      const heading = h("h1", {}, "Approvals");
      if (!approvals.length) {
        return [heading, h("section", { class: "empty" }, h("h2", {}, "Nothing waits for you"), h("p", {}, "When a rule asks about a call, the call stands here exactly as it would be sent, until you decide."))];
      }
      return [heading, h("p", { class: "quiet" }, `${count(approvals.length, "call")} ${approvals.length === 1 ? "waits. It is not" : "wait. None of them is"} sent before you approve it.`),
        h("ul", { class: "questions" }, approvals.map((question) => h("li", {}, card(question))))];
    }),
  };
}

function card(question) {
  const id = `question-${question.id}`;
  const decide = (approve) => h("button", { type: "button", class: approve ? "approve" : "deny", "data-key": `${approve} ${question.id}`, "aria-describedby": id, on: { click: () => ask(question.id, approve) } }, approve ? "Approve…" : "Deny…");
  return h("article", { class: "question", "aria-labelledby": id },
    h("h2", { id }, name(`${question.server}.${question.tool}`), " ", effect(question.effect)),
    what(question),
    question.not_here ? h("p", { class: "quiet" }, `It cannot be decided here: ${line(question.not_here)}.`) : h("p", { class: "buttons" }, decide(true), decide(false)));
}

/** All that a person has to know of a call. */
function what(question) {
  const rule = question.rule ? [name(question.rule), question.why ? [": ", name(question.why)] : null] : "the default of your rules";
  const before = question.so_far.length
    ? h("ul", { class: "past" }, question.so_far.map(({ tool, ok, calls }) => h("li", {}, chip(ok ? "ok" : "failed", ok ? "good" : "bad"), " ", name(tool), calls > 1 ? ` (${count(calls, "time")})` : null)))
    : "it has called nothing";
  return [
    h("dl", { class: "facts" }, [
      ["Asked by rule", rule],
      ["Run", [h("a", { href: `#/run/${question.run}` }, h("code", {}, question.run)), `, call ${question.call}`]],
      ["Asked for by", name(question.principal, "principal")],
      ["Asked", moment(question.asked_ms)],
      ["Until", h("time", { datetime: new Date(question.expires_ms).toISOString() }, `in ${span(question.expires_ms - Date.now())}`)],
      ["The run so far", before],
    ].map(([term, value]) => h("div", {}, h("dt", {}, term), h("dd", {}, value)))),
    h("h3", {}, "Arguments", h("small", {}, ` ${size(question.arguments_bytes)}`)),
    question.arguments_text == null ? h("p", { class: "quiet" }, "There is too much that waits to show these here: they are shown before you decide.") : [
      lines(question.arguments_text, "Arguments", question.id),
      question.arguments_sent === question.arguments_text ? null
        : h("details", { "data-key": `sent ${question.id}` }, h("summary", { "data-key": `summary ${question.id}` }, "As they would be sent"), lines(question.arguments_sent, "As they would be sent", `sent ${question.id}`)),
    ],
  ];
}

/** Asks once more, with the call as it is now. Only what is shown here can be decided. */
async function ask(id, approve) {
  const dialog = h("dialog", { "aria-labelledby": "deciding" });
  const close = () => dialog.close();
  const told = h("p", { class: "told", role: "alert" });
  const end = (message) => {
    told.textContent = message;
    dialog.querySelector(".buttons")?.replaceChildren(h("button", { type: "button", on: { click: close } }, "Close"));
    dialog.querySelector(".buttons button")?.focus();
  };
  dialog.addEventListener("close", () => {
    dialog.remove();
    again();
  });
  document.body.append(dialog);
  try {
    const { question, confirmation } = await post(`api/approvals/${id}/show`);
    const end_of_it = h("span", { class: "end" });
    const send = async () => {
      for (const button of dialog.querySelectorAll("button")) button.disabled = true;
      try {
        await post(`api/approvals/${id}`, { approve, confirmation });
        end(approve ? "Approved. The call is sent once, if nothing about it has changed. A run that was put aside goes on when its client asks for it again, or with belljar resume." : "Denied. The call is not sent.");
      } catch (error) {
        end(error.message);
      }
    };
    dialog.append(
      h("h2", { id: "deciding" }, approve ? "Send this call?" : "Deny this call?"),
      h("p", { class: "of" }, name(`${question.server}.${question.tool}`), " ", effect(question.effect)),
      h("div", { class: "shown" }, what(question), end_of_it),
      told,
      h("p", { class: "buttons" },
        h("button", { type: "button", class: approve ? "approve" : "deny", id: "decide", disabled: approve, on: { click: send } }, approve ? "Approve and send" : "Deny"),
        h("button", { type: "button", on: { click: close } }, "Not now")));
    opens(dialog);
    if (approve) readTo(end_of_it, () => (dialog.querySelector("#decide").disabled = false));
  } catch (error) {
    dialog.append(h("h2", { id: "deciding" }, "It cannot be decided"), told, h("p", { class: "buttons" }));
    opens(dialog);
    end(error.message);
  }
}
