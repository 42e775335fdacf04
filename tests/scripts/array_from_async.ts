async function* names(): AsyncGenerator<string> {
  for (const name of ['b', 'a']) yield name;
}
return {
  collected: await Array.fromAsync(names()),
  mapped: await Array.fromAsync([1, Promise.resolve(2)], async (n) => n * 10),
  arrayLike: await Array.fromAsync({ length: 2, 0: Promise.resolve('x'), 1: 'y' }),
  refused: await Array.fromAsync([1], 'no function' as any).catch((error) => error.name),
};
