const limit = 10; #how many at most
return limit;
