const user = { login: 'ada', email: undefined, pattern: /a+/g, words: 'a b'.matchAll(/\w/g), format: (x) => x };
return [user, undefined];
