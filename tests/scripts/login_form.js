await playwright.browser_navigate({ url: 'https://tides.example/login' });
const snapshot = await playwright.browser_snapshot({});

const refOf = (role, name) => {
  const line = snapshot.split('\n').find((l) => l.includes(`${role} "${name}"`));
  if (!line) throw new Error(`no ${role} called ${name} on the page`);
  return line.match(/\[ref=(\w+)\]/)[1];
};

await playwright.browser_type({ target: refOf('textbox', 'User name'), text: 'ada' });
await playwright.browser_type({ target: refOf('textbox', 'Password'), text: 'secret' });
const clicked = await playwright.browser_click({ element: 'Log in button', target: refOf('button', 'Log in') });
return clicked.includes("name: 'Log in'");
