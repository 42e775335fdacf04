// Ines has moved to Bern: correct what memory knows of where she lives, and show what it knows then.
const { entities } = await memory.open_nodes({ names: ["Ines"] });
const old = entities[0].observations.filter(o => /lives in/i.test(o));
await memory.delete_observations({ deletions: [{ entityName: "Ines", observations: old }] });
await memory.add_observations({ observations: [{ entityName: "Ines", contents: ["lives in Bern"] }] });
return (await memory.open_nodes({ names: ["Ines"] })).entities[0];
