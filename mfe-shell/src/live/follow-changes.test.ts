import { QueryObserver } from '@tanstack/react-query';
import { queryClient, queryKeys, session, setPortalSettings } from 'mfe-kit';
import { answer, currentUser, hold, preferences, waitFor } from 'mfe-kit/testing';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { followChanges } from './follow-changes';

beforeEach(() => {
  vi.spyOn(Math, 'random').mockReturnValue(0);
  setPortalSettings({ screens: 'live' });
});

test('what is shown of what has changed is read again, and nothing else', async () => {
  const reads = Object.fromEntries(
    Object.entries(queryKeys).map(([name, queryKey]) => {
      const read = vi.fn(() => Promise.resolve(1));
      const observer = new QueryObserver(queryClient, { queryKey: [...queryKey, 'test'], queryFn: read });
      onTestFinished(observer.subscribe(() => undefined));
      return [name, read];
    }),
  );
  const readTwice = () =>
    Object.keys(reads).filter((name) => reads[name as 'loans']!.mock.calls.length === 2);
  await waitFor(() => expect(reads['sessions']).toHaveBeenCalledOnce());
  followChanges([]);
  followChanges(['loans']);
  followChanges(['loans', 'something new' as 'loans']);
  await waitFor(() =>
    expect(readTwice()).toEqual(['pendingLoans', 'dashboard', 'transactions', 'payout', 'reports']),
  );
  followChanges(['notifications']);
  await waitFor(() => expect(readTwice()).toContain('notifications'));
  expect(readTwice()).toHaveLength(6);
});

test('a role or preferences that were changed elsewhere apply to a page that shows neither', async () => {
  session.signIn({ token: 'token-1', username: 'Achieng', email: 'agent@mkopo.test', role: 'admin' });
  answer('get', '/api/v1/auth/me', 200, currentUser({ role: 'agent' }));
  answer('get', '/api/v1/preferences', 200, preferences({ time_zone: 'UTC' }));
  followChanges(['session', 'settings']);
  await waitFor(() => expect(session.state.user).toMatchObject({ role: 'agent', timeZone: 'UTC' }));
});

test('what changes while it is read for the first time is read again', async () => {
  const held = hold();
  const read = vi.fn(() => held.back);
  const observer = new QueryObserver(queryClient, { queryKey: queryKeys.pendingLoans, queryFn: read });
  onTestFinished(observer.subscribe(() => undefined));
  followChanges(['loans']);
  await vi.waitFor(() => expect(observer.getCurrentQuery().state.isInvalidated).toBe(true));
  held.release();
  await waitFor(() => expect(read).toHaveBeenCalledTimes(2));
});
