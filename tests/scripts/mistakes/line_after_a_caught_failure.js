const x = undefined;
try {
  null.first;
} catch (error) {
  console.log(error.message);
}
console.log(x.second);
