// Which of New York, Chicago and Los Angeles is warmest, and what is it like there?
const cities = ["New York", "Chicago", "Los Angeles"];
const all = await Promise.all(cities.map(async location => ({ location, ...(await everything.get_structured_content({ location })) })));
return all.sort((a, b) => b.temperature - a.temperature)[0];
