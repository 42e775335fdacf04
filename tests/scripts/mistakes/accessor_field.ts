class Counter {
  accessor count: number = 0;
}
const counter = new Counter();
counter.count += 1;
return counter.count;
