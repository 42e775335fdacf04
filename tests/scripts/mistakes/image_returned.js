await playwright.browser_navigate({ url: 'https://tides.example/login' });
return await playwright.browser_take_screenshot({});
