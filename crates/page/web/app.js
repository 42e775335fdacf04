// Which view is shown, and when it is drawn again.

import { get, isSignedIn, leave, listen, login, logout, open } from "./api.js";
import { approvals } from "./approvals.js";
import { compare } from "./compare.js";
import { cost } from "./cost.js";
import { age, h, line, show } from "./dom.js";
import { rules } from "./rules.js";
import { run } from "./run.js";
import { runs } from "./runs.js";
import { server, tool, tools } from "./tools.js";

const main = document.getElementById("main");
const link = document.getElementById("link");
const waiting = document.getElementById("waiting");
const fault = document.getElementById("fault");
const out = document.getElementById("out");
const REDRAW = 400;
const LOOK = 5000;
/** Each view, and the place in the navigation that it belongs to. */
const VIEWS = {
  runs: ["runs", runs], run: ["runs", run], compare: ["runs", compare], approvals: ["approvals", approvals],
  tools: ["tools", tools], server: ["tools", server], tool: ["tools", tool], rules: ["rules", rules], cost: ["cost", cost],
};

let view = null;
/** The view that is being drawn. One that was left is drawn by nobody, however long its answer takes. */
let drawing = null;
let isDue = false;
let isBroken = false;
let isCounting = false;

/** Where the address leads. */
function route() {
  let parts = [];
  try {
    parts = location.hash.replace(/^#\//, "").split("/").map(decodeURIComponent);
  } catch {
    // Not an address of the page's own.
  }
  const [place, make] = (Object.hasOwn(VIEWS, parts[0]) && VIEWS[parts[0]]) || VIEWS.runs;
  const named = parts.slice(1);
  // What becomes a part of a request's path is a name of belljar's own making.
  const isStrange = place === "runs" && !named.every((part) => /^\w+$/.test(part));
  return isStrange || named.length < make.length ? { place: "runs", ...runs() } : { place, ...make(...named) };
}

async function draw(isNew = false) {
  if (drawing === view) {
    isDue = true;
    return;
  }
  if (isBroken && !isNew) view = route();
  const drawn = (drawing = view);
  try {
    const children = await drawn.draw();
    if (drawn !== view) return;
    if (children) show(main, children);
    [drawn.isShown, isBroken, fault.hidden] = [true, false, true];
  } catch (error) {
    if (drawn !== view) return;
    // What is shown, and what a person has written there, stays.
    if (drawn.isShown && error.status !== 401) [fault.textContent, fault.hidden] = [`Not up to date: ${line(error.message)}`, false];
    else fail(error);
  } finally {
    if (drawing === drawn) drawing = null;
  }
  if (isNew) {
    main.focus({ preventScroll: true });
    scrollTo(0, 0);
  }
}

function fail(error) {
  isBroken = true;
  if (error.login) return ask(error);
  const isClosed = error.status === 401;
  show(
    main,
    h(
      "section",
      { class: "empty" },
      h("h1", {}, isClosed ? "The page is not open" : "This cannot be shown"),
      h("p", {}, line(error.message)),
      isClosed ? h("p", {}, "Open it from a terminal with ", h("code", {}, "belljar ui"), ".") : null,
    ),
  );
}

/** The login of a page on another server. What is typed goes into a header, and nowhere else. */
function ask() {
  if (document.getElementById("token")) return;
  out.hidden = true;
  const told = h("p", { class: "told", role: "alert" });
  const token = h("input", { id: "token", type: "password", autocomplete: "off", spellcheck: "false", maxlength: 4000, required: true });
  const enter = async (event) => {
    event.preventDefault();
    try {
      await login(token.value.trim());
      token.value = "";
      begin();
    } catch (error) {
      told.textContent = line(error.message);
      token.focus();
    }
  };
  show(main, h("section", { class: "login" }, h("h1", {}, "Open belljar's page"),
    h("form", { on: { submit: enter } },
      h("label", { for: "token" }, "A token with the scope ", h("code", {}, "admin")), token,
      h("p", { class: "quiet" }, h("code", {}, "belljar token add me --scope admin"), " makes one. It stays in no address and no storage: the page keeps a token of its own in this tab."),
      told, h("p", { class: "buttons" }, h("button", { class: "approve", type: "submit" }, "Open")))));
  token.focus();
}

function turn() {
  leave();
  view = route();
  isDue = false;
  fault.hidden = true;
  document.title = `${view.title} · belljar`;
  for (const to of document.querySelectorAll("nav a")) {
    if (to.id === `to-${view.place}`) to.setAttribute("aria-current", "page");
    else to.removeAttribute("aria-current");
  }
  const turned = view;
  draw(true);
  setTimeout(() => {
    if (view === turned && drawing === turned && !turned.isShown) show(main, h("p", { class: "quiet", role: "status" }, "Asking belljar…"));
  }, REDRAW);
}

async function count() {
  if (isCounting) return;
  isCounting = true;
  const { waiting: number } = await get("api/waiting").finally(() => (isCounting = false));
  waiting.hidden = number === 0;
  waiting.textContent = String(number);
  waiting.setAttribute("aria-label", `${number} waiting`);
}

/** What happened: all of it is asked for again, at most a few times a second. */
function heard(updates) {
  if (!view.isStill && updates.some((update) => update.kind === "lost" || view.concerns(update))) isDue = true;
  if (updates.some((update) => update.kind === "lost" || ["parked", "resumed", "ended", "begun"].includes(update.event))) {
    count().catch(() => {});
  }
}

function connected(isThere, error) {
  link.textContent = isThere ? "live" : error ? "closed" : "connecting";
  link.classList.toggle("is-live", isThere);
  if (isThere && !view?.isStill) isDue = true;
  if (error) fail(error);
}

out.addEventListener("click", async () => {
  try {
    await logout();
    leave();
    // What is still being drawn is shown to nobody.
    view = { title: "Signed out", isStill: true, concerns: () => false, draw: async () => null };
    [waiting.hidden, fault.hidden] = [true, true];
    link.textContent = "closed";
    link.classList.remove("is-live");
    ask();
  } catch (error) {
    [fault.textContent, fault.hidden] = [`You are still signed in: ${line(error.message)}`, false];
  }
});
document.getElementById("skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});
addEventListener("keydown", (event) => {
  const isTyping = event.target.matches?.("input, select, textarea") || document.querySelector("dialog[open]");
  const first = main.querySelector("form input:not([type=checkbox])");
  if (event.key === "/" && !isTyping && first) {
    event.preventDefault();
    first.focus();
  }
});

let [isListening, hasBegun] = [false, false];

function begin() {
  out.hidden = !isSignedIn();
  turn();
  count().catch(() => {});
  if (!isListening) {
    isListening = true;
    listen(heard, connected).finally(() => (isListening = false));
  }
  if (hasBegun) return;
  hasBegun = true;
  addEventListener("hashchange", turn);
  addEventListener("belljar-again", () => {
    draw();
    count().catch(() => {});
  });
  setInterval(() => {
    if (!isDue || drawing === view || document.getElementById("token") || document.querySelector("dialog[open]")) return;
    isDue = false;
    draw();
  }, REDRAW);
  // Times that are told as a distance go on, and other processes decide and run too.
  setInterval(() => {
    if (document.hidden || document.getElementById("token")) return;
    age();
    // A look at a tool may start its server: nobody asks for that again and again.
    isDue ||= !view.isStill;
    count().catch(() => {});
  }, LOOK);
}

try {
  await open();
  begin();
} catch (error) {
  connected(false, error);
}
