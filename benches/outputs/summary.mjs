// The table of a measurement.

/** Rows as a table of Markdown. context-mode reads by itself, and asks no server. */
export function asMarkdown(rows) {
  const count = (number) => number.toLocaleString("en-US");
  const line = ({ task, contender, definitions, written, read, asked, answered }) =>
    `| ${task} | ${contender} | ${count(definitions)} | ${count(written)} | ${count(read)} | ${asked || "–"} | ${answered ? "yes" : "no"} |\n`;
  const head = "| task | with | tokens of definitions | written | read | calls of the server | both answered |\n|---|---|---|---|---|---|---|\n";
  return head + rows.map(line).join("");
}
