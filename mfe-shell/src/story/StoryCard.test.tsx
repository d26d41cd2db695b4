import { cleanup, fireEvent } from '@testing-library/react';
import { queryClient, type Schema, session } from 'mfe-kit';
import {
  answer,
  collectNotifications,
  failure,
  garbled,
  provider,
  screen,
  signedIn,
  unreachable,
  waitFor,
  within,
} from 'mfe-kit/testing';
import { http, HttpResponse } from 'msw';
import { beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { goLive, heading, open, openDashboard, storeUser } from '../testing/portal';

const TOLD = '/story/told';
const ADDRESS = 'http://sandbox-k3j2.localhost:8080/enter#supervisor.0c1f';
const NOT_READ = 'The story could not be read. It is tried again every few seconds.';

type Told = Schema<'GuestStory'>;
type Step = Told['story']['steps'][number];

const step = (say: string, given: Partial<Step> = {}): Step => ({
  say,
  act: null,
  expected: [],
  found: [],
  state: 'later',
  ...given,
});

/** A story whose first `done` steps are done. */
function told(done: number, given: Partial<Told> = {}): Told {
  const steps = [
    step('Pay the loan of Otieno out.', { found: ['Loan LN-OTIENO has no record.'] }),
    step('An hour passes.', { act: 'The clock moves on by 1 hour.' }),
    step('Say what has happened.'),
  ].map((one, at): Step => ({ ...one, state: at < done ? 'done' : at === done ? 'next' : 'later' }));
  return {
    story: { name: 'refused', title: 'A refusal and its reason', text: 'What mobile money refuses.', steps },
    may_go_on: false,
    ends_at: '2026-11-14T11:00:00.000Z',
    may_keep: true,
    own_url: null,
    invitations: [],
    ...given,
  };
}

// Otherwise the first test would wait for the card's code.
beforeAll(() => import('./StoryCard'));

beforeEach(() => {
  goLive(undefined, { demo: true, sandbox: 'sandbox-k3j2', story: true });
  storeUser();
});

/** Opens the dashboard while this story is told. */
function tell(...story: Parameters<typeof told>) {
  answer('get', TOLD, 200, told(...story));
  return open('/');
}

const card = () => screen.findByRole('region', { name: 'Story' });
const button = (name: string) => screen.findByRole('button', { name });
const items = async () =>
  within(within(await card()).getAllByRole('list')[0]!)
    .getAllByRole('listitem')
    .map(({ textContent }) => textContent);

test('the card tells the story, its steps, and what the next one waits for', async () => {
  await tell(1, { may_go_on: true });
  await heading('Dashboard');
  const shown = await card();
  expect(within(shown).getByRole('heading', { level: 2, name: 'A refusal and its reason' })).toBeVisible();
  expect(within(shown).getByText('What mobile money refuses.')).toBeVisible();
  expect(await items()).toEqual([
    'Done: Pay the loan of Otieno out.',
    '2An hour passes.The clock moves on by 1 hour.Do it',
    '3Say what has happened.',
  ]);
  expect(shown.querySelector('[aria-current="step"]')).toHaveTextContent('An hour passes.');
  expect(within(shown).getByText('This sandbox exists until 14 Nov 2026, 14:00:00.')).toBeVisible();
  expect(within(shown).queryByText('Invite others')).toBeNull();
});

test('what is found in place of what the next step expects is told', async () => {
  await tell(0, { ends_at: null });
  expect(within(await card()).getByText('Loan LN-OTIENO has no record.')).toBeVisible();
  expect(screen.queryByRole('button', { name: 'Do it' })).toBeNull();
  expect(screen.queryByText(/This sandbox exists until/)).toBeNull();
});

test('a step that becomes done is announced once, and the last one ends the story', async () => {
  await tell(0);
  const status = within(await card()).getByText('', { selector: 'span[role="status"]' });
  expect(status).toHaveTextContent('');
  answer('get', TOLD, 200, told(1));
  await waitFor(() => expect(status).toHaveTextContent('Step 1 is done: Pay the loan of Otieno out.'));
  answer('get', TOLD, 200, told(3));
  await waitFor(() =>
    expect(status.textContent).toBe('Step 2 is done: An hour passes. Step 3 is done: Say what has happened.'),
  );
  expect(await button('Story, finished')).toBeVisible();
});

test('Do it does the act, shows what it has changed, and leaves the focus in the card', async () => {
  const done = answer('post', '/story/next', 200, told(2));
  const { user } = await tell(1, { may_go_on: true });
  const act = await button('Do it');
  const again = vi.spyOn(queryClient, 'invalidateQueries');
  answer('get', TOLD, 200, told(2));
  await user.click(act);
  expect(await button('Story, step 3 of 3')).toBeVisible();
  expect(done).toHaveLength(1);
  expect(done[0]?.headers.get('Authorization')).toBe('Bearer token-1');
  // Of two people who press it at once, the second one does not do the step after it.
  expect(done[0]?.body).toEqual({ step: 1 });
  expect(again).toHaveBeenCalledWith();
  await waitFor(() =>
    expect(screen.getByRole('heading', { name: 'A refusal and its reason' })).toHaveFocus(),
  );
});

test('an act that fails says why, until the next one', async () => {
  answer('post', '/story/next', 503, failure('The server is busy.', 'busy'));
  const { user } = await tell(1, { may_go_on: true });
  await user.click(await button('Do it'));
  const alert = await screen.findByText('The step was not done');
  expect(alert.closest('[role="alert"]')).toHaveTextContent('The server is busy.');
  unreachable('post', '/story/keep');
  await user.click(await button('Keep for 7 days'));
  expect(await screen.findByText('The sandbox is not kept')).toBeVisible();
  expect(screen.queryByText('The step was not done')).toBeNull();
  expect(await heading('Dashboard')).toBeVisible();
});

test('it folds to a button, also on the next visit, and unfolds again', async () => {
  const title = () => screen.queryByRole('heading', { name: 'A refusal and its reason' });
  const first = await tell(1);
  const toggle = await button('Story, step 2 of 3');
  expect(toggle).toHaveAttribute('aria-expanded', 'true');
  await first.user.click(toggle);
  expect(toggle).toHaveAttribute('aria-expanded', 'false');
  expect(toggle).toHaveFocus();
  expect(title()).toBeNull();

  cleanup();
  const { user } = await tell(1);
  const folded = await button('Story, step 2 of 3');
  expect(folded).toHaveAttribute('aria-expanded', 'false');
  expect(screen.queryByRole('button', { name: 'Take it with me' })).toBeNull();
  folded.focus();
  await user.keyboard('{Enter}');
  expect(title()).toBeVisible();
  expect(localStorage.getItem('story_folded')).toBe('false');
});

test('Keep for 7 days keeps it once', async () => {
  const kept = told(0, { ends_at: '2026-11-21T09:00:00.000Z', may_keep: false });
  const received = answer('post', '/story/keep', 200, kept);
  const shown = collectNotifications();
  const { user } = await tell(0);
  const keep = await button('Keep for 7 days');
  answer('get', TOLD, 200, kept);
  await user.click(keep);
  expect(await screen.findByText('This sandbox exists until 21 Nov 2026, 12:00:00.')).toBeVisible();
  expect(received).toHaveLength(1);
  expect(screen.queryByRole('button', { name: 'Keep for 7 days' })).toBeNull();
  await waitFor(() =>
    expect(shown).toMatchObject([{ type: 'success', message: 'The sandbox is kept for 7 days.' }]),
  );
});

test('Start again asks first; Cancel changes nothing', async () => {
  const { user } = await tell(1);
  await user.click(await button('Start again'));
  const dialog = screen.getByRole('dialog', { name: 'Start the story again?' });
  expect(dialog).toHaveTextContent('All that has happened in this sandbox is lost');
  await user.click(within(dialog).getByRole('button', { name: 'Cancel' }));
  expect(screen.queryByRole('dialog')).toBeNull();
});

test('Start again begins the story again by a new session, on the first page', async () => {
  answer('get', TOLD, 200, told(1));
  const { router, user } = await open('/settings');
  await user.click(await button('Start again'));
  const begun = answer('post', '/story/again', 200, signedIn({ token: 'token-9' }));
  const polled = answer('get', TOLD, 200, told(0));
  queryClient.setQueryData(['transactions'], ['from before']);
  const shown = collectNotifications();
  await user.click(within(screen.getByRole('dialog')).getByRole('button', { name: 'Start again' }));
  expect(await heading('Dashboard')).toBeVisible();
  expect(await button('Story, step 1 of 3')).toBeVisible();
  expect(screen.queryByRole('dialog')).toBeNull();
  expect(router.state.location.pathname).toBe('/');
  expect(begun[0]?.headers.get('Authorization')).toBe('Bearer token-1');
  expect(session.token).toBe('token-9');
  expect(queryClient.getQueryData(['transactions'])).toBeUndefined();
  expect(polled.map(({ headers }) => headers.get('Authorization'))).not.toContain('Bearer token-1');
  expect(shown).toMatchObject([{ type: 'success', message: 'The story begins again.' }]);
});

test('a failure to start again is told in the dialog, and forgotten when it is closed', async () => {
  answer('post', '/story/again', 503, failure('The server is busy.', 'busy'));
  const { user } = await tell(1);
  await user.click(await button('Start again'));
  const dialog = screen.getByRole('dialog');
  await user.click(within(dialog).getByRole('button', { name: 'Start again' }));
  expect(await within(dialog).findByRole('alert')).toHaveTextContent('The server is busy.');
  expect(session.token).toBe('token-1');
  fireEvent(dialog, new Event('close'));
  await user.click(await button('Start again'));
  expect(within(dialog).queryByRole('alert')).toBeNull();
});

test('Take it with me saves the sandbox as a file of the story’s name', async () => {
  const asked: (string | null)[] = [];
  provider.use(
    http.get('http://portal.test/story/file', ({ request }) => {
      asked.push(request.headers.get('Authorization'));
      return new HttpResponse(new Uint8Array([0x53, 0x51, 0xff]), {
        headers: { 'Content-Type': 'application/vnd.sqlite3' },
      });
    }),
  );
  const made: Blob[] = [];
  Object.assign(URL, {
    createObjectURL: (blob: Blob) => `blob:${made.push(blob)}`,
    revokeObjectURL: () => {},
  });
  const saved: string[] = [];
  vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(function (this: HTMLAnchorElement) {
    saved.push(this.download);
  });
  const { user } = await tell(1);
  await user.click(await button('Take it with me'));
  await waitFor(() => expect(saved).toEqual(['refused.mkopo']));
  expect(asked).toEqual(['Bearer token-1']);
  expect(made.map(({ size }) => size)).toEqual([3]);
});

test('a file that can’t be had says why', async () => {
  answer('get', '/story/file', 503, failure('The server is busy.', 'busy'));
  const { user } = await tell(1);
  await user.click(await button('Take it with me'));
  const title = await screen.findByText('The file was not downloaded');
  expect(title.closest('[role="alert"]')).toHaveTextContent('The server is busy.');
});

test('an ended session is noticed by the download, too', async () => {
  answer('get', '/story/file', 401, failure('No session', 'no_session'));
  const { user } = await tell(1);
  await user.click(await button('Take it with me'));
  await waitFor(() => expect(session.token).toBeNull());
  expect(screen.queryByRole('region', { name: 'Story' })).toBeNull();
});

test('others are invited by an address for each role', async () => {
  const { user } = await tell(1, { invitations: [{ role: 'supervisor', url: ADDRESS }] });
  expect(within(await card()).getByText(ADDRESS)).toBeVisible();
  await user.click(await button('Copy the address for Supervisor'));
  expect(await navigator.clipboard.readText()).toBe(ADDRESS);
});

test('a guest has an address of their own, to come back', async () => {
  const url = 'http://sandbox-k3j2.localhost:8080/enter#agent.0c1f';
  const { user } = await tell(1, { own_url: url });
  expect(within(await card()).getByRole('heading', { name: 'Come back later' })).toBeVisible();
  await user.click(await button('Copy your address'));
  expect(await navigator.clipboard.readText()).toBe(url);
});

test('who entered by an address in this tab can enter again after signing out', async () => {
  localStorage.clear();
  session.start();
  const { router } = await open('/login');
  expect(screen.queryByRole('link', { name: 'Enter the sandbox again' })).toBeNull();
  answer('post', '/story/enter', 200, signedIn({ token: 'token-9' }));
  answer('get', TOLD, 200, told(1));
  await router.navigate('/enter#agent.0c1f');
  expect(await card()).toBeVisible();
  session.clear();
  const link = await screen.findByRole('link', { name: 'Enter the sandbox again' });
  expect(link).toHaveAttribute('href', '/enter#agent.0c1f');
});

test('a sandbox that is gone is said in place of the card, and not asked again', async () => {
  holdTimers();
  await tell(1);
  await card();
  const asked = answer('get', TOLD, 404, failure('There is no sandbox.', 'sandbox_not_found'));
  expect(await screen.findByText('This sandbox is gone: its time is over, or it was removed.')).toBeVisible();
  expect(screen.queryByRole('region', { name: 'Story' })).toBeNull();
  const { length } = asked;
  await vi.advanceTimersByTimeAsync(10_000);
  expect(asked).toHaveLength(length);
});

/** Has the test move the time on in which the story is read again, beside the time that passes. */
const holdTimers = () =>
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'],
    shouldAdvanceTime: true,
  });

