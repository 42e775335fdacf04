const path = require('path');
const { content } = await fs.read_text_file({ path: path.join('notes', 'ideas.txt') });
return content;
