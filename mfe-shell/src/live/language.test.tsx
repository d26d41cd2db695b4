import { formatDate, language, queryClient, queryKeys, session } from 'mfe-kit';
import {
  answer,
  currentUser,
  notifications,
  portalRules,
  preferences,
  screen,
  waitFor,
} from 'mfe-kit/testing';
import { useState } from 'react';
import { beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { goLive, heading, open, storeUser } from '../testing/portal';
import { followChanges } from './follow-changes';
import { preferredLanguage } from './preferred-language';
import { startLive } from './start-live';

vi.mock('./event-stream', () => ({ followEvents: () => () => undefined }));

const PREFERENCES = '/api/v1/preferences';

// Otherwise the first test would wait for the page's code.
beforeAll(() => Promise.all([import('../settings/LiveSettings'), import('mfe-kit/ui-data')]));

beforeEach(() => {
  goLive(undefined, { screens: 'live' });
  answer('get', '/api/v1/notifications', 200, notifications());
});

function storeAdmin(given: Parameters<typeof storeUser>[0] = {}) {
  storeUser({ username: 'Achieng', name: 'Achieng Otieno', ...given });
  answer('get', '/api/v1/auth/me', 200, currentUser({ role: 'admin' }));
}

test('a choice in Settings changes every screen at once', async () => {
  storeAdmin();
  answer('get', PREFERENCES, 200, preferences());
  answer('get', '/api/v1/settings', 200, portalRules());
  const saved = answer('put', '/api/v1/settings', 200, {
    preferences: preferences({ language: 'sw' }),
    rules: portalRules(),
  });
  const { user } = await open('/settings');
  startLive();
  await user.click(await screen.findByLabelText('Language'));
  await user.click(await screen.findByRole('option', { name: 'Kiswahili' }));
  await user.click(screen.getByRole('button', { name: 'Save Changes' }));
  const title = await heading('Mipangilio');
  await waitFor(() => expect(title).toHaveFocus());
  expect(saved[0]?.body).toMatchObject({ preferences: { language: 'sw' } });
  expect(document.documentElement.lang).toBe('sw');
  expect(screen.getByRole('navigation', { name: 'Kuu' })).toHaveTextContent('Mikopo inayosubiri');
  expect(screen.getByRole('button', { name: 'Akaunti ya Achieng Otieno' })).toBeVisible();
  expect(screen.getByText('Kuhusu')).toBeVisible();
  expect(await screen.findByRole('button', { name: 'Arifa' })).toBeVisible();
  expect(JSON.parse(localStorage.getItem('user') ?? '')).toMatchObject({ language: 'sw' });
});

/** A slice's page with texts, a time and a field. */
function Page() {
  const [typed, setTyped] = useState('');
  return (
    <>
      <h1>{`${language.current} ${formatDate('2026-11-12T22:30:00.000Z')}`}</h1>
      <input aria-label="Name" value={typed} onChange={({ target }) => setTyped(target.value)} />
    </>
  );
}

test.for([
  ['the layout', '/profile'],
  ['no layout', '/login'],
] as const)('what is typed on a page with %s stays when language and time zone change', async ([, path]) => {
  const slice = { name: 'mfe-auth', version: '1.2.3', routes: [{ path, Component: Page }] };
  goLive([slice], { screens: 'live' });
  storeAdmin();
  answer('get', PREFERENCES, 200, preferences());
  const { user } = await open(path);
  startLive();
  await heading('en 13 Nov 2026');
  await waitFor(() => expect(queryClient.getQueryData(queryKeys.preferences)).toBeDefined());
  const field = screen.getByRole('textbox', { name: 'Name' });
  await user.type(field, 'Achi');
  answer('get', PREFERENCES, 200, preferences({ language: 'sw', time_zone: 'UTC' }));
  followChanges(['settings']);
  await heading('sw 12 Nov 2026');
  await user.keyboard('eng');
  expect(screen.getByRole('textbox', { name: 'Name' })).toBe(field);
  expect(field).toHaveValue('Achieng');
});

test('settings that are not saved, and what is chosen, stay when language and time zone change elsewhere', async () => {
  storeAdmin();
  answer('get', PREFERENCES, 200, preferences());
  answer('get', '/api/v1/settings', 200, portalRules());
  const { user } = await open('/settings');
  startLive();
  const minutes = await screen.findByLabelText('Session Timeout (minutes)');
  await waitFor(() => expect(queryClient.getQueryData(queryKeys.preferences)).toBeDefined());
  await user.clear(minutes);
  await user.type(minutes, '60');
  await user.click(screen.getByRole('switch', { name: 'Require Confirmation' }));
  answer('get', PREFERENCES, 200, preferences({ language: 'sw', time_zone: 'UTC' }));
  followChanges(['settings']);
  await heading('Mipangilio');
  expect(minutes).toHaveValue('60');
  expect(minutes).toBeVisible();
  expect(screen.getByRole('switch', { name: 'Omba uthibitisho' })).not.toBeChecked();
});

test('before sign-in the language is the browser’s, and English where the screens do not have it', () => {
  const languages = vi.spyOn(navigator, 'languages', 'get');
  for (const [tags, expected] of [
    [['sw-KE', 'en'], 'sw'],
    [['fr', 'sw'], 'sw'],
    [['en-GB', 'sw'], 'en'],
    [['fr'], 'en'],
  ] as const) {
    languages.mockReturnValue(tags);
    expect(preferredLanguage()).toBe(expected);
  }
});

test('a signed-in person has the language that they have chosen, whatever the browser’s', async () => {
  vi.spyOn(navigator, 'languages', 'get').mockReturnValue(['sw']);
  session.signIn({ token: 'token-1', username: 'Achieng', email: 'agent@mkopo.test', language: 'en' });
  expect(preferredLanguage()).toBe('en');
  await language.use('sw');
  session.signIn({ token: 'token-1', username: 'Achieng', email: 'agent@mkopo.test' });
  expect(preferredLanguage()).toBe('sw');
});
