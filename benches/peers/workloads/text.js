const made = [];
for (let i = 0; i < 20000; i++) {
  made.push("2026-01-01 line " + i + " user" + (i % 97) + " took " + (i % 1000) + " ms and more");
}
const text = made.join("\n");
const counts = new Map();
for (const word of text.split(/\s+/)) counts.set(word, (counts.get(word) ?? 0) + 1);
const lines = text.match(/line \d+/g).length;
const replaced = text.replace(/user\d+/g, (name) => name.toUpperCase()).length;
let slow = 0;
const pattern = /took (\d+) ms/;
for (const line of text.split("\n")) {
  const found = pattern.exec(line);
  if (found && Number(found[1]) > 900) slow++;
}
return counts.size + lines + replaced + slow;
