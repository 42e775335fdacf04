// Writes `table.rs` one folder up: how each locale writes dates and numbers, by the CLDR that Node
// 20 has (48, ICU 78). `TZ=UTC node guest/algorithms/src/intl/table/regenerate.mjs`
//
// The options of Intl are resolved to patterns here, once, since no data of CLDR has a pattern for
// each of their combinations. What the interpreter leaves to composition (a date, then a time, then
// a zone) is checked here, and a locale where it does not hold is an error.
import { writeFileSync } from "node:fs";
import { LOCALES } from "./locales.mjs";

if (!process.version.startsWith("v20.")) throw new Error("the tables are those of Node 20");
const interned = () => {
  const places = new Map();
  return { list: places, of: (text) => (places.has(text) || places.set(text, places.size), places.get(text)) };
};
const patterns = interned();
const names = interned();
names.of("");
const MOMENT = new Date(Date.UTC(2021, 2, 7, 9, 8, 5, 123));
const at = (field, value) => {
  const date = new Date(MOMENT);
  ({ month: () => date.setUTCMonth(value), weekday: () => date.setUTCDate(7 + value), hour: () => date.setUTCHours(value), era: () => date.setUTCFullYear(value ? 2021 : -5) })[field]();
  return date;
};
const part = (format, date, type) => format.formatToParts(date).find((part) => part.type === type)?.value ?? "";
const list = (format, field, type, count) => names.of(Array.from({ length: count }, (_, n) => part(format, at(field, n), type)).join("|"));

/** A format as a pattern: literals, and fields in braces. */
function pattern(locale, options) {
  const format = new Intl.DateTimeFormat(locale, options);
  const parts = format.formatToParts(MOMENT);
  return parts.map(({ type, value }) => token(format, type, value, options.dayPeriod)).join("");
}
function token(format, type, value, isFlexible) {
  switch (type) {
    case "literal":
      if (value.includes("{")) throw new Error(value);
      return value;
    case "year": return value === "2021" ? "{y}" : value === "21" ? "{yy}" : fail(type, value);
    case "month": return value === "3" ? "{M}" : value === "03" ? "{MM}" : `{L${list(format, "month", "month", 12)}}`;
    case "day": return value === "7" ? "{d}" : value === "07" ? "{dd}" : fail(type, value);
    case "weekday": return `{E${list(format, "weekday", "weekday", 7)}}`;
    case "era": return "{G}";
    case "hour": return value === "9" ? "{h}" : value === "09" ? "{hh}" : fail(type, value);
    case "minute": return value === "8" ? "{m}" : value === "08" ? "{mm}" : fail(type, value);
    case "second": return value === "5" ? "{s}" : value === "05" ? "{ss}" : fail(type, value);
    case "fractionalSecond": return "{f}";
    case "dayPeriod": return isFlexible ? "{B}" : `{a${list(format, "hour", "dayPeriod", 24)}}`;
    case "timeZoneName": return "{z}";
    default: fail(type, value);
  }
}
function fail(type, value) { throw new Error(`${type}: ${value}`); }


const NUMBER = [undefined, "numeric", "2-digit"];
const NAME = [undefined, "long", "short", "narrow"];
const MONTH = [...NUMBER, "long", "short", "narrow"];
const given = (object) => Object.fromEntries(Object.entries({ timeZone: "UTC", ...object }).filter(([, value]) => value !== undefined));
const dates = [];
for (const era of [undefined, "short"])
  for (const weekday of NAME) for (const year of NUMBER) for (const month of MONTH) for (const day of NUMBER) dates.push({ era, weekday, year, month, day });
const CYCLES = ["h12", "h23"];
const times = [];
for (const hourCycle of CYCLES)
  for (const timeZoneName of [undefined, "short"])
  for (const dayPeriod of [undefined, "short"])
    for (const fractionalSecondDigits of [undefined, 3])
      for (const hour of NUMBER) for (const minute of NUMBER) for (const second of NUMBER) times.push({ hourCycle, timeZoneName, dayPeriod, fractionalSecondDigits, hour, minute, second });
const hasDate = (o) => o.weekday || o.year || o.month || o.day;
const hasTime = (o) => o.hour || o.minute || o.second || o.fractionalSecondDigits || o.dayPeriod || o.timeZoneName;
const same = (left, right, what) => {
  if (left !== right) throw new Error(`${what}: ${left} is not ${right}`);
};

