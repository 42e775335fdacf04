// Limits as written in JavaScript: names in camelCase, and durations in milliseconds.

const DURATIONS = new Set(["timeout", "compute", "wait", "call"]);

/** `{ timeout: 500, maxCalls: 3 }` as belljar takes it: `{ timeout: "500ms", max_calls: 3 }`. */
export function limitsOf(limits) {
  const entries = Object.entries(limits ?? {}).filter(([, value]) => value !== undefined && value !== null);
  return Object.fromEntries(entries.map(([name, value]) => {
    const key = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    if (typeof value !== "number") return [key, value];
    if (!(value >= 0 && value < Infinity)) throw new TypeError(`the limit ${name} is ${value}, but must be a finite number that is not negative`);
    return [key, DURATIONS.has(key) ? `${Math.max(1, Math.ceil(value))}ms` : value];
  }));
}

/** Default limits, lowered to what a run may have. Both are in belljar's form. */
export function atMost(limits, ceiling = {}) {
  return Object.fromEntries(Object.entries(limits).map(([name, value]) => {
    const most = ceiling[name];
    return [name, most === undefined || amount(value) <= amount(most) ? value : most];
  }));
}

const UNITS = {
  ns: 1e-6, us: 1e-3, ms: 1, s: 1e3, m: 6e4, h: 36e5, d: 864e5, day: 864e5, days: 864e5,
  B: 1, KB: 1e3, MB: 1e6, GB: 1e9, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3,
};

/** "1m 30s" in milliseconds, "64MiB" in bytes; numbers are left as they are. */
function amount(value) {
  if (typeof value === "number") return value;
  const parts = [...String(value).matchAll(/([\d.]+)\s*([A-Za-z]*)/g)];
  return parts.reduce((sum, [, count, unit]) => sum + Number(count) * (UNITS[unit] ?? 1), 0);
}
