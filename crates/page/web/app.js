// Which view is shown, and when it is drawn again.

import { get, listen, open } from "./api.js";
import { approvals } from "./approvals.js";
import { age, h, line, show } from "./dom.js";
import { run } from "./run.js";
import { runs } from "./runs.js";

const main = document.getElementById("main");
const link = document.getElementById("link");
const waiting = document.getElementById("waiting");
const REDRAW = 400;
const LOOK = 5000;

let view = null;
let isDue = false;
let isBusy = false;
let isCounting = false;

/** Where the address leads. */
function route() {
  const [, place, id] = location.hash.match(/^#\/(runs|run|approvals)(?:\/([A-Za-z0-9_]+))?$/) ?? [null, "runs"];
  if (place === "run" && id) return { place: "runs", ...run(id) };
  return place === "approvals" ? { place, ...approvals() } : { place: "runs", ...runs() };
}

async function draw(isNew = false) {
  if (isBusy) {
    isDue = true;
    return;
  }
  isBusy = true;
  const drawn = view;
  try {
    const children = await drawn.draw();
    if (drawn === view && children) show(main, children);
  } catch (error) {
    if (drawn === view) fail(error);
  }
  isBusy = false;
  if (drawn !== view) await draw(true);
  else if (isNew) {
    main.focus({ preventScroll: true });
    scrollTo(0, 0);
  }
}

function fail(error) {
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

function turn() {
  view = route();
  document.title = `${view.title} · belljar`;
  for (const place of ["runs", "approvals"]) {
    const to = document.getElementById(`to-${place}`);
    if (view.place === place) to.setAttribute("aria-current", "page");
    else to.removeAttribute("aria-current");
  }
  draw(true);
}

async function count() {
  if (isCounting) return;
  isCounting = true;
  const { waiting: number } = await get("/api/waiting").finally(() => (isCounting = false));
  waiting.hidden = number === 0;
  waiting.textContent = String(number);
  waiting.setAttribute("aria-label", `${number} waiting`);
}

/** What happened: all of it is asked for again, at most a few times a second. */
function heard(updates) {
  if (updates.some((update) => update.kind === "lost" || (update.kind === "run" && view.concerns(update)))) isDue = true;
  if (updates.some((update) => update.kind === "lost" || ["parked", "resumed", "ended", "begun"].includes(update.event))) {
    count().catch(() => {});
  }
}

function connected(isThere, error) {
  link.textContent = isThere ? "live" : error ? "closed" : "connecting";
  link.classList.toggle("is-live", isThere);
  if (isThere) isDue = true;
  if (error) fail(error);
}

document.getElementById("skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});
addEventListener("keydown", (event) => {
  const isTyping = event.target.matches?.("input, select, textarea") || document.querySelector("dialog[open]");
  if (event.key === "/" && !isTyping && document.getElementById("client")) {
    event.preventDefault();
    document.getElementById("client").focus();
  }
});

try {
  await open();
  addEventListener("hashchange", turn);
  addEventListener("belljar-again", () => {
    draw();
    count().catch(() => {});
  });
  turn();
  count().catch(() => {});
  listen(heard, connected);
  setInterval(() => {
    if (!isDue || isBusy || document.querySelector("dialog[open]")) return;
    isDue = false;
    draw();
  }, REDRAW);
  // Times that are told as a distance go on, and other processes decide and run too.
  setInterval(() => {
    if (document.hidden) return;
    age();
    isDue = true;
    count().catch(() => {});
  }, LOOK);
} catch (error) {
  connected(false, error);
}
