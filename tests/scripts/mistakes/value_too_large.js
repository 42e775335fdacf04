const line = 'x'.repeat(1000);
return Array.from({ length: 1000 }, () => line);
