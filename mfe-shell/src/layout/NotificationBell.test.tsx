import { screen } from 'mfe-kit/testing';
import { expect, test, vi } from 'vitest';
import { goLive, heading, open, storeUser } from '../testing/portal';

vi.mock('../live/BellPanel', () => {
  throw new Error('Loading chunk 403 failed.');
});

test('a bell whose code does not load costs nobody their screen', async () => {
  vi.spyOn(console, 'error').mockReturnValue();
  goLive(undefined, { screens: 'live' });
  storeUser();
  const { user } = await open('/');
  await user.click(await screen.findByRole('button', { name: 'Notifications' }));
  expect(await screen.findByText('The notifications could not be loaded.')).toBeVisible();
  expect(await heading('Dashboard')).toBeVisible();
});
