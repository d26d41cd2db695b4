import { expect, test } from 'mkopo-test';

test.describe('a sandbox of its own', () => {
  test.use({ sandboxPer: 'test' });

  test('more than sandboxes: the first test fails', ({ mkopo }) => expect(mkopo.name).toBe('another'));
});

test('more than sandboxes: the second test fails', ({ mkopo }) => expect(mkopo.name).toBe('another'));

test('more than sandboxes: the last test passes', ({ mkopo }) => expect(mkopo.name).not.toBe('main'));
