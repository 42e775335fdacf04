const raw = await tools.raw('everything.echo', { message: 'whole result' });
return { keys: Object.keys(raw), text: raw.content[0].text, isError: raw.isError ?? false };
