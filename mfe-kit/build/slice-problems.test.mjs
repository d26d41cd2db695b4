import { lazy } from 'react';
import { expect, test } from 'vitest';
import { problemsOf } from './slice-problems.mjs';

const PACKAGE = { name: 'mfe-repayments', version: '0.1.0' };
const OWNED = [{ path: '/pending-loans', slice: 'mfe-loans' }];
const Component = lazy(() => Promise.resolve({ default: () => null }));
const problemsWith = (given) => problemsOf({ ...PACKAGE, routes: [], ...given }, PACKAGE, OWNED);

test('a slice with a lazy screen at a path of its own has no problem', () => {
  expect(problemsWith({ routes: [{ path: '/repayments', Component }] })).toEqual([]);
});

test('what is wrong is said before anything is built', () => {
  expect(problemsWith({ name: 'mfe-other', version: '1.0.0' })).toEqual([
    "Its name is 'mfe-other', and its package's is 'mfe-repayments'.",
    "Its version is '1.0.0', and its package's is '0.1.0'.",
    'It has no routes.',
  ]);
  expect(
    problemsWith({
      routes: [
        { path: 'repayments', Component },
        { path: '/pending-loans', Component },
        { path: '/settings', Component },
        { path: '/repayments', Component: () => null },
      ],
    }),
  ).toEqual([
    "The path 'repayments' is not absolute: it has to start with '/'.",
    "The path '/pending-loans' belongs to mfe-loans.",
    "The path '/settings' belongs to the shell.",
    "The screen at '/repayments' is not lazy: use React.lazy, or the route's lazy.",
  ]);
});
