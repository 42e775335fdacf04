// Limits as JavaScript writes them: camelCase, and durations as milliseconds.

const DURATIONS = new Set(["timeout", "compute", "wait", "call"]);

/** `{ timeout: 500, maxCalls: 3 }` as belljar takes it: `{ timeout: "500ms", max_calls: 3 }`. */
export function limitsOf(limits = {}) {
  const entries = Object.entries(limits).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries.map(([name, value]) => {
    const key = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    return [key, DURATIONS.has(key) && typeof value === "number" ? `${Math.max(1, Math.ceil(value))}ms` : value];
  }));
}
