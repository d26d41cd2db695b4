import { cleanup } from '@testing-library/react';
import { screen, within } from 'mfe-kit/testing';
import { beforeEach, expect, test, vi } from 'vitest';
import { goLive, heading, open, openDashboard, slice, storeUser } from '../testing/portal';
import { loadBuild } from '../slices/federation';

beforeEach(() => {
  vi.spyOn(console, 'warn').mockImplementation(() => undefined);
  goLive();
  storeUser();
});

const part = async (name: string) => {
  const about = await screen.findByRole('region', { name: 'About' });
  about.querySelector('details')!.open = true;
  const header = await within(about).findByRole('rowheader', { name: new RegExp(`^${name}`) });
  return header.closest('tr')!;
};

test('About names the shell and every slice, with version and origin', async () => {
  const { click } = await openDashboard();
  await click(screen.getByRole('link', { name: 'Settings' }));
  await heading('Settings');
  expect(await part('mfe-loans')).toHaveTextContent(
    'mfe-loansLivehttp://portal.test/slices/mfe-loans/1.2.3/1.2.3',
  );
  expect(await part('mfe-transactions')).toHaveTextContent('Live, not loaded yet');
  expect(await part('mfe-shell')).toHaveTextContent(
    'Shell, with mfe-kit 0.2.0, build a1b2c3http://portal.test/0.1.0',
  );
});

test('About says when the previous build is used', async () => {
  const live = slice('mfe-loans', { '/': 'Dashboard' });
  goLive([live]);
  const { slices } = await window.__SLICES__!;
  slices['mfe-loans']!.previous = {
    ...slices['mfe-loans']!,
    version: '1.2.2',
    entry: '/slices/mfe-loans/1.2.2/mf-manifest.json',
  };
  vi.mocked(loadBuild).mockImplementation((_, { version }) =>
    version === '1.2.2' ? Promise.resolve(live) : Promise.reject(new Error('HTTP 500')),
  );
  const { click } = await openDashboard();
  await click(screen.getByRole('link', { name: 'Settings' }));
  expect(await part('mfe-loans')).toHaveTextContent(
    'Previous version: 1.2.3 could not be loaded: HTTP 500http://portal.test/slices/mfe-loans/1.2.2/1.2.2',
  );
});

test('About is folded, and for admins only', async () => {
  await open('/settings');
  expect((await screen.findByRole('region', { name: 'About' })).querySelector('details')).not.toHaveAttribute(
    'open',
  );
  cleanup();
  storeUser({ role: 'agent' });
  await open('/settings');
  await heading('Settings');
  expect(screen.queryByRole('region', { name: 'About' })).toBeNull();
});
