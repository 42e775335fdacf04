const all = [];
for (;;) all.push(new Uint8Array(1000000).fill(1));
