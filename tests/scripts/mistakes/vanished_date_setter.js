const due = new Date('March 4, 20x6');
due.setHours(0, 0, 0, 0);
return [{ due, again: new Date(due) }];
