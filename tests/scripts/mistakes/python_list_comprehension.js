const numbers = [1, 2, 3];
return [n * 2 for n in numbers];
