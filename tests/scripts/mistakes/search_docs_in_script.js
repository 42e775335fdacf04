return await search_docs({ query: 'read a file' });
