// Requests to belljar, and what it tells meanwhile. The token is in this tab's sessionStorage alone.

const KEPT = "belljar";
const PATIENCE = 20_000;
let secrets = JSON.parse(sessionStorage.getItem(KEPT) ?? "null");

/** What went wrong with a request. `status` is 401 where the page is not open any more. */
export class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/** Exchanges the ticket in the address for a token, and takes it out of the address. */
export async function open() {
  const ticket = location.hash.slice(1);
  if (/^[0-9a-f]{64}$/.test(ticket)) {
    history.replaceState(null, "", "#/runs");
    const answer = await fetch("/session", { method: "POST", body: JSON.stringify({ ticket }) });
    if (!answer.ok) throw new Refused(401, (await answer.json()).error);
    secrets = await answer.json();
    sessionStorage.setItem(KEPT, JSON.stringify(secrets));
  }
  if (!secrets) throw new Refused(401, "the page is opened with 'belljar ui'");
}

async function request(path, options = {}) {
  const headers = { authorization: `Bearer ${secrets?.token}`, ...options.headers };
  let answer;
  try {
    answer = await fetch(path, { signal: AbortSignal.timeout(PATIENCE), ...options, headers });
  } catch {
    throw new Refused(0, "belljar does not answer: its daemon has ended, or is busy");
  }
  if (answer.ok) return answer;
  const { error } = await answer.json().catch(() => ({ error: `belljar answered with ${answer.status}` }));
  throw new Refused(answer.status, error);
}

export const get = async (path) => (await request(path)).json();

/** A change, which takes the second secret. */
export async function post(path, body = {}) {
  return (await request(path, { method: "POST", body: JSON.stringify(body), headers: { "x-belljar-change": secrets.change } })).json();
}

/** Completes when the tab is seen. */
const seen = () => document.hidden && new Promise((resolve) => document.addEventListener("visibilitychange", resolve, { once: true }));

/**
 * Calls back with what happens, and with whether belljar is there, for as long as the tab lives. A tab that nobody sees
 * does not listen: a browser has six connections to a server, for all of its tabs.
 */
export async function listen(heard, isThere) {
  for (let wait = 500; ; wait = Math.min(wait * 2, 8000)) {
    await seen();
    const hiding = new AbortController();
    document.addEventListener("visibilitychange", () => hiding.abort(), { once: true });
    try {
      const answer = await request("/api/events", { signal: hiding.signal });
      wait = 500;
      isThere(true);
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      for (let rest = "", more; (more = await reader.read()), !more.done; ) {
        const messages = (rest + more.value).split("\n\n");
        rest = messages.pop();
        for (const message of messages) heard(JSON.parse(message.slice("data: ".length)));
      }
    } catch (error) {
      if (error.status === 401) return isThere(false, error);
    }
    isThere(false);
    await new Promise((resolve) => setTimeout(resolve, wait));
  }
}
