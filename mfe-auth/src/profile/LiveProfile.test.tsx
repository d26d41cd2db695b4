import { acts, queryClient, queryKeys, session, setPortalSettings } from 'mfe-kit';
import {
  answer,
  collectNotifications,
  failure,
  hold,
  preferences,
  profile,
  renderSlice,
  screen,
  signedIn,
  unreachable,
  waitFor,
  within,
} from 'mfe-kit/testing';
import { cleanup } from '@testing-library/react';
import { act } from 'react';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import slice from '../slice';

const PROFILE = '/api/v1/profile';
const PASSWORD = '/api/v1/profile/password';
const CODE = '/api/v1/profile/sign-in-code';
const SESSIONS = '/api/v1/sessions';
const PREFERENCES = '/api/v1/preferences';

const field = (label: string) => screen.getByLabelText<HTMLInputElement>(label);
const button = (name: string) => screen.getByRole('button', { name });

beforeEach(() => {
  setPortalSettings({ screens: 'live' });
  session.signIn(signedIn().user);
  answer('get', PREFERENCES, 200, preferences());
});

async function open(given = profile()) {
  answer('get', PROFILE, 200, given);
  const { user } = renderSlice(slice, '/profile');
  await screen.findByText('Last changed 2 Oct 2026');
  return user;
}

test('the profile is the person’s, as the server keeps it', async () => {
  await open();
  expect(field('First Name')).toHaveValue('Achieng');
  expect(field('Last Name')).toHaveValue('Otieno');
  expect(field('Phone Number')).toHaveValue('+254722000003');
  expect(field('Email Address')).toBeDisabled();
  await screen.findByRole('region', { name: 'Preferences' });
  expect(screen.getByRole('status')).toHaveTextContent('Agent');
  expect(screen.getByText('Account active since January 2026')).toBeVisible();
});

test('the name can be changed, without the password', async () => {
  const user = await open();
  const shown = collectNotifications();
  const changed = profile({ last_name: 'Odhiambo', name: 'Achieng Odhiambo' });
  const received = answer('put', PROFILE, 200, changed);
  await user.click(button('Edit Profile'));
  expect(field('First Name')).toHaveFocus();
  await user.clear(field('Last Name'));
  await user.type(field('Last Name'), 'Odhiambo');
  expect(screen.queryByLabelText('Current Password')).toBeNull();
  await user.click(button('Save Changes'));
  await waitFor(() => expect(button('Edit Profile')).toHaveFocus());
  expect(received[0]?.body).toEqual({
    first_name: 'Achieng',
    last_name: 'Odhiambo',
    phone_number: '+254722000003',
  });
  expect(screen.getByText('Achieng Odhiambo')).toBeVisible();
  expect(session.state.user?.name).toBe('Achieng Odhiambo');
  expect(shown.at(-1)?.message).toBe('Your profile is saved.');
});

/** Types another phone number into the form. */
async function changePhone(given?: Parameters<typeof open>[0]) {
  const user = await open(given);
  await user.click(button('Edit Profile'));
  await user.clear(field('Phone Number'));
  await user.type(field('Phone Number'), '0733 000 004');
  return user;
}

// S-65
test('a change of the phone number asks for the current password, and sends it', async () => {
  const user = await changePhone();
  const received = answer('put', PROFILE, 200, profile({ phone_number: '+254733000004' }));
  expect(field('Current Password')).toHaveAttribute('autocomplete', 'current-password');
  expect(field('Current Password')).toHaveAccessibleDescription(
    'Needed to change the phone number. For 24 hours, password reset codes still go to the previous number.',
  );
  await user.click(button('Save Changes'));
  expect(field('Current Password')).toBeInvalid();
  expect(received).toHaveLength(0);
  await user.type(field('Current Password'), 'Mkopo-demo-1{Enter}');
  await waitFor(() => expect(button('Edit Profile')).toHaveFocus());
  expect(received[0]?.body).toEqual({
    first_name: 'Achieng',
    last_name: 'Otieno',
    phone_number: '0733 000 004',
    current_password: 'Mkopo-demo-1',
  });
  expect(field('Phone Number')).toHaveValue('+254733000004');
  expect(screen.queryByLabelText('Current Password')).toBeNull();
});

