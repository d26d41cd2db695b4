import { queryClient, queryKeys, session, setPortalSettings } from 'mfe-kit';
import {
  answer,
  collectNotifications,
  currentUser,
  failure,
  hold,
  portalRules,
  preferences,
  renderPart,
  screen,
  unreachable,
  waitFor,
} from 'mfe-kit/testing';
import { cleanup } from '@testing-library/react';
import { act } from 'react';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { followRefusals } from '../live/follow-changes';
import SettingsPage from './SettingsPage';

const SETTINGS = '/api/v1/settings';
const PREFERENCES = '/api/v1/preferences';

const value = (label: string) => screen.getByLabelText<HTMLInputElement>(label).value;
const button = (name: string) => screen.getByRole('button', { name });

beforeEach(() => {
  setPortalSettings({ screens: 'live' });
  session.signIn({ token: 'token-1', username: 'Achieng', email: 'admin@mkopo.test', role: 'admin' });
  answer('get', PREFERENCES, 200, preferences({ notify_by_sms: true }));
});

async function open(rules = portalRules({ maximum_amount: 100_000, auto_retry: true })) {
  answer('get', SETTINGS, 200, rules);
  const { user } = renderPart(<SettingsPage />);
  await screen.findByLabelText('Session Timeout (minutes)');
  return user;
}

test('the settings are those that are kept', async () => {
  await open();
  expect(value('Session Timeout (minutes)')).toBe('480');
  expect(value('Maximum Disbursement Amount')).toBe('100,000');
  expect(value('Retry Attempts')).toBe('3');
  for (const [label, isOn] of [
    ['Email Notifications', false],
    ['SMS Notifications', true],
    ['Require Confirmation', true],
    ['Auto-retry Failed Disbursements', true],
  ] as const)
    expect(screen.getByRole('switch', { name: label })).toHaveAttribute('aria-checked', String(isOn));
  expect(screen.getAllByRole('link', { name: 'Open Profile' })[0]).toHaveAttribute('href', '/profile');
});

test('Save Changes keeps the rules for everybody and the person’s own preferences, in one call', async () => {
  const user = await open();
  const shown = collectNotifications();
  const sent = answer('put', SETTINGS, 200, {
    preferences: preferences({ time_zone: 'UTC', notify_by_email: true }),
    rules: portalRules({ maximum_amount: null, session_minutes: 60 }),
  });
  await user.clear(screen.getByLabelText('Session Timeout (minutes)'));
  await user.type(screen.getByLabelText('Session Timeout (minutes)'), '60');
  await user.clear(screen.getByLabelText('Maximum Disbursement Amount'));
  await user.click(screen.getByRole('switch', { name: 'Require Confirmation' }));
  await user.click(screen.getByRole('switch', { name: 'Email Notifications' }));
  await user.click(button('Save Changes'));
  await waitFor(() => expect(shown.map(({ message }) => message)).toEqual(['The settings are saved.']));
  expect(sent).toHaveLength(1);
  expect(sent[0]?.body).toEqual({
    preferences: { language: 'en', time_zone: null, notify_by_email: true, notify_by_sms: true },
    rules: {
      session_minutes: 60,
      maximum_amount: null,
      confirmation_required: false,
      auto_retry: true,
      retry_attempts: 3,
    },
  });
  expect(session.state.user?.timeZone).toBe('UTC');
});

test('Save Changes waits for a change, and changes are not lost without a question', async () => {
  answer('get', SETTINGS, 200, portalRules());
  const { router, user } = renderPart(<SettingsPage />);
  await screen.findByLabelText('Retry Attempts');
  expect(button('Save Changes')).toBeDisabled();
  answer('put', SETTINGS, 200, { preferences: preferences(), rules: portalRules() });
  await user.click(screen.getByRole('switch', { name: 'Require Confirmation' }));
  await user.click(button('Save Changes'));
  await waitFor(() => expect(screen.queryByText('There are changes that are not saved.')).toBeNull());
  await user.click(screen.getByRole('switch', { name: 'Require Confirmation' }));
  expect(screen.getByText('There are changes that are not saved.')).toBeVisible();
  await act(() => router.navigate('/elsewhere'));
  await user.click(await screen.findByRole('button', { name: 'Stay' }));
  await user.click(screen.getByRole('switch', { name: 'Require Confirmation' }));
  expect(button('Save Changes')).toBeDisabled();
  await user.click(screen.getByRole('switch', { name: 'Require Confirmation' }));
  await act(() => router.navigate('/elsewhere'));
  await user.click(await screen.findByRole('button', { name: 'Discard changes' }));
  expect(await screen.findByTestId('elsewhere')).toBeInTheDocument();
});

