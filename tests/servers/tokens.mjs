// Counts tokens (o200k): a JSON array of texts on stdin, an array of numbers on stdout.
import { readFileSync, writeSync } from "node:fs";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";

// Text in a tool's description that looks like a special token is text like any other.
const count = (text) => countTokens(text, { disallowedSpecial: new Set() });
writeSync(1, JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map(count)));
