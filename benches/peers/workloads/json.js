const data = Array.from({ length: 50000 }, (_, i) => ({ id: i, name: "n" + i }));
const back = JSON.parse(JSON.stringify(data));
return back.length + back[49999].name.length;
