new Date("2024-01-15").toISOString()
new Date("2024-01-15T10:20").toISOString()
new Date("2024-01-15T10:20:30.5Z").getTime()
new Date("2024-01-15T10:20:30.123456789Z").getMilliseconds()
new Date("2024-01-15 10:20:30").toISOString()
new Date("2024-01-15 10:20:30Z").toISOString()
new Date("2024-01-15 10:20:30 +0200").toISOString()
new Date("2024-01-15T10:20:30-0530").toISOString()
new Date("2024/1/5 7:08").toISOString()
new Date("1/15/24").getFullYear()
new Date("1/15/2024 3:45 PM").toISOString()
new Date("12/31/1999 12:00 AM").toISOString()
new Date("Jan 5, 2024").toISOString()
new Date("January 5 2024 14:30").toISOString()
new Date("5 Jan 2024").toISOString()
new Date("Fri, 05 Jan 2024 10:00:00 GMT").toISOString()
new Date("Fri Jan 05 2024 10:00:00 GMT+0100 (CET)").toISOString()
new Date("Fri Jan 5 10:00:00 2024 +0100").toISOString()
new Date("2024-02-30").getTime()
new Date("2024-02-30T00:00:00").getTime()
new Date("2024-13-01").getTime()
new Date("24:00").getTime()
new Date("2024-01-15T24:00:00Z").toISOString()
new Date("2024-01-15T24:00:01Z").getTime()
new Date("2024-01-15T10:60:00Z").getTime()
new Date("").getTime()
new Date("tomorrow").getTime()
new Date("2024-01-15T10:20:30+02:00").getHours()
new Date("+012024-01-15T00:00:00Z").getUTCFullYear()
new Date("-000001-01-01T00:00:00Z").getUTCFullYear()
new Date("-000000-01-01T00:00:00Z").getTime()
new Date("0099-01-01").getUTCFullYear()
new Date("15.01.2024").getTime()
new Date("01.15.2024").getTime()
new Date("20240115").getTime()
new Date("2024-W03-1").getTime()
new Date("2024-015").getTime()
new Date("Thu, 1 Feb 2024 09:08:07 EST").toISOString()
new Date("Feb 1 2024 PDT").toISOString()
new Date("2024 Feb 1").toISOString()
new Date("Sept 4, 2023").toISOString()
new Date("4 sep. 2023").toISOString()
new Date("2024-01-15T10:20:30z").toISOString()
new Date("2024-01-15t10:20:30Z").toISOString()
new Date("  2024-01-15T10:20:30Z  ").getTime()
new Date("2024-01-15T10:20:30,5Z").getTime()
new Date("1 January 2024 at 10:00").getTime()
new Date("(comment) Jan 1 2024").toISOString()
new Date("Jan 1 2024 (a (nested) one)").toISOString()
new Date("32 Jan 2024").getTime()
new Date("Jan 32 2024").getTime()
new Date(2024, 0).toISOString()
new Date(2024, 12, 1).toISOString()
new Date(2024, 1, 29, 25, 61, 61, 1001).toISOString()
new Date(99, 0).getFullYear()
new Date(100, 0).getFullYear()
new Date(-1, 0).getFullYear()
new Date(2024, 0, 1, NaN).getTime()
new Date(undefined).getTime()
new Date(null).getTime()
new Date(true).getTime()
new Date("5").toISOString()
new Date([2024, 1, 15]).getTime()
new Date({ valueOf: () => 1000 }).getTime()
new Date({ toString: () => "2024-05-05" }).toISOString()
new Date(new Date(5)).getTime()
new Date(8.64e15).toISOString()
new Date(8.64e15 + 1).getTime()
new Date(-8.64e15).toISOString()
new Date(1.9).getTime()
new Date(-1.9).getTime()
typeof Date()
Date.length + Date.UTC.length + Date.name
Date.UTC(2024)
Date.UTC(2024, 5.9)
Date.UTC()
Date.UTC(70, 0, 1)
Date.parse("2024-01-15T00:00:00.000+00:00")
isNaN(Date.parse("garbage"))
new Date(NaN).toString()
new Date(NaN).toJSON()
new Date(NaN).toDateString() + new Date(NaN).toUTCString()
(() => { try { return new Date(NaN).toISOString(); } catch (e) { return [e.name, e.message]; } })()
JSON.stringify({ a: new Date(0), b: [new Date(NaN)] })
String(new Date(0))
new Date(0).toUTCString()
new Date(0) + 0
new Date(5) - new Date(2)
`${new Date(0)}`.length
+new Date(7)
new Date(1) < new Date(2)
new Date(1) == new Date(1)
new Date(2024, 0, 31).setMonth(1)
new Date(Date.UTC(2024, 1, 29)).setUTCFullYear(2023)
new Date(0).setHours(1, 2, 3, 4)
new Date(0).setMinutes(90)
new Date(0).setSeconds(-1)
new Date(0).setMilliseconds(1e6)
new Date(0).setDate(0)
new Date(NaN).setDate(1)
new Date(NaN).setFullYear(2024)
new Date(0).setTime("12")
new Date(0).setYear(85)
new Date(Date.UTC(85, 5, 1)).getYear()
new Date("2024-03-31T12:00:00Z").getTimezoneOffset()
new Date("2024-07-01").toLocaleDateString("en-US", { year: "numeric", month: "long", day: "numeric" })
new Date("2024-07-01").toLocaleDateString("en-US", { weekday: "short" })
new Date("2024-07-01T15:04:05Z").toLocaleTimeString("en-US", { hour: "2-digit", minute: "2-digit" })
new Date("2024-07-01T15:04:05Z").toLocaleString("en-US")
new Date("2024-07-01T00:04:05Z").toLocaleTimeString("en-US", { hour12: false })
new Date("2024-07-01T15:04:05Z").toLocaleString("en-GB", { timeZone: "UTC" })
new Date("2024-07-01").toLocaleDateString("en-CA")
new Date("2024-07-01").toLocaleDateString(undefined, { month: "2-digit", day: "2-digit" })
new Intl.DateTimeFormat("en-US", { dateStyle: "medium" }).format(new Date("2024-07-01"))
new Intl.DateTimeFormat("en-US", { timeStyle: "short" }).format(new Date("2024-07-01T17:30:00Z"))
Object.prototype.toString.call(new Date(0))
new Date(0)[Symbol.toPrimitive]("default")
Date.prototype.constructor === Date
Reflect.construct(Date, [0], class extends Date {}) instanceof Date
structuredClone(new Date(5)).getTime()
Number.isNaN(new Date("2024-01-15T1:00:00Z").getTime())
new Date("Jan 1, 2024, 12:30:45 PM").toISOString()
new Date("2024-01-15 10:20 PM").toISOString()
new Date("Tue Jan 16 2024").toISOString()
new Date("2024-1-15").toISOString()
new Date("2024-01-15T10:20:30 +02:00").getTime()
new Date("12/2024").getTime()
new Date("2024,01,15").getTime()
new Date("noon").getTime()
new Date("2024-01-15T10").getTime()
new Date("10:00 2024-01-15").getTime()
new Date(" 2024-01-15").toISOString()
new Date("1e3").getTime()
new Date("12").getTime()
new Date("13").getTime()
new Date("50").getTime()
new Date("2024-01-15UTC").getTime()
new Date("2024-01-15 UTC").toISOString()
new Date("2024-01-15T10:20:30 GMT").getTime()
new Date("Mon 2024-01-15 10:20").getTime()
new Date("jan 1 70").toISOString()
new Date("January 1st, 2024").getTime()
new Date("2024-01-15T10:20:30.Z").getTime()
new Date("2024-01-15T10:20:30.1234").getTime()

