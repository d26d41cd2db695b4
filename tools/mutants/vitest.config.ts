import { join } from 'node:path';
import { screenTests } from 'mfe-kit/build/vitest';
import { defineConfig } from 'vitest/config';

/**
 * Less patient than the tests are elsewhere: what a change prevents is waited for in vain. The page `loaded` is loaded
 * before the tests: Stryker would run a change of its constants with that test alone which opens the page first.
 */
const testsOf = (name: string, include: string, loaded: string[] = []) => ({
  root: name,
  test: {
    ...screenTests,
    name,
    include: [include],
    setupFiles: [join(import.meta.dirname, 'setup.mjs'), ...loaded],
    expect: { poll: { timeout: 3_000 } },
  },
});

/** The tests of each part: those that decide what is right there. */
const PARTS: Record<string, ReturnType<typeof testsOf>> = {
  session: testsOf('mfe-kit', 'src/{api,session}/*.test.ts'),
  'sign-in': testsOf('mfe-auth', 'src/login/*.test.{ts,tsx}'),
  payouts: testsOf('mfe-loans', 'src/payout/*.test.{ts,tsx}', ['src/loan-details/LoanDetailsPage.tsx']),
};

const part = PARTS[process.env.MKOPO_MUTANTS ?? ''];
if (!part) throw new Error('MKOPO_MUTANTS names no part');

export default defineConfig({ test: { projects: [part] } });
