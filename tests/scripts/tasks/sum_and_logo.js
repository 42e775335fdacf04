// Add 17 and 25 with the tool for sums, and show the tiny logo beside the answer.
const sum = await everything.get_sum({ a: 17, b: 25 });
const image = await everything.get_tiny_image({});
return { sum, image };
