import { acts, queryClient, queryKeys, session, setPortalSettings } from 'mfe-kit';
import {
  answer,
  failure,
  notification,
  renderPart,
  screen,
  unreachable,
  waitFor,
  within,
} from 'mfe-kit/testing';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
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
  return () => setPortalSettings({});
});

const bell = (name: string) => screen.findByRole('button', { name });
const panel = () => screen.getByRole('region', { name: 'Notifications' });
const given = (notifications = THREE) =>
  answer('get', '/api/v1/notifications', 200, {
    unread: notifications.filter(({ is_read }) => !is_read).length,
    read_until: null,
    notifications,
  });

test('the bell counts what is unread, and says what happened to whom', async () => {
  given();
  unreachable('put', READ);
  const { user } = renderPart(<NotificationBell />);
  await user.click(await bell('Notifications, 2 unread'));
  expect(screen.getByRole('status')).toHaveTextContent('2 unread notifications');
  const lines = within(panel()).getAllByRole('listitem');
  expect(
    lines.map(({ textContent }) => textContent.replace(/(Yesterday|\d+ \w+ ago|Just now)/, ' …')),
  ).toEqual([
    'Payout failedKES 25,000 was not paid to Wanjiku Kamau. The phone is not registered. …Unread',
    'Loan approvedKES 25,000 for Brian Kiptoo is ready for disbursement. …Unread',
    'Payout completedKES 25,000 was paid to Wanjiku Kamau. …',
  ]);
  expect(
    within(panel())
      .getAllByRole('link')
      .map((link) => link.getAttribute('href')),
  ).toEqual([
    '/transactions?search=LN-2026-00917',
    '/pending-loans?search=LN-2',
    '/transactions?search=LN-2026-00917',
  ]);
});

test('what was seen is marked as read; the marks stay until it is closed', async () => {
  given();
  const read = THREE.map((one) => ({ ...one, is_read: true }));
  const received = answer('put', READ, 200, {
    unread: 0,
    read_until: '2026-11-14T12:00:00.000Z',
    notifications: read,
  });
  const { user } = renderPart(<NotificationBell />);
  await user.click(await bell('Notifications, 2 unread'));
  const button = await bell('Notifications');
  expect(received.map(({ body }) => body)).toEqual([{ until: '2026-11-14T12:00:00.000Z' }]);
  expect(within(panel()).getAllByText('Unread')).toHaveLength(2);
  await user.keyboard('{Escape}');
  expect(button).toHaveFocus();
  await user.click(button);
  expect(within(panel()).queryByText('Unread')).toBeNull();
});

test('failures come first and can be shown alone, and many approved loans are one line', async () => {
  const loans = ['1', '2', '3'].map((id) => notification({ id: `N-${id}`, kind: 'loan_approved' }));
  given([...loans, notification({ id: 'N-0', kind: 'payout_failed' })]);
  unreachable('put', READ);
  const { user } = renderPart(<NotificationBell />);
  await user.click(await bell('Notifications, 4 unread'));
  const lines = () => within(panel()).getAllByRole('link');
  expect(lines().map((line) => line.querySelector('strong')?.textContent)).toEqual([
    'Payout failed',
    '3 loans approved',
  ]);
  expect(lines()[1]).toHaveAttribute('href', '/pending-loans');
  await user.click(screen.getByRole('button', { name: 'Failures (1)' }));
  expect(lines()).toHaveLength(1);
});

test('what is not listed or not scrolled to is not marked as read, unless the person says so', async () => {
  answer('get', '/api/v1/notifications', 200, { unread: 176, read_until: null, notifications: THREE });
  const received = answer('put', READ, 200, { unread: 0, read_until: null, notifications: [] });
  const { user } = renderPart(<NotificationBell />);
  await user.click(await bell('Notifications, 176 unread'));
  await user.keyboard('{Escape}');
  await user.click(await bell('Notifications, 176 unread'));
  expect(received).toHaveLength(0);
  await user.click(screen.getByRole('button', { name: 'Mark all as read' }));
  expect(received.map(({ body }) => body)).toEqual([{ until: '2026-11-14T12:00:00.000Z' }]);
});

test('what arrives is counted while the page is open', async () => {
  given([]);
  renderPart(<NotificationBell />);
  await bell('Notifications');
  given();
  void queryClient.invalidateQueries({ queryKey: queryKeys.notifications });
  await bell('Notifications, 2 unread');
});

test('nothing has happened', async () => {
  given([]);
  const { user } = renderPart(<NotificationBell />);
  await user.click(await bell('Notifications'));
  expect(await screen.findByText('Nothing has happened in the last 7 days.')).toBeVisible();
});

test('a failure says so, and Retry reads them again', async () => {
  unreachable('get', '/api/v1/notifications');
  const { user } = renderPart(<NotificationBell />);
  await user.click(await bell('Notifications'));
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
  const { user } = renderPart(<NotificationBell />);
  await user.click(await bell('Notifications, 2 unread'));
  expect(within(panel()).getByText('New loan approved')).toBeVisible();
});
