// Add a table reviews (book, stars, note) to the library's database, put in three reviews, and give the average stars.
await sqlite.create_table({ query: "CREATE TABLE IF NOT EXISTS reviews (id INTEGER PRIMARY KEY, book TEXT NOT NULL, stars INTEGER, note TEXT)" });
await sqlite.write_query({ query: "INSERT INTO reviews (book, stars, note) VALUES ('Book 1', 5, 'It''s great'), ('Book 2', 3, 'ok'), ('Book 3', 4, NULL)" });
const rows = await sqlite.read_query({ query: "SELECT COUNT(*) AS n, AVG(stars) AS average FROM reviews" });
return rows[0];
