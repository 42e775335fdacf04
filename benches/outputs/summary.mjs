// The table of a measurement.

/** Rows as a table of Markdown. context-mode reads files and databases by itself. */
export function asMarkdown(rows) {
  const count = (number) => number.toLocaleString("en-US");
  const line = ({ task, contender, standing, written, read, calls, answered }) =>
    `| ${task} | ${contender} | ${count(standing)} | ${count(written)} | ${count(read)} | ${calls || "–"} | ${answered ? "yes" : "no"} |\n`;
  const head = "| task | with | tokens standing | written | read | calls of the server | both answered |\n|---|---|---|---|---|---|---|\n";
  return head + rows.map(line).join("");
}
