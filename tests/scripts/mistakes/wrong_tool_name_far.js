const pages = await playwright.open_page({ url: 'https://tides.example/login' });
return pages;
