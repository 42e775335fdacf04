const shot = await playwright.browser_take_screenshot({});
const image = shot.find((block) => block.type === 'image');
const bytes = atob(image.data);
return { blocks: shot.map((block) => block.type), mimeType: image.mimeType, isPng: bytes.slice(1, 4) === 'PNG', size: bytes.length };