test('the same phone number in another form, or put back, asks for no password and sends none', async () => {
  const user = await changePhone();
  const received = answer('put', PROFILE, 200, profile());
  await user.type(field('Current Password'), 'Mkopo-demo-1');
  await user.clear(field('Phone Number'));
  await user.type(field('Phone Number'), '\u202a0722-000 003\u202c');
  expect(screen.queryByLabelText('Current Password')).toBeNull();
  await user.click(button('Save Changes'));
  await waitFor(() => expect(button('Edit Profile')).toHaveFocus());
  expect(received[0]?.body).not.toHaveProperty('current_password');
  expect(received[0]?.body).toHaveProperty('phone_number', '0722-000 003');
});

test('a wrong current password is said at its field, and everything typed stays', async () => {
  const user = await changePhone();
  answer('put', PROFILE, 400, failure('Invalid password', 'invalid_password'));
  await user.type(field('Current Password'), 'Mkopo-demo-2{Enter}');
  await waitFor(() => expect(field('Current Password')).toHaveFocus());
  expect(field('Current Password')).toHaveAccessibleDescription('Incorrect password.');
  expect(field('Current Password')).toHaveValue('Mkopo-demo-2');
  expect(field('Phone Number')).toHaveValue('0733 000 004');
  expect(screen.queryByRole('alert')).toBeNull();
  await user.keyboard('x');
  expect(field('Current Password')).toBeValid();
});

test('too many wrong current passwords are a failure of the form', async () => {
  const user = await changePhone();
  answer('put', PROFILE, 429, failure('Too many tries. Wait 15 minutes.', 'too_many_tries'));
  await user.type(field('Current Password'), 'Mkopo-demo-2{Enter}');
  expect(await screen.findByRole('alert')).toHaveTextContent('Too many tries. Wait 15 minutes.');
  expect(field('Current Password')).toHaveValue('Mkopo-demo-2');
});

test('a phone number that was changed elsewhere asks for the password after all', async () => {
  const user = await open();
  answer('put', PROFILE, 422, failure('current_password is needed.', 'invalid_request', 'current_password'));
  await user.click(button('Edit Profile'));
  await user.keyboard('{Enter}');
  await waitFor(() => expect(field('Current Password')).toHaveFocus());
  expect(field('Current Password')).toHaveAccessibleDescription('Enter your current password.');
  const received = answer('put', PROFILE, 200, profile());
  await user.keyboard('Mkopo-demo-1{Enter}');
  await waitFor(() => expect(button('Edit Profile')).toHaveFocus());
  expect(received[0]?.body).toMatchObject({ current_password: 'Mkopo-demo-1' });
});

const BAD_NAME = 'Enter a name of 1 to 64 visible characters.';
const BAD_PHONE = 'Enter a Kenyan mobile number such as +254712345678.';
const TAKEN = 'Another account has this phone number.';

test.for([
  ['first_name', 'First Name', 'first_name must have 1 to 64 characters.', BAD_NAME],
  ['last_name', 'Last Name', 'last_name must have 1 to 64 characters.', BAD_NAME],
  ['phone_number', 'Phone Number', 'phone_number must be a Kenyan mobile number.', BAD_PHONE],
  ['phone_number', 'Phone Number', TAKEN, TAKEN],
] as const)('what is refused about %s is said at the field %s', async ([name, label, refusal, text]) => {
  const user = await changePhone();
  answer('put', PROFILE, 422, failure(refusal, 'invalid_request', name));
  await user.type(field('Current Password'), 'Mkopo-demo-1{Enter}');
  await waitFor(() => expect(field(label)).toHaveFocus());
  expect(field(label)).toBeInvalid();
  expect(field(label)).toHaveAccessibleDescription(text);
  expect(screen.queryByRole('alert')).toBeNull();
  await user.keyboard('x');
  expect(field(label)).not.toHaveAttribute('aria-invalid');
});

test('Cancel restores what was there, and a failure keeps what was typed', async () => {
  const user = await open();
  answer('put', PROFILE, 422, failure('This is not a Kenyan phone number.', 'invalid_request'));
  await user.click(button('Edit Profile'));
  await user.clear(field('Phone Number'));
  await user.type(field('Phone Number'), '12');
  await user.type(field('Current Password'), 'Mkopo-demo-1');
  await user.click(button('Save Changes'));
  expect(await screen.findByRole('alert')).toHaveTextContent('This is not a Kenyan phone number.');
  expect(field('Phone Number')).toHaveValue('12');
  await user.click(button('Cancel'));
  expect(field('Phone Number')).toHaveValue('+254722000003');
  expect(screen.queryByLabelText('Current Password')).toBeNull();
});

