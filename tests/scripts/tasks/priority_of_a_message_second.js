// The second try of priority_of_a_message: a text alone has no annotations.
const raw = await tools.raw("everything.get_annotated_message", { messageType: "error" });
return raw.content.map(b => ({ text: b.text, ...b.annotations }));
