// Which recipes in docs/recipes take longer than 45 minutes? Title and minutes, longest first.
const dir = "/world/docs/recipes";
const listing = (await fs.list_directory({ path: dir })).content;
const names = listing.split("\n").filter(l => l.startsWith("[FILE]")).map(l => l.slice(7).trim());
const recipes = await Promise.all(names.map(async n => ({ n, r: JSON.parse((await fs.read_text_file({ path: `${dir}/${n}` })).content) })));
console.log(JSON.stringify(recipes[0]));
const flat = o => Object.assign({}, ...Object.entries(o).map(([k, v]) => v && typeof v === "object" && !Array.isArray(v) ? flat(v) : { [k]: v }));
const out = recipes.map(({ n, r }) => {
  const f = flat(r);
  const title = f.title ?? f.name ?? n;
  const timeKey = Object.keys(f).find(k => /total.*(time|min)/i.test(k)) ?? Object.keys(f).find(k => /min|time|duration/i.test(k));
  return { title, minutes: Number(f[timeKey]) };
});
return out.filter(x => x.minutes > 45).sort((a, b) => b.minutes - a.minutes);