// S-65
test('Change Password asks for the old one, and for the new one twice', async () => {
  const user = await open();
  const received = answer('put', PASSWORD, 204, undefined);
  await user.click(button('Change Password'));
  const dialog = within(await screen.findByRole('dialog', { name: 'Change Password' }));
  await user.type(dialog.getByLabelText('Current Password'), 'Mkopo-demo-1');
  await user.type(dialog.getByLabelText('New Password'), 'Mkopo-demo-2');
  await user.type(dialog.getByLabelText('Confirm New Password'), 'Mkopo-demo-3');
  await user.click(dialog.getByRole('button', { name: 'Change Password' }));
  expect(dialog.getByLabelText('Confirm New Password')).toHaveAccessibleDescription('Passwords do not match');
  expect(received).toHaveLength(0);
  await user.clear(dialog.getByLabelText('Confirm New Password'));
  await user.type(dialog.getByLabelText('Confirm New Password'), 'Mkopo-demo-2');
  await user.click(dialog.getByRole('button', { name: 'Change Password' }));
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  expect(received[0]?.body).toEqual({
    current_password: 'Mkopo-demo-1',
    new_password: 'Mkopo-demo-2',
  });
});

test.for([
  ['invalid_password', 400, 'Current Password', 'Incorrect password.'],
  ['password_too_short', 422, 'New Password', 'Password must be at least 6 characters long.'],
  ['password_too_easy', 422, 'New Password', 'Password is too easy to guess.'],
] as const)('of a password, %s (%d) is said at the field %s, which has the focus', async (refusal) => {
  const [code, status, label, text] = refusal;
  const user = await open();
  answer('put', PASSWORD, status, failure(text, code));
  await user.click(button('Change Password'));
  const dialog = within(await screen.findByRole('dialog'));
  await user.type(dialog.getByLabelText('Current Password'), 'Mkopo-demo-1');
  await user.type(dialog.getByLabelText('New Password'), 'abc');
  await user.type(dialog.getByLabelText('Confirm New Password'), 'abc{Enter}');
  const field = dialog.getByLabelText(label);
  await waitFor(() => expect(field).toHaveFocus());
  expect(field).toBeInvalid();
  expect(field).toHaveAccessibleDescription(text);
  expect(dialog.queryByRole('alert')).toBeNull();
  await user.keyboard('x');
  expect(field).toBeValid();
});

test.for(['Change Password', 'Enable'])(
  'the dialog of %s tells password managers whose password it is',
  async (name) => {
    const user = await open();
    await user.click(button(name));
    const dialog = await screen.findByRole('dialog');
    expect(dialog.querySelector('[autocomplete="username"]')).toHaveValue(profile().email);
  },
);

// S-65
test('Enable turns sign-in codes on, with the password, and Disable turns them off', async () => {
  const user = await open();
  const received = answer('put', CODE, 200, profile({ sign_in_code_required: true }));
  await user.click(button('Enable'));
  const dialog = within(await screen.findByRole('dialog', { name: 'Enable Two-Factor Authentication' }));
  await user.type(dialog.getByLabelText('Password'), 'Mkopo-demo-1{Enter}');
  expect(await screen.findByText('On: a code by e-mail when you sign in')).toBeVisible();
  expect(received[0]?.body).toEqual({ required: true, password: 'Mkopo-demo-1' });
  expect(await screen.findByRole('button', { name: 'Disable', description: 'Two-Factor Authentication' }));
});

test('a wrong password for sign-in codes is said at its field until something is typed', async () => {
  const user = await open();
  answer('put', CODE, 400, failure('invalid password', 'invalid_password'));
  await user.click(button('Enable'));
  const password = within(await screen.findByRole('dialog')).getByLabelText('Password');
  await user.type(password, 'Mkopo-demo-2{Enter}');
  await waitFor(() => expect(password).toHaveAccessibleDescription('Incorrect password.'));
  await user.type(password, 'x');
  expect(password).toBeValid();
});

