const response = await memory.read_graph({});
const data = await response.json();
return data.entities;
