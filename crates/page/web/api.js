// Requests to belljar, and what it tells meanwhile. The token is in this tab's sessionStorage alone. Addresses are
// relative: the page is at the root of a port of its own, or below /ui of another server.

const KEPT = "belljar";
const PATIENCE = 20_000;
/** For what a tool, a server's start or a replay may take. */
export const LONG = 600_000;
let secrets = JSON.parse(sessionStorage.getItem(KEPT) ?? "null");

/** What went wrong with a request. `status` is 401 where the page is not open any more, and `login` whether a token opens it. */
export class Refused extends Error {
  constructor(status, message, login = false) {
    super(message);
    this.status = status;
    this.login = login;
  }
}

let [leaving, listening] = [new AbortController(), new AbortController()];

/** Gives up what the view that is left asked for: a server may start slowly. */
export function leave() {
  leaving.abort();
  leaving = new AbortController();
}

const keep = (opened) => {
  secrets = opened;
  sessionStorage.setItem(KEPT, JSON.stringify(secrets));
};

/** Exchanges the ticket in the address for a token, and takes it out of the address. */
export async function open() {
  const ticket = location.hash.slice(1);
  if (/^[0-9a-f]{64}$/.test(ticket)) {
    history.replaceState(null, "", "#/runs");
    const answer = await fetch("session", { method: "POST", body: JSON.stringify({ ticket }) });
    if (!answer.ok) throw new Refused(401, (await answer.json()).error);
    keep(await answer.json());
  }
  if (!secrets) await get("api/waiting");
}

/** Whether the page was opened with a token that somebody typed. */
export const isSignedIn = () => secrets?.typed === true;

/** Closes the page at the server, and forgets its secrets. */
export async function logout() {
  // Where it is closed already, there is nothing left to close.
  await post("session/end").catch((error) => {
    if (error.status !== 401) throw error;
  });
  secrets = null;
  sessionStorage.removeItem(KEPT);
  listening.abort();
  listening = new AbortController();
}

/** Opens the page with a token of the server that it is on. */
export async function login(token) {
  const answer = await fetch("session", { method: "POST", headers: { authorization: `Bearer ${token}` } });
  const told = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Refused(answer.status, told.error ?? `belljar answered with ${answer.status}`);
  keep({ ...told, typed: true });
}

async function request(path, { patience = PATIENCE, ...options } = {}) {
  const headers = { authorization: `Bearer ${secrets?.token}`, ...options.headers };
  let answer;
  try {
    answer = await fetch(path, { signal: AbortSignal.timeout(patience), ...options, headers });
  } catch {
    throw new Refused(0, "belljar does not answer: its daemon has ended, or is busy");
  }
  if (answer.ok) return answer;
  const { error, login } = await answer.json().catch(() => ({ error: `belljar answered with ${answer.status}` }));
  throw new Refused(answer.status, error, login);
}

export const get = async (path, patience = PATIENCE) => (await request(path, { signal: AbortSignal.any([AbortSignal.timeout(patience), leaving.signal]) })).json();

/** Has the browser keep what a path gives in a file. */
export async function save(path, name) {
  const blob = await (await request(path, { patience: LONG })).blob();
  const address = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), PATIENCE);
}

/** A change, which takes the second secret. */
export async function post(path, body = {}, patience) {
  return (await request(path, { method: "POST", body: JSON.stringify(body), headers: { "x-belljar-change": secrets.change }, patience })).json();
}

/** Completes when the tab is seen. */
const seen = () => document.hidden && new Promise((resolve) => document.addEventListener("visibilitychange", resolve, { once: true }));

/**
 * Calls back with what happens, and with whether belljar is there, for as long as the page is open. A tab that nobody sees
 * does not listen: a browser has six connections to a server, for all of its tabs.
 */
export async function listen(heard, isThere) {
  for (let wait = 500; ; wait = Math.min(wait * 2, 8000)) {
    await seen();
    const hiding = new AbortController();
    document.addEventListener("visibilitychange", () => hiding.abort(), { once: true });
    try {
      const answer = await request("api/events", { signal: AbortSignal.any([hiding.signal, listening.signal]) });
      wait = 500;
      isThere(true);
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      for (let rest = "", more; (more = await reader.read()), !more.done; ) {
        const messages = (rest + more.value).split("\n\n");
        rest = messages.pop();
        for (const message of messages) heard(JSON.parse(message.slice("data: ".length)));
      }
    } catch (error) {
      if (!secrets) return;
      if (error.status === 401) return isThere(false, error);
    }
    isThere(false);
    await new Promise((resolve) => setTimeout(resolve, wait));
  }
}