test('sign-in codes that nobody would get can’t be turned on, and the dialog says why', async () => {
  const user = await open();
  const sentence = 'Sign-in codes are sent by e-mail, and this service sends none.';
  answer('put', CODE, 422, failure(sentence, 'invalid_request', 'required'));
  await user.click(button('Enable'));
  const dialog = within(await screen.findByRole('dialog'));
  await user.type(dialog.getByLabelText('Password'), 'Mkopo-demo-1{Enter}');
  expect(await dialog.findByRole('alert')).toHaveTextContent(sentence);
  expect(dialog.getByLabelText('Password')).toBeValid();
});

test('a profile that can’t be read again keeps what is being typed', async () => {
  const user = await open();
  await user.click(button('Edit Profile'));
  await user.type(field('Last Name'), ' Odhiambo');
  unreachable('get', PROFILE);
  await act(() => queryClient.invalidateQueries({ queryKey: queryKeys.profile }));
  expect(await screen.findByText('This could not be read again and may be out of date.')).toBeVisible();
  expect(field('Last Name')).toHaveValue('Otieno Odhiambo');
  expect(field('Last Name')).toHaveFocus();
});

test('Manage lists the sessions, and ends another one', async () => {
  const user = await open();
  const own = {
    id: 'S-2',
    created_at: '2026-11-14T09:30:00.000Z',
    expires_at: '2026-11-14T17:30:00.000Z',
    address: '41.90.64.7',
    device: 'Chrome on Windows',
    is_current: true,
  };
  answer('get', SESSIONS, 200, [own, { ...own, id: 'S-1', device: null, address: null, is_current: false }]);
  const ended = answer('delete', '/api/v1/sessions/{id}', 204, undefined);
  await user.click(button('Manage'));
  const dialog = within(await screen.findByRole('dialog', { name: 'Login Sessions' }));
  const [current, other] = await dialog.findAllByRole('listitem');
  expect(current).toHaveTextContent(/^Chrome on Windows41\.90\.64\.7 · since 14 Nov 2026.*This session$/);
  expect(other).toHaveTextContent(/^Unknown devicesince 14 Nov 2026/);
  await user.click(dialog.getByRole('button', { name: 'End session', description: 'Unknown device' }));
  await waitFor(() => expect(dialog.getAllByRole('listitem')).toHaveLength(1));
  expect(ended.map(({ url }) => url.pathname)).toEqual(['/api/v1/sessions/S-1']);
  await user.click(dialog.getByRole('button', { name: 'Close' }));
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
});

test('sessions that can’t be read say so, and Retry reads them again', async () => {
  const user = await open();
  unreachable('get', SESSIONS);
  await user.click(button('Manage'));
  const dialog = within(await screen.findByRole('dialog', { name: 'Login Sessions' }));
  const retry = await dialog.findByRole('button', { name: 'Retry' });
  answer('get', SESSIONS, 200, []);
  const ended: string[] = [];
  onTestFinished(acts.record(({ name }) => ended.push(name)));
  await user.click(retry);
  expect(await dialog.findByRole('list', { name: 'Login Sessions' })).toBeInTheDocument();
  await waitFor(() => expect(ended).toEqual(['try again']));
});

test('sessions that can’t be read again stay listed', async () => {
  const user = await open();
  answer('get', SESSIONS, 200, []);
  await user.click(button('Manage'));
  const list = await screen.findByRole('list', { name: 'Login Sessions' });
  unreachable('get', SESSIONS);
  await act(() => queryClient.invalidateQueries({ queryKey: queryKeys.sessions }));
  expect(list).toBeInTheDocument();
});

test.for([
  ['Change Password', ['Current Password', 'New Password', 'Confirm New Password']],
  ['Enable', ['Password']],
] as const)('the answer to a closed dialog, %s, closes no other one', async ([opener, labels]) => {
  const user = await open();
  const shown = collectNotifications();
  const held = hold();
  answer('put', PASSWORD, 204, undefined, { until: held.back });
  answer('put', CODE, 200, profile({ sign_in_code_required: true }), { until: held.back });
  await user.click(button(opener));
  const dialog = within(await screen.findByRole('dialog'));
  for (const label of labels) await user.type(dialog.getByLabelText(label), 'Mkopo-demo-2');
  await user.keyboard('{Enter}');
  await user.keyboard('{Escape}');
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  answer('get', SESSIONS, 200, []);
  await user.click(button('Manage'));
  await screen.findByRole('list', { name: 'Login Sessions' });
  held.release();
  await waitFor(() => expect(shown).toHaveLength(1));
  expect(screen.getByRole('dialog', { name: 'Login Sessions' })).toBeVisible();
});

