const result = await playwright.browser_evaluate({
  function: `() => [...document.querySelectorAll('tr')].map(row => ({ name: row.cells[0].innerText, height: Number(row.cells[1].innerText) }))`,
});
const data = JSON.parse(result.replace('### Result', ''));
const highest = data.reduce((a, b) => (b.height > a.height ? b : a));
const average = data.reduce((sum, { height }) => sum + height, 0) / data.length;
return { highest: highest.name, average: average.toFixed(2), sorted: data.toSorted((a, b) => a.height - b.height).map((d) => d.name) };