test('own preferences are saved without the rules, which somebody else may have changed meanwhile', async () => {
  const user = await open();
  const sent = answer('put', SETTINGS, 200, {
    preferences: preferences({ notify_by_email: true }),
    rules: portalRules({ maximum_amount: 50_000 }),
  });
  await user.click(screen.getByRole('switch', { name: 'Email Notifications' }));
  await user.click(button('Save Changes'));
  await waitFor(() => expect(value('Maximum Disbursement Amount')).toBe('50,000'));
  expect(sent.map(({ body }) => body)).toMatchObject([
    { preferences: { notify_by_email: true }, rules: null },
  ]);
});

test('what is changed while the settings are saved stays, as a change that is not saved', async () => {
  const user = await open();
  const held = hold();
  const saved = {
    preferences: preferences({ notify_by_email: true, notify_by_sms: true }),
    rules: portalRules({ confirmation_required: false, retry_attempts: 1 }),
  };
  answer('put', SETTINGS, 200, saved, { until: held.back });
  const retries = screen.getByLabelText('Retry Attempts');
  await user.clear(retries);
  await user.type(retries, '1');
  await user.click(screen.getByRole('switch', { name: 'Require Confirmation' }));
  await user.click(screen.getByRole('switch', { name: 'Email Notifications' }));
  await user.click(button('Save Changes'));
  await user.type(retries, '0');
  await user.click(screen.getByRole('switch', { name: 'SMS Notifications' }));
  const shown = collectNotifications();
  held.release();
  await waitFor(() => expect(shown).toHaveLength(1));
  expect(screen.getByText('There are changes that are not saved.')).toBeVisible();
  const sent = answer('put', SETTINGS, 200, saved);
  await user.click(button('Save Changes'));
  await waitFor(() => expect(sent).toHaveLength(1));
  expect(sent[0]?.body).toMatchObject({
    preferences: { notify_by_email: true, notify_by_sms: false },
    rules: { confirmation_required: false, retry_attempts: 10 },
  });
});

test('the same amount is no change, with or without separators', async () => {
  const user = await open();
  const maximum = screen.getByLabelText('Maximum Disbursement Amount');
  await user.clear(maximum);
  await user.type(maximum, '250000');
  await user.tab();
  expect(maximum).toHaveValue('250,000');
  await user.clear(maximum);
  await user.type(maximum, '100000');
  await user.tab();
  expect(maximum).toHaveValue('100,000');
  expect(button('Save Changes')).toBeDisabled();
});

test('what is out of range is said at its field, and nothing is sent', async () => {
  const user = await open();
  await user.clear(screen.getByLabelText('Session Timeout (minutes)'));
  await user.type(screen.getByLabelText('Session Timeout (minutes)'), '481');
  await user.clear(screen.getByLabelText('Retry Attempts'));
  await user.type(screen.getByLabelText('Retry Attempts'), 'many');
  await user.click(button('Save Changes'));
  const minutes = screen.getByLabelText('Session Timeout (minutes)');
  expect(minutes).toHaveAccessibleDescription('Enter a number from 5 to 480.');
  await waitFor(() => expect(minutes).toHaveFocus());
  expect(screen.getByLabelText('Retry Attempts')).toHaveAccessibleDescription('Enter a number from 0 to 10.');
});

test('where the deployment allows only short sessions, and has a large maximum, both can be saved', async () => {
  const user = await open(portalRules({ session_minutes: 3, longest_session_minutes: 3 }));
  expect(screen.getByText('3 to 3, for sessions that open from now on.')).toBeVisible();
  const sent = answer('put', SETTINGS, 200, { preferences: preferences(), rules: portalRules() });
  await user.type(screen.getByLabelText('Maximum Disbursement Amount'), '1000000000');
  await user.click(button('Save Changes'));
  await waitFor(() => expect(sent).toHaveLength(1));
  expect(sent[0]?.body).toMatchObject({ rules: { session_minutes: 3, maximum_amount: 1_000_000_000 } });
});

test.for([
  ['session_minutes', 'Session Timeout (minutes)', 'This is out of range.'],
  ['maximum_amount', 'Maximum Disbursement Amount', 'This is out of range.'],
  ['retry_attempts', 'Retry Attempts', 'This is out of range.'],
  ['time_zone', 'Timezone', 'The portal does not know this time zone. Choose another one.'],
] as const)('a refusal of %s is said at its field until something changes', async ([field, label, text]) => {
  const user = await open();
  answer('put', SETTINGS, 422, failure('This is out of range.', 'invalid_request', field));
  await user.click(screen.getByRole('switch', { name: 'Require Confirmation' }));
  await user.click(button('Save Changes'));
  await waitFor(() => expect(screen.getByLabelText(label)).toHaveAccessibleDescription(text));
  await waitFor(() => expect(screen.getByLabelText(label)).toHaveFocus());
  expect(screen.queryByRole('alert')).toBeNull();
  expect(screen.getByRole('switch', { name: 'Require Confirmation' })).not.toBeChecked();
  await user.click(screen.getByRole('switch', { name: 'Email Notifications' }));
  expect(screen.queryByText(text)).toBeNull();
});

