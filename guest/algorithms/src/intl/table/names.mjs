// Writes `names_table.rs` one folder up: what languages, regions, scripts, currencies, calendars and
// fields of a date are called in each locale, by the CLDR that Node 20 has (48, ICU 78).
// `node guest/algorithms/src/intl/table/names.mjs`
//
// Most names of a locale are those of the first one of its language, and most short names the long
// ones: such a list has only what differs.
import { writeFileSync } from "node:fs";
import { LOCALES } from "./locales.mjs";

if (!process.version.startsWith("v20.")) throw new Error("the tables are those of Node 20");
const STYLES = ["long", "short", "narrow"];
const named = (locale, type, options) => new Intl.DisplayNames(locale, { type, fallback: "none", ...options });
const nameOf = (format, code) => format.of(code) ?? "";

const letters = [..."abcdefghijklmnopqrstuvwxyz"];
const longer = (words) => words.flatMap((word) => letters.map((letter) => word + letter));
const two = longer(letters);
const three = longer(two);
const upper = (words) => words.map((word) => word.toUpperCase());
const numbers = Array.from({ length: 1000 }, (_, number) => String(number).padStart(3, "0"));
const scripts = longer(three).map((word) => word[0].toUpperCase() + word.slice(1));

/** The codes that have a name in any of the locales. */
const known = (type, codes, options) => {
  const found = new Set();
  for (const locale of LOCALES) {
    const format = named(locale, type, options);
    for (const code of codes) if (nameOf(format, code)) found.add(code);
  }
  return [...found].sort();
};
// What is another tag today has the name of that.
const canonical = (tag) => Intl.getCanonicalLocales(tag)[0];
const isOld = (code) => canonical(code) !== code;
const languages = known("language", [...two, ...three].filter((code) => !isOld(code)));
const regions = known("region", [...upper(two), ...numbers]);
const knownScripts = known("script", scripts);

/** The languages of a region or in a script that have a name of their own. */
const dialects = new Set();
for (const locale of LOCALES.filter((locale, place) => LOCALES.findIndex((other) => other.slice(0, 2) === locale.slice(0, 2)) === place)) {
  const dialect = named(locale, "language");
  const standard = named(locale, "language", { languageDisplay: "standard" });
  // All in English, which names the most, and languages of two letters elsewhere.
  for (const language of languages.filter((code) => code.length === 2 || locale.startsWith("en")))
    for (const part of [...regions, ...knownScripts]) {
      const tag = `${language}-${part}`;
      if (dialect.of(tag) !== standard.of(tag) && canonical(tag) === tag) dialects.add(tag);
    }
}

const KINDS = {
  LANGUAGES: ["language", languages],
  DIALECTS: ["language", [...dialects].sort()],
  REGIONS: ["region", regions],
  SCRIPTS: ["script", knownScripts],
  CURRENCIES: ["currency", known("currency", upper(three))],
  CALENDARS: ["calendar", known("calendar", Intl.supportedValuesOf("calendar").concat("islamicc", "ethioaa", "ethiopic-amete-alem"))],
  FIELDS: ["dateTimeField", ["era", "year", "quarter", "month", "weekOfYear", "weekday", "day", "dayPeriod", "hour", "minute", "second", "timeZoneName"].sort()],
};

/** For each locale and style the place of its list. */
function lists(type, codes) {
  const places = new Map();
  const written = [];
  const wholes = [];
  const placeOf = (names, base) => {
    const key = names.join("|");
    if (!places.has(key)) {
      if (names.some((name) => name.includes("|"))) throw new Error(`a name of ${type} has a |`);
      const differing = codes.map((_, place) => place).filter((place) => base === undefined || names[place] !== wholes[base][place]);
      const isWhole = base === undefined || differing.length * 2 > codes.length;
      wholes.push(names);
      written.push(
        isWhole
          ? `List { base: None, places: &[], names: ${JSON.stringify(key)} }`
          : `List { base: Some(${base}), places: &[${differing}], names: ${JSON.stringify(differing.map((place) => names[place]).join("|"))} }`,
      );
      places.set(key, written.length - 1);
    }
    return places.get(key);
  };
  const firsts = new Map();
  const rows = LOCALES.map((locale) => {
    const all = (style) => {
      const format = named(locale, type, { style });
      return codes.map((code) => nameOf(format, code));
    };
    const language = locale.split("-")[0];
    const long = placeOf(all("long"), firsts.get(language));
    if (!firsts.has(language)) firsts.set(language, long);
    const row = [long, ...STYLES.slice(1).map((style) => placeOf(all(style), long))];
    return `[${row}]`;
  });
  return { rows, written };
}

/** Old codes, and what they are today. Where a region was divided, that goes by the language, and the first one is taken. */
const aliases = {
  LANGUAGE_ALIASES: [...two, ...three].filter(isOld).map((code) => [code, canonical(code)]).filter(([, today]) => languages.includes(today.split("-")[0])),
  SCRIPT_ALIASES: knownScripts.concat("Qaai").map((script) => [script, canonical(`en-${script}`).slice(3)]),
  REGION_ALIASES: regions.concat(numbers).map((region) => [region, canonical(`en-${region}`).slice(3)]),
};
const aliasTables = Object.entries(aliases).map(([name, pairs]) => {
  const differing = [...new Map(pairs.filter(([code, today]) => code !== today && today !== ""))].sort(([a], [b]) => (a < b ? -1 : 1));
  return `pub static ${name}: [(&str, &str); ${differing.length}] = [\n${differing.map((pair) => `    (${pair.map((code) => JSON.stringify(code)).join(", ")}),\n`).join("")}];\n`;
});

/** What stands between a script and a region behind a language. */
const commas = LOCALES.map((locale) => {
  const [script, region] = [named(locale, "script").of("Latn"), named(locale, "region", { style: "short" }).of("NZ")];
  const text = named(locale, "language", { languageDisplay: "standard", fallback: "code" }).of("xx-Latn-NZ");
  const comma = text.slice(`xx (${script}`.length, text.length - `${region})`.length);
  if (text !== `xx (${script}${comma}${region})`) throw new Error(`${locale} writes ${text}`);
  return JSON.stringify(comma);
});

const wrapped = (items, wrap) => {
  const lines = [];
  for (let at = 0; at < items.length; at += wrap) lines.push(`        ${items.slice(at, at + wrap).join(", ")},`);
  return lines.join("\n");
};
const kinds = Object.entries(KINDS).map(([name, [type, codes]]) => {
  const { rows, written } = lists(type, codes);
  return `pub static ${name}: Names = Names {
    codes: &[
${wrapped(codes.map((code) => JSON.stringify(code)), 16)}
    ],
    of_locales: &[
${wrapped(rows, 8)}
    ],
    lists: &[
${wrapped(written, 1)}
    ],
};
`;
});
const text = `// Written by table/names.mjs, from CLDR 48 as Node ${process.version.slice(1)} has it (ICU ${process.versions.icu}).
// Unicode Data Files: Copyright © 1991-2025 Unicode, Inc., under the Unicode License v3
// (https://www.unicode.org/license.txt).

use super::names::{List, Names};

${kinds.join("\n")}
${aliasTables.join("\n")}
/// For each locale: what stands between a script and a region.
pub static COMMAS: [&str; ${LOCALES.length}] = [${commas.join(", ")}];
`;
writeFileSync(new URL("../names_table.rs", import.meta.url), text);
console.log(Object.entries(KINDS).map(([name, [, codes]]) => `${name} ${codes.length}`).join(", "), Buffer.byteLength(text));
