return (await Promise.all(Array.from({ length: 1000 }, () => box.wait({})))).length;
