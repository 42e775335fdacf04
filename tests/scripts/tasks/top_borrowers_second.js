// The second try of top_borrowers: what the tables are called is known now.
const rows = await sqlite.read_query({ query: `select p.full_name as reader, count(*) as loans,
  sum(l.back_on is null and l.due < '2026-11-23') as overdue
  from loans l join patrons p on p.id = l.borrower where l.lent_on between '2026-01-01' and '2026-12-31'
  group by p.id order by loans desc, reader limit 5` });
return rows;
