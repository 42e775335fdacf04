const done = new Promise((resolve) => {
  console.log('working');
});
console.log('waiting');
await done;
return 'done';
