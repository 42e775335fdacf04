console.log('plain', 1, true, null, undefined);
console.info('%s has %d items (%i%%)', 'cart', 3, 42.9);
console.warn({ nested: { list: [1, 2, { deep: { deeper: 'x' } }] }, map: new Map([['a', 1]]) });
console.error(new RangeError('only logged').message);
return 'done';
