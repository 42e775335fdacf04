const shot = await playwright.browser_take_screenshot({});
console.log(shot);
const image = shot.find((block) => block.type === 'image');
return { taken: true, image };
