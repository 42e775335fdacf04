// Walk the pages until the last one.
const stations = [];
let page = 1, pages = Infinity;
while (page <= pages) {
  const text = await playwright.browser_navigate({ url: `https://tides.example/stations?page=${page}` });
  const [, current, total] = /Stations (\d+) of (\d+)/.exec(text);
  pages = Number(total);
  const snapshot = await playwright.browser_snapshot({});
  for (const [, ref, name] of snapshot.matchAll(/listitem \[ref=(\w+)\]: (.+)/g)) stations.push({ page: +current, ref, name });
  page++;
}
return { pages, stations: stations.length, first: stations[0], last: stations.at(-1) };
