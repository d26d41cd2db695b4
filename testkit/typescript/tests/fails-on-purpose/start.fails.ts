import { test } from 'mkopo-test';

test.use({ settings: {} });
test.setTimeout(10_000);

test('starts a portal that never listens', ({ mkopo }) => {
  console.log(mkopo.name);
});
