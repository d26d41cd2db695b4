import { session } from 'mfe-kit';
import {
  answer,
  currentUser,
  notifications,
  portalRules,
  preferences,
  screen,
  waitFor,
} from 'mfe-kit/testing';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { goLive, heading, open, storeUser } from '../testing/portal';

// Otherwise the first test would wait for the page's code.
beforeAll(() => Promise.all([import('./LiveSettings'), import('mfe-kit/ui-data')]));

beforeEach(() => {
  goLive(undefined, { screens: 'live' });
  storeUser({ name: 'Achieng Otieno' });
  answer('get', '/api/v1/auth/me', 200, currentUser({ role: 'admin' }));
  answer('get', '/api/v1/notifications', 200, notifications());
  answer('get', '/api/v1/preferences', 200, preferences());
  answer('get', '/api/v1/settings', 200, portalRules());
});

async function openSettings() {
  const { click } = await open('/settings');
  const toggle = await screen.findByRole('switch', { name: 'Require Confirmation' });
  const button = (name: string) => screen.findByRole('button', { name });
  const logOut = async () => {
    await click(await button('Account of Achieng Otieno'));
    await click(screen.getByRole('menuitem', { name: 'Logout' }));
  };
  return { toggle, click, button, logOut };
}

test('Logout asks before unsaved settings are lost, and Stay keeps session and changes', async () => {
  const { toggle, click, button, logOut } = await openSettings();
  await click(toggle);
  await logOut();
  expect(await screen.findByRole('dialog', { name: 'Leave without saving?' })).toBeVisible();
  await click(await button('Stay'));
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  expect(session.token).toBe('token-1');
  expect(toggle).not.toBeChecked();
  expect(screen.getByText('There are changes that are not saved.')).toBeVisible();
});

test('Logout signs out once the changes are discarded', async () => {
  const received = answer('post', '/api/v1/auth/logout', 204, undefined);
  const { toggle, click, button, logOut } = await openSettings();
  await click(toggle);
  await logOut();
  expect(received).toHaveLength(0);
  await click(await button('Discard changes'));
  expect(await heading('Sign in')).toBeVisible();
  await waitFor(() => expect(received).toHaveLength(1));
});

test('Logout asks nothing where everything is saved, or the changes have been left behind', async () => {
  answer('post', '/api/v1/auth/logout', 204, undefined);
  const { toggle, click, button, logOut } = await openSettings();
  await click(toggle);
  await click(screen.getByRole('link', { name: 'Dashboard' }));
  await click(await button('Discard changes'));
  await heading('Dashboard');
  await logOut();
  expect(await heading('Sign in')).toBeVisible();
});
