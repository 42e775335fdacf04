// Which priority and audience does the annotated message of type error have?
const message = await everything.get_annotated_message({ messageType: "error" });
const blocks = Array.isArray(message) ? message : message?.content ?? message;
return Array.isArray(blocks) ? blocks.map(b => ({ text: b.text, ...b.annotations })) : blocks;
