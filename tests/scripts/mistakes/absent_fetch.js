const response = await fetch('https://tides.example/api/stations');
const stations = await response.json();
return stations.length;
