memory.cache = {};
return memory.cache;
