async function waitForReady(name) {
  await new Promise((resolve) => ready.push(name));
  return name;
}
const ready = [];
const names = await Promise.all(['a', 'b'].map(waitForReady));
return names;