let zones = [...Intl.supportedValuesOf("timeZone"), "UTC"];
// What ICU calls by an older name.
zones.push("Asia/Kolkata", "Europe/Kyiv", "Asia/Ho_Chi_Minh", "Asia/Kathmandu", "Asia/Yangon", "America/Argentina/Buenos_Aires", "Asia/Dhaka", "Asia/Ulaanbaatar");
zones.push("US/Eastern", "US/Central", "US/Mountain", "US/Pacific", "US/Alaska", "US/Hawaii", "US/Arizona", "Canada/Eastern", "Canada/Pacific", "GB", "Japan", "Singapore", "Hongkong", "Israel", "Turkey", "NZ", "PRC", "ROK");
zones.push("CET", "EET", "MET", "WET", "EST", "MST", "HST", "EST5EDT", "CST6CDT", "MST7MDT", "PST8PDT", "Europe/Belfast", "Asia/Macau", "Atlantic/Faroe", "Pacific/Kanton", "America/Nuuk");
zones = [...new Set(zones)];
const summers = new Map();
const WINTER = new Date(Date.UTC(2021, 0, 15, 12));
const SUMMER = new Date(Date.UTC(2021, 6, 15, 12));
const offset = (zone, date) => {
  const text = part(new Intl.DateTimeFormat("en-US", { timeZone: zone, timeZoneName: "longOffset" }), date, "timeZoneName");
  const [, sign, hours, minutes] = /^GMT(?:([+-])(\d\d):(\d\d))?$/.exec(text);
  return sign ? (sign === "-" ? -1 : 1) * (hours * 60 + +minutes) : 0;
};
for (const zone of zones) summers.set(zone, [WINTER, SUMMER].sort((a, b) => offset(zone, a) - offset(zone, b)));
const classes = new Map();
const nameRows = new Map(zones.map((zone) => [zone, []]));

const currencies = Intl.supportedValuesOf("currency");
const symbolRows = new Map(currencies.map((code) => [code, []]));
const texts = [];

