let count = 0;
while (true) {
  await everything.echo({ message: `call ${count++}` });
}