// a calendar of a month
const weeks = (y, m) => { const first = new Date(Date.UTC(y, m, 1)).getUTCDay(), days = new Date(Date.UTC(y, m + 1, 0)).getUTCDate(), cells = [...Array(first).fill("  "), ...Array.from({ length: days }, (_, i) => String(i + 1).padStart(2))]; const out = []; while (cells.length) out.push(cells.splice(0, 7).join(" ")); return out; };
return [weeks(2024, 1), weeks(2023, 9)];

// business days between
const business = (a, b) => { let n = 0; for (const d = new Date(a); d < new Date(b); d.setUTCDate(d.getUTCDate() + 1)) if (d.getUTCDay() % 6) n++; return n; };
return [business("2024-01-01", "2024-02-01"), business("2024-03-09", "2024-03-11"), business("2024-03-11", "2024-03-01")];

// the last friday of each month
const last = (y, m) => { const d = new Date(Date.UTC(y, m + 1, 0)); d.setUTCDate(d.getUTCDate() - ((d.getUTCDay() + 2) % 7)); return d.toISOString().slice(0, 10); };
return Array.from({ length: 12 }, (_, m) => last(2024, m));

// relative times
const ago = (ms) => { for (const [unit, size] of [["day", 864e5], ["hour", 36e5], ["minute", 6e4], ["second", 1e3]]) { const n = Math.floor(ms / size); if (n >= 1) return `${n} ${unit}${n > 1 ? "s" : ""} ago`; } return "just now"; };
return [5, 1500, 61e3, 3.7e6, 9e7, 5e8].map(ago);

