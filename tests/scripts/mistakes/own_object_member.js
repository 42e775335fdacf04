const page = { lines: ['a', 'b'], next: null };
return page.items.map((line) => line.length);
