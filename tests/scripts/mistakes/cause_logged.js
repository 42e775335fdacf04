try {
  JSON.parse('{ "a": 1, }');
} catch (error) {
  console.error(new Error('cannot load the configuration', { cause: error }));
}
return 'defaults';
