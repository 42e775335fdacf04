const all = [];
for (;;) all.push(new Array(100000).fill(7));
