const text = '{"rows": [{"id": 9007199254740993, "n": 1}, {"id": 9007199254740995, "n": 2}]}';
const { rows } = JSON.parse(text);
const again = JSON.parse(text);
return { ids: rows.map((row) => row.id), same: again.rows.length };
