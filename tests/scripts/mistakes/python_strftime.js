return new Date('2026-03-04').strftime('%Y-%m-%d');