const data = LOCALES.map((locale) => {
  // (V8 ends its process over one of these in de-CH, where they are those of de-DE.)
  const P = (o) => pattern(locale === "de-CH" && o.era && o.weekday ? "de-DE" : locale, given(o));
  const I = (text) => patterns.of(text);
  const D = dates.map((o) => (hasDate(o) ? P(o) : ""));
  const T = times.map((o) => (hasTime(o) ? P(o) : ""));
  times.forEach((o, index) => {
    if (o.hourCycle === "h12" && hasTime(o)) same(P({ ...o, hourCycle: "h11" }), T[index], `another hour cycle of ${locale}`);
    if (o.dayPeriod && o.hour) for (const dayPeriod of ["long", "narrow"]) same(P({ ...o, dayPeriod }), T[index], `another width of ${locale}`);
  });
  const second = P({ second: "numeric" });
  const joints = dates.map((o, index) => {
    if (!hasDate(o)) return "";
    for (const era of o.era && o.year && (o.month || !o.day) ? ["long", "narrow"] : []) same(P({ ...o, era }), D[index], `another era of ${locale}`);
    const both = P({ ...o, second: "numeric" });
    same(`${D[index]}${both.slice(D[index].length, both.length - second.length)}${second}`, both, `a date and a time of ${locale}`);
    return both.slice(D[index].length, both.length - second.length);
  });
  dates.forEach((o, index) => {
    if (!hasDate(o) || !(o.year || o.month || o.day) || index % 5 !== 0 || (locale === "de-CH" && o.era)) return;
    for (let at = index % 11; at < times.length; at += 60)
      if (hasTime(times[at])) same(P({ ...o, ...times[at] }), `${D[index]}${joints[index]}${T[at]}`, `a date and a time of ${locale}`);
  });
  const weekdays = NAME.slice(1).flatMap((weekday) => times.map((o) => (hasTime(o) ? P({ weekday, ...o }) : "")));
  const STYLES = ["full", "long", "medium", "short"];
  const dateStyles = STYLES.map((dateStyle) => P({ dateStyle }));
  const timeStyles = CYCLES.flatMap((hourCycle) => STYLES.map((timeStyle) => P({ timeStyle, hourCycle })));
  const styledDates = CYCLES.flatMap((hourCycle, cycle) =>
    STYLES.map((dateStyle) => {
      const both = P({ dateStyle, timeStyle: "short", hourCycle });
      return both.slice(0, both.length - timeStyles[4 * cycle + 3].length);
    }),
  );
  CYCLES.forEach((hourCycle, c) => STYLES.forEach((dateStyle, d) => STYLES.forEach((timeStyle, t) => same(P({ dateStyle, timeStyle, hourCycle }), `${styledDates[4 * c + d]}${timeStyles[4 * c + t]}`, `styles of ${locale}`))));
  const eras = NAME.slice(1).map((era) => list(new Intl.DateTimeFormat(locale, given({ era, year: "numeric" })), "era", "era", 2));
  const periods = NAME.slice(1).map((dayPeriod) => list(new Intl.DateTimeFormat(locale, given({ dayPeriod, hour: "numeric", hourCycle: "h12" })), "hour", "dayPeriod", 24));
  const isTwelve = new Intl.DateTimeFormat(locale, { hour: "numeric" }).resolvedOptions().hour12;
  const usual = isTwelve ? 0 : 1;
  STYLES.forEach((dateStyle, d) => STYLES.forEach((timeStyle, t) => same(P({ dateStyle, timeStyle }), `${styledDates[4 * usual + d]}${timeStyles[4 * usual + t]}`, `usual styles of ${locale}`)));
  times.forEach((o, index) => {
    if (o.hourCycle === CYCLES[usual] && o.hour) same(P({ ...o, hourCycle: undefined }), T[index], `usual hours of ${locale}`);
  });

  // Zones: what they are called where that is not only their offset.
  const zoneName = (zone, timeZoneName, date) => part(new Intl.DateTimeFormat(locale, { timeZone: zone, timeZoneName }), date, "timeZoneName");
  const zero = zoneName("Etc/GMT", "shortOffset", WINTER);
  const [prefix] = zoneName("Etc/GMT-3", "shortOffset", WINTER).split("+3");
  const minus = zoneName("Etc/GMT+3", "shortOffset", WINTER).slice(prefix.length, -1);
  const long = zoneName("Etc/GMT-3", "longOffset", WINTER).slice(prefix.length);
  const [, hours, colon] = /^\+(0?3)(.)00$/.exec(long);
  same(hours, "03", "hours of two digits");
  const byOffset = (zone, date, isLong) => {
    const minutes = offset(zone, date);
    if (minutes === 0) return zero;
    const [h, m] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
    const two = (number) => String(number).padStart(2, "0");
    return prefix + (minutes < 0 ? minus : "+") + (isLong ? `${two(h)}${colon}${two(m)}` : m ? `${h}${colon}${two(m)}` : h);
  };
  for (const zone of zones) {
    const [standard, summer] = summers.get(zone);
    for (const [width, date] of [["short", standard], ["short", summer], ["long", standard], ["long", summer]]) {
      const name = zoneName(zone, width, date);
      nameRows.get(zone).push(name === byOffset(zone, date, width === "long") ? 0 : names.of(name));
    }
  }

  // Numbers.
  const parts = (number, o) => new Intl.NumberFormat(locale, o).formatToParts(number);
  const find = (number, o, type) => parts(number, o).find((part) => part.type === type)?.value ?? "";
  const euro = { style: "currency", currency: "EUR", currencyDisplay: "narrowSymbol" };
  const grouped = parts(123456789, {}).filter((part) => part.type === "integer").map((part) => part.value.length);
  same(grouped.at(-1), 3, "digits of the last group");
  const around = (o, sign) =>
    parts(sign === "-" ? -1 : 1, { ...o, maximumFractionDigits: 0, signDisplay: sign ? "always" : "never" })
      .map(({ type, value }) => (type === "integer" ? "{0}" : type === "currency" ? "{c}" : type === "minusSign" ? "{-}" : type === "plusSign" ? "{+}" : type === "percentSign" ? "{%}" : value))
      .join("");
  const amounts = [euro, { ...euro, currency: "USD", currencyDisplay: "code" }].flatMap((o) =>
    ["standard", "accounting"].flatMap((currencySign) => ["", "-", "+"].map((sign) => around({ ...o, currencySign }, sign))),
  );
  same(around({ style: "percent" }, "-"), `{-}${around({ style: "percent" }, "")}`, "a sign before a percentage");
  const [, range] = /^1(.*)3$/.exec(new Intl.NumberFormat(locale).formatRange(1, 3));
  const [, about] = /^(.*)1$/.exec(new Intl.NumberFormat(locale).formatRange(1, 1));
  for (const code of currencies) {
    const symbol = find(1, { style: "currency", currency: code }, "currency");
    const narrow = find(1, { style: "currency", currency: code, currencyDisplay: "narrowSymbol" }, "currency");
    symbolRows.get(code).push(symbol === code ? 0 : names.of(symbol), narrow === code ? 0 : names.of(narrow));
  }
  const text = JSON.stringify;
  const list16 = (texts) => `[${texts.map(I).join(",")}]`;
  return `    Data {
        tag: ${text(locale)},
        dates: ${list16(D)},
        joints: ${list16(joints)},
        times: ${list16(T)},
        weekday_times: ${list16(weekdays)},
        date_styles: ${list16(dateStyles)},
        time_styles: ${list16(timeStyles)},
        styled_dates: ${list16(styledDates)},
        eras: [${eras}],
        periods: [${periods}],
        is_twelve: ${isTwelve},
        offsets: Offsets { zero: ${text(zero)}, prefix: ${text(prefix)}, minus: ${text(minus)}, colon: ${text(colon)} },
        numbers: Numbers {
            decimal: ${text(find(1.5, {}, "decimal"))},
            group: ${text(find(1234567, {}, "group"))},
            money_decimal: ${text(find(1.5, euro, "decimal"))},
            money_group: ${text(find(1234567, euro, "group"))},
            minus: ${text(find(-1, {}, "minusSign"))},
            exponent: ${text(find(1e5, { notation: "scientific" }, "exponentSeparator"))},
            first_grouped: ${parts(1234, {}).some((part) => part.type === "group") ? 4 : 5},
            group_size: ${grouped.at(-2)},
            percent: ${text(around({ style: "percent" }, ""))},
            amounts: [${amounts.map(text)}],
            range: ${text(range)},
            about: ${text(about)},
        },
    },`;
});
const rows = (map) => {
  const places = new Map();
  const index = [];
  for (const [key, row] of [...map].sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (row.every((name) => name === 0)) continue;
    const text = `[${row}]`;
    if (!places.has(text)) places.set(text, places.size);
    index.push(`(${JSON.stringify(key)}, ${places.get(text)})`);
  }
  return { index, rows: [...places.keys()] };
};
const [zoneTable, currencyTable] = [rows(nameRows), rows(symbolRows)];
const array = (name, type, items, wrap = 12) => {
  const lines = [];
  for (let at = 0; at < items.length; at += wrap) lines.push(`    ${items.slice(at, at + wrap).join(", ")},`);
  return `pub static ${name}: [${type}; ${items.length}] = [\n${lines.join("\n")}\n];\n`;
};
const quoted = (interned) => [...interned.list.keys()].map((text) => JSON.stringify(text));
writeFileSync(
  new URL("../table.rs", import.meta.url),
  `// Written by table/regenerate.mjs, from CLDR 48 as Node ${process.version.slice(1)} has it (ICU ${process.versions.icu}).
// Unicode Data Files: Copyright © 1991-2025 Unicode, Inc., under the Unicode License v3
// (https://www.unicode.org/license.txt).

use super::writing::{Data, Numbers, Offsets};

pub static LOCALES: [Data; ${data.length}] = [
${data.join("\n")}
];

${array("PATTERNS", "&str", quoted(patterns), 8)}
${array("NAMES", "&str", quoted(names), 8)}
/// Each zone, and its row of names.
${array("ZONES", "(&str, u16)", zoneTable.index, 4)}
/// For each locale: standard and summer time, short; the same, long. 0 is a name by the offset.
${array("ZONE_NAMES", `[u16; ${4 * LOCALES.length}]`, zoneTable.rows, 1)}
/// Each currency, and its row of symbols.
${array("CURRENCIES", "(&str, u16)", currencyTable.index, 8)}
/// For each locale: the symbol, and the narrow one. 0 is the code.
${array("SYMBOLS", `[u16; ${2 * LOCALES.length}]`, currencyTable.rows, 1)}`,
);
console.log(patterns.list.size, names.list.size, zoneTable.index.length, zoneTable.rows.length, currencyTable.index.length, currencyTable.rows.length);
