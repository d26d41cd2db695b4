import { acts, language, queryClient, queryKeys, type Schema, session, setPortalSettings } from 'mfe-kit';
import {
  answer,
  collectNotifications,
  failure,
  notification,
  notifications,
  renderPart,
  screen,
  unreachable,
  waitFor,
  within,
} from 'mfe-kit/testing';
import { fireEvent } from '@testing-library/react';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { NotificationBell } from '../layout/NotificationBell';
import { newVersion } from '../notices/new-version';

const READ = '/api/v1/notifications/read';

const THREE = [
  notification({
    id: 'N-3',
    kind: 'payout_failed',
    at: '2026-11-14T12:00:00.000Z',
    error_message: 'The phone is not registered.',
  }),
  notification({ id: 'N-2', kind: 'loan_approved', loan_id: 'LN-2', customer_name: 'Brian Kiptoo' }),
  notification({ id: 'N-1', is_read: true }),
];

beforeEach(() => {
  setPortalSettings({ screens: 'live' });
  session.signIn({ token: 'token-1', username: 'Achieng', email: 'agent@mkopo.test' });
});

const bell = (name: string) => screen.findByRole('button', { name });

/** Draws the bell, and opens it once it has this name. */
async function openBell(name: string) {
  const { user } = renderPart(<NotificationBell />);
  await user.click(await bell(name));
  return { user };
}

const panel = () => screen.getByRole('region', { name: 'Notifications' });
const given = (listed = THREE, counts: Partial<Schema<'Notifications'>> = {}) => {
  const unread = listed.filter(({ is_read }) => !is_read);
  const isLoan = ({ kind }: Schema<'Notification'>) => kind === 'loan_approved';
  const counted = {
    unread: unread.length,
    unread_approved: unread.filter(isLoan).length,
    approved: listed.filter(isLoan).length,
  };
  return answer(
    'get',
    '/api/v1/notifications',
    200,
    notifications({ ...counted, notifications: listed, ...counts }),
  );
};
const many = (count: number, one: Partial<Schema<'Notification'>>) =>
  Array.from({ length: count }, (_, index) => notification({ id: `${one.kind}-${index}`, ...one }));
const links = () => within(panel()).getAllByRole('link');
const titles = () => links().map((line) => line.querySelector('strong')?.textContent);

// The first test: after it, the code is loaded.
test('a bell that is opened before its code is loaded stays open, with the focus', async () => {
  given();
  unreachable('put', READ);
  const { user } = renderPart(<NotificationBell />);
  await user.click(await bell('Notifications'));
  await waitFor(() => expect(links()).toHaveLength(3));
  expect(await bell('Notifications, 2 unread')).toHaveFocus();
});

test('the bell counts what is unread, and says what happened to whom', async () => {
  given();
  unreachable('put', READ);
  await openBell('Notifications, 2 unread');
  expect(screen.getByRole('status')).toHaveTextContent('2 unread notifications');
  const lines = within(panel()).getAllByRole('listitem');
  expect(
    lines.map(({ textContent }) => textContent.replace(/(Yesterday|\d+ \w+ ago|Just now)/, ' …')),
  ).toEqual([
    'Payout failedKES 25,000 was not paid to Wanjiku Kamau. The number has no mobile-money account. Check it with the customer. The phone is not registered. …Unread',
    'Loan approvedKES 25,000 for Brian Kiptoo is ready for disbursement. …Unread',
    'Payout completedKES 25,000 was paid to Wanjiku Kamau. …',
  ]);
  expect(links().map((link) => link.getAttribute('href'))).toEqual([
    '/transactions?search=LN-2026-00917',
    '/pending-loans?search=LN-2',
    '/transactions?search=LN-2026-00917',
  ]);
});