test('a poll that fails keeps what was read, and says so until it succeeds', async () => {
  await tell(1);
  await card();
  unreachable('get', TOLD);
  expect(await screen.findByText(NOT_READ)).toBeVisible();
  expect(await button('Story, step 2 of 3')).toBeVisible();
  expect(await heading('Dashboard')).toBeVisible();
  answer('get', TOLD, 200, told(2));
  expect(await button('Story, step 3 of 3')).toBeVisible();
  expect(screen.queryByText(NOT_READ)).toBeNull();
});

test('a story that was never read says so, and appears once it is', async () => {
  answer('get', TOLD, 503, failure('The server is busy.', 'busy'));
  await open('/');
  expect(await screen.findByText(NOT_READ)).toBeVisible();
  answer('get', TOLD, 200, told(1));
  expect(await button('Story, step 2 of 3')).toBeVisible();
});

test('a story that can’t be drawn costs nobody their screen', async () => {
  const logged = vi.spyOn(console, 'error').mockImplementation(() => undefined);
  garbled('get', TOLD, '{"story": 1}');
  await open('/');
  expect(await heading('Dashboard')).toBeVisible();
  await waitFor(() => expect(logged).toHaveBeenCalled());
  expect(screen.getByRole('navigation', { name: 'Main' })).toBeVisible();
  expect(screen.queryByRole('region', { name: 'Story' })).toBeNull();
});

test('a sandbox that tells no story any more has no card, and is not asked again', async () => {
  holdTimers();
  const asked = answer('get', TOLD, 404, failure('This sandbox tells no story.', 'no_story'));
  await openDashboard();
  await waitFor(() => expect(asked).toHaveLength(1));
  await vi.advanceTimersByTimeAsync(10_000);
  expect(asked).toHaveLength(1);
  expect(screen.queryByRole('region', { name: 'Story' })).toBeNull();
});

test('where no story is told, or nobody is signed in, there is no card and no call', async () => {
  goLive(undefined, { demo: true, sandbox: 'pr-12' });
  const { router } = await openDashboard();
  expect(screen.queryByRole('region', { name: 'Story' })).toBeNull();
  goLive(undefined, { demo: true, sandbox: 'pr-12', story: true });
  localStorage.clear();
  session.start();
  expect(await heading('Sign in')).toBeVisible();
  expect(router.state.location.pathname).toBe('/login');
  expect(screen.queryByRole('region', { name: 'Story' })).toBeNull();
});
