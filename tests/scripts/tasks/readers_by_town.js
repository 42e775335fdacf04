// In the library's database: how many loans there are in each town; where the column is called otherwise, say so.
let error = null;
try {
  await sqlite.read_query({ query: "SELECT town, count(*) AS n FROM loans GROUP BY town" });
} catch (fault) {
  error = fault.message;
}
const loans = await sqlite.read_query({ query: "SELECT count(*) AS n FROM loans" });
return { error, loans: loans[0].n };
