import { act } from '@testing-library/react';
import { connection } from 'mfe-kit';
import { answer, provider, screen, unreachable, waitFor, within } from 'mfe-kit/testing';
import { http, HttpResponse } from 'msw';
import { beforeEach, expect, test, vi } from 'vitest';
import { build, goLive, heading, open, PORTAL, SHELL, slice, storeUser } from '../testing/portal';
import { setBrought } from './brought';
import { loadBuild, WrongShell } from './federation';
import { forgetSlice } from './load-slice';

beforeEach(() => {
  vi.spyOn(console, 'error').mockImplementation(() => undefined);
  vi.spyOn(console, 'warn').mockImplementation(() => undefined);
  goLive();
  storeUser();
});

function Broken(): never {
  throw new Error('loan.amount is undefined');
}

test('a slice that can’t be loaded is named in its place, the rest works, and Retry loads it', async () => {
  vi.mocked(loadBuild).mockRejectedValue(new Error('Its code could not be loaded'));
  const { click } = await open('/');
  const title = 'This part of the portal could not be loaded';
  expect(await screen.findByRole('heading', { name: title })).toBeVisible();
  const panel = within(screen.getByRole('main'));
  expect(panel.getByText('mfe-loans 1.2.3')).toBeVisible();
  expect(panel.getByText('Its code could not be loaded')).toBeVisible();
  expect(screen.getByRole('link', { name: 'Pending Loans' })).toBeVisible();
  expect(document.title).toBe(`${title} · Mkopo`);

  vi.mocked(loadBuild).mockResolvedValue(slice('mfe-loans', { '/': 'Dashboard' }));
  await click(screen.getByRole('button', { name: 'Retry' }));
  const dashboard = await heading('Dashboard');
  // Retry had the focus, and is gone.
  await waitFor(() => expect(dashboard).toHaveFocus());
});

test('the details are copied as one line for support', async () => {
  vi.mocked(loadBuild).mockRejectedValue(new Error('Its code could not be loaded'));
  const { click } = await open('/');
  await click(await screen.findByRole('button', { name: 'Copy details' }));
  expect(await navigator.clipboard.readText()).toBe('mfe-loans 1.2.3: Its code could not be loaded (/)');
});

test('the live build is tried three times, then the previous one', async () => {
  const live = slice('mfe-loans', { '/': 'Dashboard' });
  goLive([live]);
  const list = await window.__SLICES__!;
  list.slices['mfe-loans']!.previous = { ...list.slices['mfe-loans']!, version: '1.2.2' };
  vi.mocked(loadBuild)
    .mockClear()
    .mockImplementation((_, { version }) =>
      version === '1.2.2' ? Promise.resolve(live) : Promise.reject(new Error('HTTP 500')),
    );
  await open('/');
  expect(await screen.findByRole('heading', { name: 'Dashboard' })).toBeVisible();
  expect(vi.mocked(loadBuild).mock.calls.map(([, { version }]) => version)).toEqual([
    '1.2.3',
    '1.2.3',
    '1.2.3',
    '1.2.2',
  ]);
});

test('a build for another shell is not tried again, and the page says what it needs', async () => {
  const reason = 'It was built for react ^20.0.0; this shell has 19.3.1';
  vi.mocked(loadBuild).mockClear().mockRejectedValue(new WrongShell(reason));
  await open('/');
  expect(await screen.findByText(reason)).toBeVisible();
  expect(vi.mocked(loadBuild)).toHaveBeenCalledTimes(1);
});

test('a screen that crashes affects nothing else, and another page works', async () => {
  goLive([slice('mfe-loans', { '/': <Broken />, '/pending-loans': 'Pending Disbursements' })]);
  const { click } = await open('/');
  expect(await heading('This page has stopped working')).toBeVisible();
  expect(screen.getByText('loan.amount is undefined')).toBeVisible();
  await click(screen.getByRole('link', { name: 'Pending Loans' }));
  expect(await heading('Pending Disbursements')).toBeVisible();
});

