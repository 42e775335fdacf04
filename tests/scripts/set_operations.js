const users = JSON.parse((await fs.read_text_file({ path: 'data/users.json' })).content).users;
const orders = JSON.parse((await fs.read_text_file({ path: 'data/orders.json' })).content);
const known = new Set(users.filter((user) => user.active).map((user) => user.login));
const buyers = new Set(orders.map((order) => order.customer));
return {
  both: known.intersection(buyers),
  neverBought: [...known].filter((login) => !buyers.has(login)),
  inactiveBuyers: [...buyers].filter((login) => !known.has(login)),
};
