const escape = (text) => text.replace(/[&<>"]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c]);
const html = (strings, ...values) => strings.reduce((out, part, i) => out + part + (i < values.length ? [].concat(values[i]).map(String).join('') : ''), '');
const { content } = await fs.read_text_file({ path: 'logs/app.log', tail: 3 });
const rows = content.trim().split('\n').map((line) => html`<li>${escape(line.slice(27))}</li>`);
return html`<ul>${rows}</ul>`;