test('what was seen is marked as read; the marks stay until it is closed', async () => {
  given();
  const read = THREE.map((one) => ({ ...one, is_read: true }));
  const received = answer(
    'put',
    READ,
    200,
    notifications({ approved: 1, read_until: '2026-11-14T12:00:00.000Z', notifications: read }),
  );
  const { user } = await openBell('Notifications, 2 unread');
  const button = await bell('Notifications');
  expect(received.map(({ body }) => body)).toEqual([{ until: '2026-11-14T12:00:00.000Z' }]);
  expect(within(panel()).getAllByText('Unread')).toHaveLength(2);
  await user.keyboard('{Escape}');
  expect(button).toHaveFocus();
  await user.click(button);
  expect(within(panel()).queryByText('Unread')).toBeNull();
});

test('failures come first and can be shown alone, and many approved loans are one line', async () => {
  given([...many(3, { kind: 'loan_approved' }), notification({ id: 'N-0', kind: 'payout_failed' })]);
  unreachable('put', READ);
  const { user } = await openBell('Notifications, 4 unread');
  expect(titles()).toEqual(['Payout failed', '3 loans approved']);
  expect(links()[1]).toHaveAttribute('href', '/pending-loans');
  await user.click(screen.getByRole('button', { name: 'Failures (1)' }));
  expect(titles()).toEqual(['Payout failed']);
});

test('a thousand approved loans are one line, below an older failure, and seeing it marks them read', async () => {
  const listed = [
    ...many(50, { kind: 'loan_approved' }),
    notification({ id: 'N-0', kind: 'payout_failed', at: '2026-11-13T09:00:00.000Z' }),
  ];
  given(listed, { unread: 1001, unread_approved: 1000, approved: 1000 });
  const received = answer('put', READ, 200, notifications({ approved: 1000, notifications: listed }));
  await openBell('Notifications, 1,001 unread');
  expect(titles()).toEqual(['Payout failed', '1,000 loans approved']);
  await bell('Notifications');
  expect(received.map(({ body }) => body)).toEqual([{ until: '2026-11-14T09:30:02.000Z' }]);
});

test('in Swahili, mobile money’s own sentence is marked as English', async () => {
  await language.use('sw');
  given();
  unreachable('put', READ);
  await openBell('Arifa, 2 hazijasomwa');
  const sentence = screen.getByText('The phone is not registered.');
  expect(sentence).toHaveAttribute('lang', 'en');
  expect(sentence.previousElementSibling).not.toHaveAttribute('lang');
});

test('in Swahili, numbers are grouped as well', async () => {
  await language.use('sw');
  given(many(50, { kind: 'loan_approved' }), { unread: 1000, unread_approved: 1000, approved: 1000 });
  unreachable('put', READ);
  await openBell('Arifa, 1,000 hazijasomwa');
  expect(screen.getByText('Mikopo 1,000 imeidhinishwa')).toBeVisible();
  expect(screen.getByText('Arifa 1,000 hazijasomwa')).toBeInTheDocument();
});

test('what could not be marked as read says so', async () => {
  given(THREE, { unread: 9 });
  unreachable('put', READ);
  const shown = collectNotifications();
  const { user } = await openBell('Notifications, 9 unread');
  await user.click(screen.getByRole('button', { name: 'Mark all as read' }));
  const message = 'The notifications could not be marked as read.';
  await waitFor(() => expect(shown).toMatchObject([{ type: 'error', message }]));
});

test.for([
  [
    'payouts beside few loans',
    [...many(50, { kind: 'payout_failed' }), ...many(2, { kind: 'loan_approved' })],
    53,
    2,
  ],
  [
    'payouts beside many loans',
    [...many(50, { kind: 'payout_failed' }), ...many(50, { kind: 'loan_approved' })],
    1051,
    1000,
  ],
] as const)(
  'opening it marks nothing read while there are more unread %s than are listed',
  async ([, listed, unread, approved]) => {
    given([...listed], { unread, unread_approved: approved, approved });
    const received = answer('put', READ, 200, notifications());
    const name = `Notifications, ${unread.toLocaleString('en-KE')} unread`;
    const { user } = await openBell(name);
    await user.keyboard('{Escape}');
    await user.click(await bell(name));
    expect(received).toHaveLength(0);
    await user.click(screen.getByRole('button', { name: 'Mark all as read' }));
    await waitFor(() => expect(received).toHaveLength(1));
    // The button had the focus, and is gone.
    await waitFor(() => expect(panel()).toHaveFocus());
  },
);

