async function* pages(base: string): AsyncGenerator<{ number: number; title: string }> {
  for (let number = 1; ; number++) {
    let text: string;
    try {
      text = await playwright.browser_navigate({ url: `${base}?page=${number}` });
    } catch (error) {
      console.log(`no page ${number}: ${(error as Error).message.split('::')[1]}`);
      return;
    }
    yield { number, title: text.match(/Page Title: (.*)/)![1] };
  }
}

const titles: string[] = [];
for await (const { number, title } of pages('https://tides.example/stations')) titles.push(`${number}. ${title}`);
return titles;
