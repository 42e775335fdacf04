// A call is at 15:30 in Berlin. What is the local time in Tokyo, New York, Sydney and São Paulo? In the order of their clocks.
const zones = ["Asia/Tokyo", "America/New_York", "Australia/Sydney", "America/Sao_Paulo"];
const results = await Promise.all(zones.map(z => time.convert_time({ source_timezone: "Europe/Berlin", time: "15:30", target_timezone: z })));
return results.map((r, i) => ({ zone: zones[i], local: r.target.datetime, difference: r.time_difference }))
  .sort((a, b) => a.local.localeCompare(b.local));
