let page = 1;
while (true) {
  page += 1;
}
