// Timers fire in order, and what is cleared never does.
const seen = [];
const late = setTimeout(() => seen.push('never'), 30);
setTimeout(() => seen.push('b'), 10);
setTimeout(() => seen.push('a'), 1);
let ticks = 0;
await new Promise((resolve) => {
  const interval = setInterval(() => {
    if (++ticks === 3) {
      clearInterval(interval);
      resolve();
    }
  }, 5);
});
clearTimeout(late);
await new Promise((resolve) => setTimeout(resolve, 20));
return { seen, ticks };
