await playwright.browser_navigate({ url: 'https://tides.example/login' });
await playwright.browser_click({ target: 'e11', timeout: 5000 });
