import { lazy } from 'react';
import { expect, test } from 'vitest';
import { problemsOf } from './slice-problems.mjs';

const PORTAL = {
  shell: { kit: '0.2.0', screens: [{ path: '/settings' }], icons: ['money'] },
  others: { 'mfe-loans': [{ path: '/pending-loans' }, { path: '/loans/:id' }] },
};
const Component = lazy(() => Promise.resolve({ default: () => null }));
const ROUTES = [{ path: '/repayments', Component }];

function problemsWith(given, brings = { screens: [{ path: '/repayments' }] }) {
  const slicePackage = { name: 'mfe-repayments', version: '0.1.0', slice: brings };
  return problemsOf({ name: 'mfe-repayments', version: '0.1.0', ...given }, slicePackage, PORTAL);
}

test('a slice with a lazy screen at a path of its own has no problem', () => {
  expect(problemsWith({ routes: ROUTES })).toEqual([]);
});

test('what is wrong is said before anything is built', () => {
  expect(problemsWith({ name: 'mfe-other', version: '1.0.0' })).toEqual([
    "Its name is 'mfe-other', and its package's is 'mfe-repayments'.",
    "Its version is '1.0.0', and its package's is '0.1.0'.",
    'It has no routes.',
    "The screen '/repayments' of its package.json has no route.",
  ]);
  const routes = [
    { path: 'repayments', Component },
    { path: '/plans', Component },
    { path: '/repayments', Component: () => null },
  ];
  expect(problemsWith({ routes })).toEqual([
    "The path 'repayments' is not absolute: it has to start with '/'.",
    "The path '/plans' is not in slice.screens of its package.json.",
    "The screen at '/repayments' is not lazy: use React.lazy, or the route's lazy.",
  ]);
});

test('a screen can name only calls of the portal as its first ones', () => {
  const reads = ['/api/v1/disbursement-records', 'https://elsewhere.example/api/v1/x'];
  expect(problemsWith({ routes: ROUTES }, { screens: [{ path: '/repayments', reads }] })).toEqual([
    "The screen '/repayments' reads 'https://elsewhere.example/api/v1/x', which is no call of the portal's API.",
  ]);
});

test('what the portal would refuse is said in its words', () => {
  const paths = ['/pending-loans', '/settings', '/Loans/:loan'];
  const routes = paths.map((path) => ({ path, Component }));
  const menu = [{ label: 'Repayments', to: '/repayments', icon: 'unicorn' }];
  expect(problemsWith({ routes }, { screens: routes, menu })).toEqual([
    'mfe-repayments wants the path /pending-loans, which mfe-loans has.',
    'mfe-repayments wants the path /settings, which mfe-shell has.',
    'mfe-repayments wants the path /Loans/:loan, which mfe-loans has.',
    'Its menu entry "Repayments" leads to "/repayments", which is no screen of it.',
    'Its menu entry "Repayments" has the icon "unicorn", which mfe-kit 0.2.0 does not have.',
  ]);
});
