// Turns the contenders' answers into a table. Nothing here starts, measures or assumes anything: a
// cell that nobody answered stays empty.

export const FIRST = "belljar";

/** What a process may have beside its limit of memory before the limit counts as overrun: its own code and heap are among it. */
const FAR_OVER = 4;

/** All answers to one row by one contender, of all rounds, as a cell. */
export function cell(row, answers) {
  if (answers.length === 0) return { text: "not measured" };
  const wrong = answers.find((answer) => answer.failed);
  if (wrong) return { text: `failed: ${wrong.failed}` };
  return row.kind === "hostile" ? verdict(row, answers) : figures(row, answers);
}

/** The table's cells by row and contender, each figure with its ratio to belljar's; `about` says what a contender lacks. */
export function table(rows, names, answers, about = {}) {
  return Object.entries(rows).map(([name, row]) => {
    const cells = names.map((contender) => {
      const its = answers.filter((answer) => answer.row === name && answer.contender === contender);
      const result = { contender, ...cell(row, its) };
      // What ends the process is then a setting of the process.
      if (about[contender]?.lacks?.includes(row.needs)) result.text = `no such API; ${result.text}`;
      return result;
    });
    const first = cells.find((each) => each.contender === FIRST)?.median;
    for (const each of cells) if (first > 0 && each.median !== undefined) each.ratio = each.median / first;
    return { name, title: row.title, unit: row.unit, cells };
  });
}

/** The value below which a part of the sorted values lies, in a straight line between two of them. */
export function quantile(sorted, part) {
  const at = (sorted.length - 1) * part;
  const below = Math.floor(at);
  const above = Math.min(below + 1, sorted.length - 1);
  return sorted[below] + (sorted[above] - sorted[below]) * (at - below);
}

function figures(row, answers) {
  const all = answers.flatMap((answer) => answer.samples).sort((a, b) => a - b);
  const [median, low, high] = [0.5, 0.1, 0.9].map((part) => quantile(all, part));
  return { median, low, high, samples: all.length, text: `${number(median)} (${number(low)}–${number(high)})` };
}

/** Stopped only if it was stopped every time; otherwise the first failure says why. */
function verdict(row, answers) {
  const judged = answers.map((answer) => {
    const over = answer.outcome === "stopped" && answer.peakBytes > FAR_OVER * row.megabytes * 1e6;
    return over ? { ...answer, outcome: "stopped-far-over" } : answer;
  });
  const worst = judged.find((answer) => answer.outcome !== "stopped" && answer.outcome !== "harmless") ?? judged[0];
  const seconds = `${(worst.milliseconds / 1000).toFixed(2)} s`;
  const peak = `at most ${Math.round(worst.peakBytes / 1e6)} MB`;
  const text = {
    stopped: `yes, after ${seconds}, ${peak}`,
    "stopped-far-over": `late: after ${seconds}, ${peak}`,
    harmless: `no harm: answered after ${seconds}`,
    "took-memory": `no: 3 GB taken after ${seconds}`,
    "took-time": `no: not stopped after ${seconds}`,
    lost: `process lost after ${seconds} (${worst.how})`,
    unserviceable: `stopped after ${seconds}, but runs nothing afterwards`,
  }[worst.outcome];
  return { outcome: worst.outcome, milliseconds: worst.milliseconds, how: worst.how, text };
}

function number(value) {
  if (value >= 100) return Math.round(value).toLocaleString("en");
  return value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

/** For a terminal: a block for each row, a line for each contender. */
export function asText(result) {
  return parts(result, blocks).join("\n\n");
}

/** For a document: the same, with a line for each row and a column for each contender. */
export function asDocument(result) {
  return ["# A run of `benches/peers/measure.mjs --markdown`", ...parts(result, markdown)].join("\n\n");
}

function parts({ machine, contenders, table }, render) {
  const labels = Object.fromEntries(table[0].cells.map(({ contender }) => [contender, contenders[contender]?.name ?? contender]));
  const facts = Object.entries(machine).map(([key, value]) => `${key.replace("_", " ")} ${value}`);
  const legend = "Median (10th to 90th percentile), and times belljar's; less than 1× is faster or smaller than belljar.";
  const versions = Object.values(contenders).map(({ name, versions, fresh }) => {
    const each = Object.entries(versions).map(([what, version]) => `${what} ${version}`);
    return `- ${name} (${each.join(", ")}): a fresh one is ${fresh}`;
  });
  return [facts.join("; "), render(table, labels), legend, versions.join("\n")];
}

function blocks(lines, labels) {
  const wide = Math.max(...Object.values(labels).map((label) => label.length));
  const figures = Math.max(...lines.flatMap((line) => line.cells.map((each) => (each.ratio ? each.text.length : 0))));
  const block = ({ title, unit, cells }) => {
    const body = cells.map(({ contender, text, ratio }) => {
      const figure = ratio === undefined ? text : `${text.padStart(figures)}  ${times(ratio).padStart(7)}`;
      return `  ${labels[contender].padEnd(wide)}  ${figure}`;
    });
    return [unit ? `${title}, ${unit}` : title, ...body].join("\n");
  };
  return lines.map(block).join("\n\n");
}

function markdown(lines, labels) {
  const head = ["", ...Object.values(labels)];
  const body = lines.map(({ title, unit, cells }) => [
    unit ? `${title}, ${unit}` : title,
    ...cells.map(({ text, ratio }) => (ratio === undefined ? text : `${text} **${times(ratio)}**`)),
  ]);
  const line = (cells) => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...body.map(line)].join("\n");
}

function times(ratio) {
  return `${ratio >= 10 ? Math.round(ratio) : ratio.toFixed(ratio >= 1 ? 1 : 2)}×`;
}
