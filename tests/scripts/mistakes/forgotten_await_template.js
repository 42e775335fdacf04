const sum = everything.get_sum({ a: 1, b: 2 });
return `the sum is ${sum}`;
