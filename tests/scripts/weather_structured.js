const cities = ['New York', 'Chicago', 'Los Angeles'];
const weather = await Promise.all(cities.map(async (location) => ({ location, ...(await everything.get_structured_content({ location })) })));
const warmest = weather.sort((a, b) => b.temperature - a.temperature)[0];
return { warmest: warmest.location, keys: Object.keys(warmest).sort() };
