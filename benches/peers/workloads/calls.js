let sum = 0;
for (let i = 0; i < 10000; i++) sum += (await box.echo({ i })).i;
return sum;