// ages on a day
const age = (born, on) => { const [a, b] = [new Date(born), new Date(on)]; return b.getUTCFullYear() - a.getUTCFullYear() - (b.getUTCMonth() < a.getUTCMonth() || (b.getUTCMonth() === a.getUTCMonth() && b.getUTCDate() < a.getUTCDate())); };
return [age("2000-02-29", "2024-02-28"), age("2000-02-29", "2024-02-29"), age("1999-12-31", "2024-01-01"), age("2024-01-01", "2023-01-01")];

// durations as ISO texts
const parse = (s) => { const m = /^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:([\d.]+)S)?)?$/.exec(s); if (!m) throw new RangeError(s); const [, d = 0, h = 0, min = 0, sec = 0] = m; return ((+d * 24 + +h) * 60 + +min) * 60 + +sec; };
const tried = ["P1D", "PT1H30M", "PT0.5S", "P2DT3S", "1h"].map((s) => { try { return parse(s); } catch (e) { return e.message; } });
return tried;

// buckets by hour
const at = ["2024-05-05T10:01:00Z", "2024-05-05T10:59:59.999Z", "2024-05-05T11:00:00Z", "2024-05-06T10:00:00+02:00", "bad"];
const buckets = {};
for (const text of at) { const d = new Date(text); const key = isNaN(d) ? "invalid" : d.toISOString().slice(0, 13); buckets[key] = (buckets[key] ?? 0) + 1; }
return buckets;

// quarters and days of the year
const day = (d) => Math.round((Date.UTC(d.getUTCFullYear(), d.getUTCMonth(), d.getUTCDate()) - Date.UTC(d.getUTCFullYear(), 0, 0)) / 864e5), quarter = (d) => `Q${Math.floor(d.getUTCMonth() / 3) + 1}`;
return ["2024-01-01", "2024-03-31", "2024-12-31", "2023-12-31", "2024-07-04"].map((s) => [day(new Date(s)), quarter(new Date(s))]);

// a subclass of Date
class Day extends Date { constructor(...a) { super(...a); this.label = "day"; } add(n) { const d = new Day(this); d.setUTCDate(d.getUTCDate() + n); return d; } toJSON() { return this.toISOString().slice(0, 10); } get [Symbol.toStringTag]() { return "Day"; } }
const d = new Day("2024-02-28");
return [d, d.add(2), d.add(-59), d instanceof Date, d.label, Object.prototype.toString.call(d), d.add(1) > d, JSON.stringify({ d })];

// overlaps of ranges
const ranges = [["2024-01-01", "2024-01-10"], ["2024-01-05", "2024-01-07"], ["2024-01-10", "2024-01-12"], ["2024-02-01", "2024-02-02"]].map((r) => r.map((s) => Date.parse(s)));
const merged = ranges.sort((a, b) => a[0] - b[0]).reduce((out, [from, to]) => { const last = out.at(-1); if (last && from <= last[1]) last[1] = Math.max(last[1], to); else out.push([from, to]); return out; }, []);
return merged.map((r) => r.map((t) => new Date(t).toISOString().slice(5, 10)));

// setters in a chain and what they return
const d = new Date(Date.UTC(2024, 0, 31, 12));
return [d.setUTCMonth(1), d.toISOString(), d.setUTCHours(24), d.toISOString(), d.setUTCMinutes(59, 59, 999), d.getTime(), d.setUTCDate(-1), d.toJSON(), d.setUTCSeconds(3600), d.toISOString(), d.setUTCMilliseconds(-1), d.toISOString()];

// every getter of one moment
const d = new Date(Date.UTC(2024, 1, 29, 23, 59, 58, 7));
return Object.getOwnPropertyNames(Date.prototype).filter((k) => /^get/.test(k)).sort().map((k) => `${k}=${d[k]()}`);

// order of the arguments' conversion
const log = []; const v = (n) => ({ valueOf() { log.push(n); return n; } });
const t = Date.UTC(v(2024), v(1), v(2)); new Date(v(2024), v(3)); new Date(0).setHours(v(1), v(2));
return [t, log];

// an uneven clock
const start = new Date("2024-03-10T00:00:00Z"), hours = Array.from({ length: 5 }, (_, i) => new Date(start.getTime() + i * 36e5 * 7));
return hours.map((h) => [h.getUTCHours(), h.getUTCDate(), h.toISOString().slice(11, 16)]);

// a cron expression's next run
const next = (from, [minute, hour]) => { const d = new Date(from); d.setUTCSeconds(0, 0); do d.setUTCMinutes(d.getUTCMinutes() + 1); while ((minute !== "*" && d.getUTCMinutes() !== minute) || (hour !== "*" && d.getUTCHours() !== hour)); return d.toISOString(); };
return [next("2024-01-01T10:15:30Z", [0, "*"]), next("2024-12-31T23:59:00Z", [30, 0]), next("2024-02-28T23:59:59Z", ["*", "*"])];
