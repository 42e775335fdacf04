const commits = [{ id: 1, date: '2026-03-04' }];
return commits.map((commit) => commit.date.getFullYear());
