import { expect, test } from 'mkopo-test';

test.describe('a story with a start', () => {
  test.use({ story: 'lost-answer', start: { seed: 7 } });
  test('is refused', async ({ mkopo }) => mkopo.story.end());
});

test.describe('a story without sandboxes', () => {
  test.use({ story: 'lost-answer', sandboxPer: 'none' });
  test('is refused', async ({ mkopo }) => mkopo.story.end());
});

test.describe('an unknown unit', () => {
  test.use({ sandboxPer: 'tests' as 'test' });
  test('is refused', ({ mkopo }) => expect(mkopo.name).toBe('main'));
});