test('preferences that can’t be loaded say so', async () => {
  unreachable('get', PREFERENCES);
  await open();
  expect(await screen.findByRole('alert')).toHaveTextContent('Your preferences could not be loaded.');
});

test('a time zone that the portal does not know is said at its field until something changes', async () => {
  const user = await open();
  answer('put', '/api/v1/settings', 422, failure('time_zone is unknown.', 'invalid_request', 'time_zone'));
  await user.click(await screen.findByRole('button', { name: 'Save Preferences' }));
  await waitFor(() => expect(screen.getByLabelText('Timezone')).toHaveFocus());
  const text = 'The portal does not know this time zone. Choose another one.';
  expect(screen.getByLabelText('Timezone')).toHaveAccessibleDescription(text);
  expect(screen.queryByRole('alert')).toBeNull();
  await user.click(screen.getByRole('switch', { name: 'SMS Notifications' }));
  expect(screen.queryByText(text)).toBeNull();
});

test('preferences are for every role', async () => {
  const user = await open();
  const saved = { preferences: preferences({ notify_by_sms: true }), rules: null };
  const received = answer('put', '/api/v1/settings', 200, saved);
  const card = within(await screen.findByRole('region', { name: 'Preferences' }));
  await user.click(await card.findByRole('switch', { name: 'SMS Notifications' }));
  await user.click(card.getByRole('button', { name: 'Save Preferences' }));
  await waitFor(() =>
    expect(received[0]?.body).toEqual({
      preferences: {
        language: 'en',
        time_zone: null,
        notify_by_email: false,
        notify_by_sms: true,
      },
      rules: null,
    }),
  );
});

test('what is changed while the preferences are saved stays', async () => {
  const user = await open();
  const held = hold();
  const shown = collectNotifications();
  const saved = { preferences: preferences({ notify_by_sms: true }), rules: null };
  answer('put', '/api/v1/settings', 200, saved, { until: held.back });
  await user.click(await screen.findByRole('switch', { name: 'SMS Notifications' }));
  await user.click(button('Save Preferences'));
  await user.click(screen.getByRole('switch', { name: 'Email Notifications' }));
  held.release();
  await waitFor(() => expect(shown.at(-1)?.message).toBe('Your preferences are saved.'));
  for (const label of ['SMS Notifications', 'Email Notifications'])
    expect(screen.getByRole('switch', { name: label })).toBeChecked();
});

test('what is typed outlasts a session that ends, for the person who typed it alone, and no password does', async () => {
  const reopenAs = (email: string) => {
    cleanup();
    session.signIn(signedIn({ email }).user);
    return open();
  };
  const sms = () => screen.findByRole('switch', { name: 'SMS Notifications' });
  const user = await open();
  await user.click(await sms());
  await user.click(button('Edit Profile'));
  await user.type(field('Phone Number'), '9');
  await user.type(field('Current Password'), 'Mkopo-demo-1');
  act(() => session.expire());
  await reopenAs('other@mkopo.test');
  expect(field('First Name')).toBeDisabled();
  expect(await sms()).not.toBeChecked();
  act(() => session.expire());
  await reopenAs(signedIn().user.email);
  expect(field('Phone Number')).toHaveValue('+2547220000039');
  expect(field('Current Password')).toHaveValue('');
  expect(await sms()).toBeChecked();
});

test('a profile that can’t be loaded says so', async () => {
  unreachable('get', PROFILE);
  renderSlice(slice, '/profile');
  expect(await screen.findByRole('alert')).toHaveTextContent('Your profile could not be loaded.');
});

test('with a provider that keeps no profile, the page is the specified one', async () => {
  answer('get', PROFILE, 404, failure('Not found', 'not_found'));
  renderSlice(slice, '/profile');
  expect(await screen.findByLabelText('Full Name')).toHaveValue('Achieng Otieno');
});