test('without the list of slices the layout still works, and the next visit requests the list again', async () => {
  unreachable('get', '/slices.json');
  forgetSlice('mfe-loans');
  const { click } = await open('/');
  expect(await screen.findByText('mfe-loans')).toBeVisible();
  const sentence = 'The portal could not be reached. Check your connection and try again.';
  expect(screen.getByText(sentence)).toBeVisible();
  await click(screen.getByRole('link', { name: 'Settings' }));
  expect(await heading('Settings')).toBeVisible();

  const slices = { 'mfe-loans': build('mfe-loans', ['/'], { version: '2.0.0' }) };
  answer('get', '/slices.json', 200, { portal: PORTAL, shell: SHELL, slices });
  await click(screen.getByRole('link', { name: 'Dashboard' }));
  expect(await heading('Dashboard')).toBeVisible();
});

test('a slice that was opened while offline is loaded once the portal is back', async () => {
  connection.start();
  unreachable('get', '/slices.json');
  provider.use(http.head('http://portal.test/slices.json', () => HttpResponse.error()));
  act(() => void window.dispatchEvent(new Event('offline')));
  forgetSlice('mfe-loans');
  await open('/');
  expect(await heading('This part of the portal could not be loaded')).toBeVisible();

  provider.use(http.head('http://portal.test/slices.json', () => new HttpResponse()));
  goLive();
  act(() => void window.dispatchEvent(new Event('online')));
  expect(await heading('Dashboard')).toBeVisible();
});

test('a build from before the slice was given a screen says so', async () => {
  goLive([slice('mfe-auth', { '/login': 'Sign in' })]);
  await open('/profile');
  expect(await screen.findByText('It has no screen for this address')).toBeVisible();
});

test('a file of a screen that does not load is said so that a person can act, without a number', async () => {
  const Missing = () => {
    throw Object.assign(new Error('Loading chunk 403 failed.'), { name: 'ChunkLoadError' });
  };
  goLive([slice('mfe-loans', { '/': <Missing /> })]);
  await open('/');
  expect(await heading('This part of the portal could not be loaded')).toBeVisible();
  expect(within(screen.getByRole('main')).getByRole('alert')).toHaveTextContent(
    'Check your connection and reload the page.',
  );
  expect(screen.queryByText(/403/)).toBeNull();
});

test('a screen that throws nothing at all fails in its place', async () => {
  const Thrower = () => {
    throw null; // eslint-disable-line @typescript-eslint/only-throw-error
  };
  goLive([slice('mfe-loans', { '/': <Thrower /> })]);
  await open('/');
  expect(await heading('This page has stopped working')).toBeVisible();
  expect(screen.getByRole('link', { name: 'Pending Loans' })).toBeVisible();
});

test('a screen that a slice added after the page was opened is found', async () => {
  goLive([slice('mfe-loans', { '/brand-new': 'Brand new' })]);
  setBrought({ portal: PORTAL, shell: SHELL, slices: {} });
  await open('/brand-new');
  expect(await heading('Brand new')).toBeVisible();
  expect(screen.getByRole('navigation', { name: 'Main' })).toBeVisible();
});

test('an unknown address is not found, also while no slice can be loaded, and requests none', async () => {
  vi.mocked(loadBuild).mockClear().mockRejectedValue(new Error('HTTP 500'));
  await open('/somewhere');
  expect(await heading('Page Not Found')).toBeVisible();
  expect(loadBuild).not.toHaveBeenCalled();
});

test('a first visit without the list of slices says so, and Retry requests the list again', async () => {
  unreachable('get', '/slices.json');
  forgetSlice('mfe-loans');
  setBrought({ portal: PORTAL, shell: SHELL, slices: {} });
  const { click } = await open('/');
  expect(await heading('This part of the portal could not be loaded')).toBeVisible();
  expect(screen.getByText('slices.json')).toBeVisible();
  goLive();
  await click(screen.getByRole('button', { name: 'Retry' }));
  expect(await heading('Dashboard')).toBeVisible();
});
