const blocks = await everything.get_annotated_message({ messageType: 'error', includeImage: true });
for (const { type, annotations } of blocks) console.log(type, annotations?.priority);
return blocks.filter((block) => block.type === 'text').map((block) => block.text);
