// Builds elements. Every text goes in as text: nothing here, or anywhere in the page, makes markup of a string.

/** An element with attributes and children. `on` has its listeners, and a child that is null is left out. */
export function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (name === "on") {
      for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
    } else if (name === "vars") {
      for (const [variable, set] of Object.entries(value)) element.style.setProperty(variable, set);
    } else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(...children.flat(Infinity).filter((child) => child != null && child !== false));
  return element;
}

// What acts on its reader, is invisible or looks like a blank, every space but the usual one among it. Line breaks and
// tabs are left in blocks.
const HIDDEN = /(?! )[\p{Cc}\p{Cf}\p{Zs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\uFFF0-\uFFFB\u{E0000}-\u{E0FFF}]/gu;
const escaped = (character) => `\\u{${character.codePointAt(0).toString(16)}}`;

/** A foreign text on one line, in which nothing is hidden. */
export const line = (text) =>
  String(text ?? "").replace(HIDDEN, (character) => ({ "\n": "\\n", "\t": "\\t", "\r": "\\r" })[character] ?? escaped(character));

/** A foreign text of several lines, in which nothing is hidden. */
export const block = (text) =>
  String(text ?? "")
    .replaceAll("\r\n", "\n")
    .replace(HIDDEN, (character) => (character === "\n" || character === "\t" ? character : escaped(character)));

/** A foreign name in an element of its own, so that its direction stays inside. */
export const name = (text, kind = "name") => h("bdi", { class: kind }, line(text));

/** A small label. */
export const chip = (text, kind = "") => h("span", { class: `chip ${kind}` }, text);

const EFFECTS = { read_only: "reads", mutating: "changes", external: "external" };
export const effect = (kind) => (kind in EFFECTS ? chip(EFFECTS[kind], `effect-${kind}`) : null);

export function duration(ms) {
  if (ms == null) return "";
  if (ms < 1) return `${ms.toFixed(2)} ms`;
  if (ms < 100) return `${ms.toFixed(1)} ms`;
  if (ms < 10_000) return `${Math.round(ms).toLocaleString("en")} ms`;
  if (ms < 120_000) return `${(ms / 1000).toFixed(1)} s`;
  if (ms < 7_200_000) return `${Math.round(ms / 60_000)} min`;
  return ms < 172_800_000 ? `${Math.round(ms / 3_600_000)} h` : `${Math.round(ms / 86_400_000)} d`;
}

export function size(bytes) {
  if (bytes == null) return "";
  if (bytes < 1024) return `${bytes} B`;
  if (bytes < 1024 * 1024) return `${(bytes / 1024).toFixed(1)} KiB`;
  return `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
}

export const count = (number, one, many = `${one}s`) => `${number.toLocaleString("en")} ${number === 1 ? one : many}`;

/** How long ago a time is. */
export const distance = (at) => span(Date.now() - at);

/** A duration in its largest unit. */
export function span(ms) {
  const seconds = Math.max(0, ms) / 1000;
  for (const [unit, length] of [["d", 86_400], ["h", 3_600], ["min", 60]]) {
    if (seconds >= length) return `${Math.floor(seconds / length)} ${unit}`;
  }
  return `${Math.floor(seconds)} s`;
}

export const moment = (at) => h("time", { "data-ago": at, datetime: new Date(at).toISOString(), title: new Date(at).toLocaleString() }, `${distance(at)} ago`);

/** How long something goes on that began at a time. */
export const since = (at) => h("span", { "data-since": at }, `${distance(at)} so far`);

/** Distances go on where nothing else changes. */
export function age() {
  for (const going of document.querySelectorAll("[data-since]")) going.textContent = `${distance(Number(going.dataset.since))} so far`;
  for (const time of document.querySelectorAll("time[data-ago]")) time.textContent = `${distance(Number(time.dataset.ago))} ago`;
}

/** Replaces what is shown, and keeps what a person has opened, and the focus. */
export function show(place, ...children) {
  const open = new Set([...place.querySelectorAll("details[open][data-key]")].map((details) => details.dataset.key));
  const focused = place.contains(document.activeElement) ? document.activeElement.dataset.key : null;
  const scrolled = new Map([...place.querySelectorAll("[data-key]")].filter((at) => at.scrollTop).map((at) => [at.dataset.key, at.scrollTop]));
  place.replaceChildren(...children.flat(Infinity).filter((child) => child != null && child !== false));
  for (const details of place.querySelectorAll("details[data-key]")) {
    if (open.has(details.dataset.key)) details.open = true;
  }
  for (const [key, top] of scrolled) {
    const scroller = place.querySelector(`[data-key="${CSS.escape(key)}"]`);
    if (scroller) scroller.scrollTop = top;
  }
  if (focused) place.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
}

/** Asks `get` for what a view shows, and builds it where that has changed since the last time. */
export function changes(get, build) {
  let last = null;
  return async () => {
    const data = await get();
    const text = JSON.stringify(data);
    if (text === last) return null;
    last = text;
    return build(data);
  };
}

/** Has the view drawn again. */
export const again = () => dispatchEvent(new Event("belljar-again"));

/** A text whose lines have numbers, so that a line that is only wrapped cannot pass for another. */
export const lines = (text, label, key) =>
  h("ol", { class: "source arguments", tabindex: "0", "aria-label": label, "data-key": `lines ${key}` }, block(text).split("\n").map((line) => h("li", {}, h("code", {}, line || " "))));

/**
 * Shows a dialog that is to be read, from its beginning. Its heading has the focus: a browser scrolls to what has it,
 * and to a button that is at the end of a long text.
 */
export function opens(dialog) {
  const heading = dialog.querySelector("h2");
  heading.tabIndex = -1;
  heading.autofocus = true;
  dialog.showModal();
  dialog.scrollTop = 0;
}

const MOMENT = 700;

/** Calls back once a person has had the end of a text before their eyes, for a moment. */
export function readTo(end, done) {
  let moment = 0;
  const watching = new IntersectionObserver((entries) => {
    clearTimeout(moment);
    if (!entries.at(-1).isIntersecting) return;
    moment = setTimeout(() => {
      watching.disconnect();
      done();
    }, MOMENT);
  });
  watching.observe(end);
}

/** An element of a drawing. What it looks like is in the style sheet: the policy forbids it here. */
export function svg(tag, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children.flat(Infinity).filter((child) => child != null));
  return element;
}

/** Terms and what they are. One without a value is left out. */
export const facts = (pairs) =>
  h("dl", { class: "facts" }, pairs.filter(([, value]) => value != null && value !== "").map(([term, value]) => h("div", {}, h("dt", {}, term), h("dd", {}, value))));

/** A button that does something; what goes wrong is told in `told`, and it cannot be pressed twice meanwhile. */
export function button(label, told, act, kind = "") {
  const pressed = async () => {
    made.disabled = true;
    told.replaceChildren();
    try {
      await act();
    } catch (error) {
      told.replaceChildren(h("p", { class: "notice" }, line(error.message)));
    }
    made.disabled = false;
  };
  const made = h("button", { type: "button", class: kind, "data-key": label, on: { click: pressed } }, label);
  return made;
}

export const compact = (number) => Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 }).format(number);

/** Where a tool is shown. */
export const toTool = (path) => `#/tool/${encodeURIComponent(path)}`;
