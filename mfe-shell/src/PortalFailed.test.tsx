import { screen, within } from 'mfe-kit/testing';
import { expect, test, vi } from 'vitest';
import { goLive, heading, open, storeUser } from './testing/portal';

vi.mock('./settings/SettingsPage', () => ({
  default: () => {
    throw new Error('Loading chunk 204 failed');
  },
}));

test('if a part of the shell does not load, the page says so, and Reload reloads it', async () => {
  vi.spyOn(console, 'error').mockReturnValue();
  goLive();
  storeUser();
  const { user } = await open('/settings');
  expect(await heading('The portal could not be loaded')).toBeVisible();
  expect(within(screen.getByRole('main')).getByRole('alert')).toHaveTextContent(
    'Check your connection and reload the page.',
  );
  expect(screen.queryByText(/204/)).toBeNull();
  const reload = vi.fn();
  vi.stubGlobal('location', { reload });
  await user.click(screen.getByRole('button', { name: 'Reload' }));
  expect(reload).toHaveBeenCalledOnce();
});
