import { currentUserQuery, queryClient, session } from 'mfe-kit';
import {
  answer,
  currentUser,
  failure,
  hold,
  notifications,
  preferences,
  screen,
  signedIn,
  unreachable,
} from 'mfe-kit/testing';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { goLive, heading, open, storeUser } from '../testing/portal';

const ENTER = '/story/enter';
const ADDRESS = '/enter#agent.0c1f5e2d';
const NO_ENTRY = 'This address does not lead to a sandbox any more.';

// Otherwise the first test would wait for the page's code.
beforeAll(() => import('./EnterPage'));

beforeEach(() => goLive());

const given = () => answer('get', '/api/v1/auth/me', 200, currentUser());
const refused = (sentence: string) => screen.findByText(sentence);

test('the code of the address signs in, and does not stay in the history', async () => {
  given();
  const held = hold();
  const entered = answer('post', ENTER, 200, signedIn({ token: 'token-9' }), { until: held.back });
  const { router } = await open(ADDRESS);
  expect(screen.getByText('Opening the sandbox…').closest('[role="status"]')).toBeVisible();
  held.release();
  expect(await heading('Dashboard')).toBeVisible();
  expect(entered.map(({ body }) => body)).toEqual([{ code: 'agent.0c1f5e2d' }]);
  expect(session.token).toBe('token-9');
  expect(session.state.user).toMatchObject({ username: 'Achieng', email: 'agent@mkopo.test' });
  expect(router.state.location).toMatchObject({ pathname: '/', hash: '' });
  expect(router.state.historyAction).toBe('REPLACE');
});

test('where the screens are live, role, name and language are those of the new session', async () => {
  goLive(undefined, { screens: 'live' });
  given();
  answer('get', '/api/v1/notifications', 200, notifications());
  answer('post', ENTER, 200, signedIn({ token: 'token-9', role: 'supervisor' }));
  const asked = answer('get', '/api/v1/preferences', 200, preferences({ language: 'sw' }));
  await open(ADDRESS);
  await heading('Dashboard');
  expect(asked[0]?.headers.get('Authorization')).toBe('Bearer token-9');
  expect(JSON.parse(localStorage.getItem('user') ?? '')).toMatchObject({
    name: 'Achieng Otieno',
    language: 'sw',
  });
});

test('what an earlier session has read is dropped', async () => {
  storeUser();
  queryClient.setQueryData(['pending-loans'], ['of somebody else']);
  queryClient.setQueryData(currentUserQuery().queryKey, currentUser({ name: 'Somebody Else' }));
  given();
  answer('post', ENTER, 200, signedIn({ token: 'token-9' }));
  await open(ADDRESS);
  await heading('Dashboard');
  expect(queryClient.getQueryData(['pending-loans'])).toBeUndefined();
  expect(session.token).toBe('token-9');
  await expect
    .poll(() => queryClient.getQueryData(currentUserQuery().queryKey))
    .toMatchObject({ name: 'Achieng Otieno' });
});

test.for([
  ['no_entry', NO_ENTRY],
  ['no_story', 'This sandbox tells no story.'],
] as const)('a code that is refused with %s says so, and leads to sign-in', async ([code, sentence]) => {
  answer('post', ENTER, 404, failure(sentence, code));
  const { router, click } = await open(ADDRESS);
  expect(await refused(sentence)).toHaveRole('alert');
  expect(await heading('The sandbox could not be opened')).toBeVisible();
  expect(document.title).toBe('The sandbox could not be opened · Mkopo');
  expect(screen.queryByRole('button', { name: 'Try again' })).toBeNull();
  await click(screen.getByRole('link', { name: 'Sign in' }));
  expect(await heading('Sign in')).toBeVisible();
  expect(router.state.location).toMatchObject({ pathname: '/login', hash: '' });
});

test('an address without a code is refused like one with a wrong code, without a call', async () => {
  await open('/enter');
  expect(await refused(NO_ENTRY)).toBeVisible();
  expect(screen.getByRole('link', { name: 'Sign in' })).toBeVisible();
  expect(screen.queryByRole('button', { name: 'Try again' })).toBeNull();
});

test('a refused code leaves an earlier session as it was', async () => {
  storeUser();
  answer('post', ENTER, 404, failure(NO_ENTRY, 'no_entry'));
  await open(ADDRESS);
  await refused(NO_ENTRY);
  expect(session.token).toBe('token-1');
});

test('without the network it can be tried again, and the button keeps the focus', async () => {
  unreachable('post', ENTER);
  const { user } = await open(ADDRESS);
  expect(
    await refused('The portal could not be reached. Check your connection, then try again.'),
  ).toBeVisible();
  const again = screen.getByRole('button', { name: 'Try again' });
  await user.click(again);
  await expect.poll(() => again.getAttribute('aria-busy')).toBeNull();
  expect(again).toHaveFocus();
  given();
  answer('post', ENTER, 200, signedIn());
  await user.click(again);
  expect(await heading('Dashboard')).toBeVisible();
});