test('after a lost answer the focus is on the button, which sends the same again; after a save on the heading', async () => {
  const user = await open();
  unreachable('put', SETTINGS);
  await user.click(screen.getByRole('switch', { name: 'Require Confirmation' }));
  button('Save Changes').focus();
  await user.keyboard('{Enter}');
  expect(await screen.findByRole('alert')).toHaveTextContent('The settings could not be saved.');
  expect(button('Save Changes')).toHaveFocus();
  const sent = answer('put', SETTINGS, 200, { preferences: preferences(), rules: portalRules() });
  await user.keyboard('{Enter}');
  await waitFor(() => expect(screen.getByRole('heading', { level: 1 })).toHaveFocus());
  expect(screen.queryByRole('alert')).toBeNull();
  expect(button('Save Changes')).toBeDisabled();
  expect(sent[0]?.body).toMatchObject({ rules: { confirmation_required: false } });
});

test('a failure stays on the page, with what was typed', async () => {
  const user = await open();
  answer('put', SETTINGS, 403, failure('Only admins can do this.', 'role_not_allowed'));
  await user.clear(screen.getByLabelText('Retry Attempts'));
  await user.type(screen.getByLabelText('Retry Attempts'), '5');
  await user.click(button('Save Changes'));
  expect(await screen.findByRole('alert')).toHaveTextContent('Not savedOnly admins can do this.');
  expect(value('Retry Attempts')).toBe('5');
});

test('settings that can’t be read again keep what is being typed', async () => {
  const user = await open();
  await user.clear(screen.getByLabelText('Retry Attempts'));
  await user.type(screen.getByLabelText('Retry Attempts'), '5');
  unreachable('get', SETTINGS);
  await act(() => queryClient.invalidateQueries({ queryKey: queryKeys.settings }));
  expect(await screen.findByText('This could not be read again and may be out of date.')).toBeVisible();
  expect(value('Retry Attempts')).toBe('5');
  expect(screen.getByLabelText('Retry Attempts')).toHaveFocus();
});

test('an admin whose role was changed is refused once, and sees no settings any more', async () => {
  onTestFinished(followRefusals());
  const user = await open();
  answer('put', SETTINGS, 403, failure('Only admins can do this.', 'role_not_allowed'));
  answer('get', '/api/v1/auth/me', 200, currentUser({ role: 'agent' }));
  await user.click(screen.getByRole('switch', { name: 'Require Confirmation' }));
  await user.click(button('Save Changes'));
  expect(await screen.findByText('Settings are for admins')).toBeVisible();
});

test('changes outlast a session that ends, for the person who typed them alone', async () => {
  const reopenAs = (email: string) => {
    cleanup();
    session.signIn({ token: 'token-2', username: 'Achieng', email, role: 'admin' });
    return open();
  };
  const user = await open();
  await user.clear(screen.getByLabelText('Retry Attempts'));
  await user.type(screen.getByLabelText('Retry Attempts'), '5');
  await user.click(screen.getByRole('switch', { name: 'Email Notifications' }));
  act(() => session.expire());
  await reopenAs('other@mkopo.test');
  expect(value('Retry Attempts')).toBe('3');
  act(() => session.expire());
  await reopenAs('admin@mkopo.test');
  expect(value('Retry Attempts')).toBe('5');
  expect(screen.getByRole('switch', { name: 'Email Notifications' })).toBeChecked();
  expect(button('Save Changes')).toBeEnabled();
  act(() => session.clear());
  await reopenAs('admin@mkopo.test');
  expect(value('Retry Attempts')).toBe('3');
});

test('settings that can’t be read show the server’s text', async () => {
  answer('get', SETTINGS, 503, failure('The service is busy'));
  renderPart(<SettingsPage />);
  expect(await screen.findByRole('alert')).toHaveTextContent('The service is busy');
});

test.for(['agent', 'supervisor'] as const)('for an %s there are none', async (role) => {
  session.signIn({ token: 'token-2', username: 'Achieng', email: 'agent@mkopo.test', role });
  renderPart(<SettingsPage />);
  expect(await screen.findByText('Settings are for admins')).toBeVisible();
  expect(screen.queryByRole('button', { name: 'Save Changes' })).toBeNull();
});

test('with a provider that keeps no settings, the page is the specified one', async () => {
  answer('get', SETTINGS, 404, failure('Not found', 'not_found'));
  renderPart(<SettingsPage />);
  expect(await screen.findByText('Changes here are not saved yet')).toBeVisible();
});
