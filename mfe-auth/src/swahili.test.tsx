import { language, session, setPortalSettings } from 'mfe-kit';
import {
  answer,
  collectNotifications,
  currentUser,
  failure,
  preferences,
  profile,
  renderSlice,
  screen,
  signedIn,
  waitFor,
} from 'mfe-kit/testing';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import slice from './slice';

const LOGIN = '/api/v1/auth/login';
const PREFERENCES = '/api/v1/preferences';

// Otherwise the first tests would wait for the pages' code.
beforeAll(() => Promise.all([import('./login/LoginPage'), import('./profile/LiveProfile')]));

beforeEach(() => {
  session.start();
  setPortalSettings({ screens: 'live' });
  answer('get', '/api/v1/auth/me', 200, currentUser());
});

async function signIn(labels: [email: string, password: string, button: string]) {
  const drawn = renderSlice(slice, '/login');
  await drawn.user.click(await screen.findByLabelText(labels[0]));
  await drawn.user.paste('agent@mkopo.test');
  await drawn.user.click(screen.getByLabelText(labels[1]));
  await drawn.user.paste('Mkopo-demo-1');
  await drawn.user.click(screen.getByRole('button', { name: labels[2] }));
  return drawn;
}

test('sign-in is in Swahili, also when it fails', async () => {
  await language.use('sw');
  const shown = collectNotifications();
  answer('post', LOGIN, 400, failure('invalid password', 'invalid_password'));
  await signIn(['Barua pepe', 'Nenosiri', 'Ingia']);
  await waitFor(() => expect(shown.at(-1)?.message).toBe('Nenosiri si sahihi. Tafadhali jaribu tena.'));
  expect(screen.getByLabelText('Nenosiri')).toHaveAccessibleDescription('Nenosiri si sahihi.');
});

test('who has chosen Swahili has it from the first page on, with their time zone', async () => {
  answer('post', LOGIN, 200, signedIn());
  const received = answer('get', PREFERENCES, 200, preferences({ language: 'sw', time_zone: 'UTC' }));
  const { router } = await signIn(['Email', 'Password', 'Sign in']);
  await waitFor(() => expect(router.state.location.pathname).toBe('/dashboard'));
  expect(language.current).toBe('sw');
  expect(document.documentElement.lang).toBe('sw');
  expect(received[0]?.headers.get('Authorization')).toBe('Bearer token-1');
  expect(session.state.user).toMatchObject({ language: 'sw', timeZone: 'UTC' });
  expect(Object.keys(localStorage).sort()).toEqual(['auth_token', 'user']);
});

test('who has chosen nothing, or with a provider that keeps no preferences, has English', async () => {
  await language.use('sw');
  answer('post', LOGIN, 200, signedIn());
  answer('get', PREFERENCES, 404, failure('Not found', 'not_found'));
  const { router } = await signIn(['Barua pepe', 'Nenosiri', 'Ingia']);
  await waitFor(() => expect(router.state.location.pathname).toBe('/dashboard'));
  expect(language.current).toBe('en');
});

test('the profile is in Swahili, and the language is chosen there, beside what is typed', async () => {
  session.signIn(signedIn().user);
  await language.use('sw');
  answer('get', '/api/v1/profile', 200, profile());
  answer('get', PREFERENCES, 200, preferences({ language: 'sw' }));
  const saved = answer('put', '/api/v1/settings', 200, { preferences: preferences(), rules: null });
  const { user } = renderSlice(slice, '/profile');
  await user.click(await screen.findByRole('button', { name: 'Hariri wasifu' }));
  await user.type(screen.getByLabelText('Jina la kwanza'), ' A.');
  await user.click(await screen.findByLabelText('Lugha'));
  await user.click(await screen.findByRole('option', { name: 'English' }));
  await user.click(screen.getByRole('button', { name: 'Hifadhi mapendeleo' }));
  await waitFor(() => expect(saved[0]?.body).toMatchObject({ preferences: { language: 'en' } }));
  expect(session.state.user?.language).toBe('en');
  expect(screen.getByLabelText(/^(Jina la kwanza|First Name)$/)).toHaveValue('Achieng A.');
});