test('all unread ones are listed where an older payout has been read', async () => {
  given(
    [
      ...many(50, { kind: 'loan_approved' }),
      ...many(49, { kind: 'payout_failed' }),
      notification({ id: 'N-0', is_read: true }),
    ],
    { unread: 1049, unread_approved: 1000, approved: 1000 },
  );
  const received = answer('put', READ, 200, notifications());
  await openBell('Notifications, 1,049 unread');
  await waitFor(() => expect(received).toHaveLength(1));
});

test('what was not on the screen is not marked as read: neither the end of the list, nor what arrives above', async () => {
  const failures = many(10, { kind: 'payout_failed' });
  given(failures);
  const { scrollTo } = drawLines(100, 400);
  const received = answer('put', READ, 200, notifications());
  await openBell('Notifications, 10 unread');
  scrollTo(300);
  given([notification({ id: 'N-new', kind: 'payout_failed' }), ...failures]);
  await queryClient.invalidateQueries({ queryKey: queryKeys.notifications });
  await bell('Notifications, 11 unread');
  // The browser keeps in place what is on the screen.
  scrollTo(400);
  scrollTo(700);
  expect(received).toHaveLength(0);
  scrollTo(0);
  await waitFor(() => expect(received).toHaveLength(1));
});

test('without a failure left, the other notifications are shown again', async () => {
  given();
  unreachable('put', READ);
  const { user } = await openBell('Notifications, 2 unread');
  await user.click(screen.getByRole('button', { name: 'Failures (1)' }));
  expect(titles()).toEqual(['Payout failed']);
  given(THREE.slice(1));
  void queryClient.invalidateQueries({ queryKey: queryKeys.notifications });
  await waitFor(() => expect(titles()).toEqual(['Loan approved', 'Payout completed']));
  given();
  void queryClient.invalidateQueries({ queryKey: queryKeys.notifications });
  await waitFor(() => expect(titles()).toEqual(['Payout failed', 'Loan approved', 'Payout completed']));
});

test('nothing has happened', async () => {
  given([]);
  await openBell('Notifications');
  expect(await screen.findByText('Nothing has happened in the last 7 days.')).toBeVisible();
});

test('a failure says so, and Retry reads them again', async () => {
  unreachable('get', '/api/v1/notifications');
  const { user } = await openBell('Notifications');
  expect(await screen.findByRole('alert')).toHaveTextContent('The notifications could not be loaded.');
  given();
  unreachable('put', READ);
  const ended: string[] = [];
  onTestFinished(acts.record(({ name }) => ended.push(name)));
  await user.click(within(panel()).getByRole('button', { name: 'Retry' }));
  await waitFor(() => expect(within(panel()).getAllByRole('listitem')).toHaveLength(3));
  await waitFor(() => expect(ended).toEqual(['try again']));
});

test('a new version is one of them', async () => {
  given([]);
  renderPart(<NotificationBell />);
  await bell('Notifications');
  newVersion.set(true);
  await bell('Notifications, 1 unread');
  newVersion.set(false);
});

test('a provider without notifications has the samples', async () => {
  answer('get', '/api/v1/notifications', 404, failure('Not found', 'not_found'));
  await openBell('Notifications, 2 unread');
  expect(within(panel()).getByText('New loan approved')).toBeVisible();
});

/** Gives the list a height and each of its lines, in CSS pixels; returns how it is scrolled. */
function drawLines(lineHeight: number, listHeight: number) {
  let scrollTop = 0;
  vi.spyOn(HTMLElement.prototype, 'getBoundingClientRect').mockImplementation(function (this: HTMLElement) {
    const index = [...(this.parentElement?.children ?? [])].indexOf(this);
    return this instanceof HTMLLIElement
      ? new DOMRect(0, index * lineHeight - scrollTop, 300, lineHeight)
      : new DOMRect(0, 0, 300, listHeight);
  });
  return {
    scrollTo: (top: number) => {
      scrollTop = top;
      fireEvent.scroll(within(panel()).getByRole('list'));
    },
  };
}
