const urls = ['https://tides.example/login', 'https://tides.example/login'];
return await Promise.all(urls.map(async (url) => {
  await playwright.browser_navigate({ url });
  return playwright.browser_evaluate({ function: '() => document.title' });
}));
