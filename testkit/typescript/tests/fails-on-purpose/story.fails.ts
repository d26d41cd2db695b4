import { test } from 'mkopo-test';

test.use({ story: 'lost-answer' });

test.describe('with a start', () => {
  test.use({ start: { seed: 7 } });
  test('tells a story', async ({ mkopo }) => mkopo.story.end());
});

test.describe('without sandboxes', () => {
  test.use({ sandboxPer: 'none' });
  test('tells a story', async ({ mkopo }) => mkopo.story.end());
});
