// Joins a CSV file and a JSON file from one server, and stores what comes out in another:
//
//   npm ci --prefix tests/servers
//   belljar run examples/join-files.ts --config examples/join-files.toml
//
// The model reads neither file, only what the script returns. A second run finds everything stored and adds nothing.

type Person = { name: string; role: string; team: string };
type Team = { id: string; title: string; office: string };

// The file server says which directory it was given, so that no path stands in this script.
const [, directory] = text(await fs.list_allowed_directories()).split("\n");
const [csv, json] = await Promise.all(
  ["people.csv", "teams.json"].map(async (file) => text(await fs.read_text_file({ path: `${directory}/${file}` }))),
);

// A plain CSV file, without quoted fields.
const [header, ...rows] = csv.trim().split("\n").map((line) => line.trim().split(","));
const people = rows.map((row) => Object.fromEntries(header.map((column, index) => [column, row[index]])) as Person);
const teams = new Map((JSON.parse(json) as Team[]).map((team) => [team.id, team]));

const members = people.filter(({ team }) => teams.has(team));
const withoutTeam = people.filter(({ team }) => !teams.has(team)).map(({ name }) => name);
if (withoutTeam.length > 0) console.warn(`left out, for their team is unknown: ${withoutTeam.join(", ")}`);

const entities = [
  ...[...teams.values()].map(({ title, office }) => ({
    name: title,
    entityType: "team",
    observations: [`office: ${office}`],
  })),
  ...members.map(({ name, role }) => ({ name, entityType: "person", observations: [`role: ${role}`] })),
];
const relations = members.map(({ name, team }) => ({
  from: name,
  to: teams.get(team)!.title,
  relationType: "works_in",
}));

// One after the other: this server reads its file, changes it and writes it back without a lock.
const stored = await memory.create_entities({ entities });
const linked = await memory.create_relations({ relations });
const graph = await memory.read_graph({});

return {
  read: { people: people.length, teams: teams.size },
  added: { entities: stored.entities.length, relations: linked.relations.length },
  withoutTeam,
  graph,
};

// The text of a file server's answer. Its newer versions answer {content: "…"}; of older ones there is the text alone, which
// arrives parsed where it is JSON.
function text(answer: unknown): string {
  if (typeof answer === "string") return answer;
  const { content } = answer as { content?: unknown };
  return typeof content === "string" ? content : JSON.stringify(answer);
}
