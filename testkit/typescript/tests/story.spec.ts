import { join } from 'node:path';
import { expect, test } from 'mkopo-test';

test.describe('a story of the product', () => {
  test.use({ story: 'lost-answer' });

  test('is told to its end', async ({ mkopo }) => {
    const agent = await mkopo.sessions.open('agent');
    const amina = (await agent.pendingLoans()).find(({ loan_id }) => loan_id === 'LN-AMINA')!;
    expect((await agent.payOut(amina)).status).toBe('PENDING');
    expect((await mkopo.story.next()).act).toBeNull();
    expect((await mkopo.story.next()).act).toBe('Set the clock.');
    expect((await agent.history()).find(({ loan_id }) => loan_id === 'LN-AMINA')?.status).toBe('COMPLETED');
    await mkopo.story.end();
    expect((await mkopo.story.steps()).map(({ state }) => state)).toEqual(['done', 'done', 'done']);
    await expect(mkopo.story.next()).rejects.toThrow('All steps of lost-answer are done');
    await expect(mkopo.reset()).rejects.toThrow(/A reset ends the story/);
  });

  test('does not go on while something else is found', async ({ mkopo }) => {
    await expect(mkopo.story.next({ wait: '1s' })).rejects.toThrow(
      /^Step 1 of lost-answer was not done within 1s: Pay the loan of Amina out\. .*\nExpected: The latest record of loan LN-AMINA is PENDING\.\nFound: Loan LN-AMINA has no record\.$/,
    );
    expect((await mkopo.story.steps())[0]?.state).toBe('next');
  });
});

test.describe('a story of a folder', () => {
  const folder = join(import.meta.dirname, '../../stories');
  test.use({ story: 'grace', settings: { MKOPO_STORIES: folder } });

  test('is told in a portal with settings', async ({ mkopo }) => {
    const grace = await mkopo.sessions.open('grace@example.com');
    await mkopo.story.end();
    expect((await grace.pendingLoans()).map(({ loan_id }) => loan_id)).toEqual(['LN-GRACE']);
  });
});
