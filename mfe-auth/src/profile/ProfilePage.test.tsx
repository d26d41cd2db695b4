import { session } from 'mfe-kit';
import { renderSlice, screen, signedIn, within } from 'mfe-kit/testing';
import { beforeEach, expect, test, vi } from 'vitest';
import slice from '../slice';

const FIELDS = ['Full Name', 'Email Address', 'Phone Number'];

const field = (label: string) => screen.getByLabelText(label);
const button = (name: string) => screen.getByRole('button', { name });

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-11-14T09:00:00+03:00') });
});

async function open(stored?: object) {
  if (stored) localStorage.setItem('user', JSON.stringify(stored));
  else session.signIn(signedIn().user);
  session.start();
  const { router, user } = renderSlice(slice, '/profile');
  await screen.findByRole('heading', { level: 1, name: 'My Profile' });
  return { router, user };
}

test('REQ-334..339 it shows the signed-in user in view mode', async () => {
  await open();
  expect(document.title).toBe('My Profile · Mkopo');
  const main = screen.getByText('Account active since November 2026').parentElement!;
  expect(within(main).getByText('Achieng')).toBeVisible();
  expect(within(main).getByText('agent@mkopo.test')).toBeVisible();
  expect(main.querySelector('img')?.src).toMatch(/^data:image\/svg/);
  expect(FIELDS.map((label) => (field(label) as HTMLInputElement).value)).toEqual([
    'Achieng',
    'agent@mkopo.test',
    '+254 700 000 000',
  ]);
  for (const label of FIELDS) expect(field(label)).toBeDisabled();
  expect(screen.getByRole('status')).toHaveTextContent('admin');
  expect(button('Edit Profile')).toBeEnabled();
});

test('REQ-335 REQ-339 REQ-011 a stored user without a name, role or picture', async () => {
  await open({ id: 1 });
  expect(screen.getByText('User')).toBeVisible();
  expect(screen.getByRole('status')).toHaveTextContent('user');
  expect(field('Full Name')).toHaveValue('');
  expect(field('Email Address')).toHaveValue('');
});

test('REQ-011 the name is preferred to the username', async () => {
  await open({ id: 1, name: 'Achieng Otieno', username: 'Achieng', role: 'agent' });
  expect(screen.getByText('Achieng Otieno')).toBeVisible();
  expect(field('Full Name')).toHaveValue('Achieng Otieno');
  expect(screen.getByRole('status')).toHaveTextContent('agent');
});

test('REQ-340 Cancel leaves edit mode and restores the values', async () => {
  const { user } = await open();
  await user.click(button('Edit Profile'));
  expect(field('Full Name')).toHaveFocus();
  await user.keyboard(' Otieno');
  expect(field('Full Name')).toHaveValue('Achieng Otieno');
  await user.click(button('Cancel'));
  expect(field('Full Name')).toHaveValue('Achieng');
  for (const label of FIELDS) expect(field(label)).toBeDisabled();
  expect(button('Edit Profile')).toHaveFocus();
});

// S-65
test('REQ-341 REQ-345 REQ-373 submit keeps the values on this page, and stores and sends nothing', async () => {
  const { user } = await open();
  const call = vi.spyOn(window, 'fetch');
  const stored = JSON.stringify(Object.entries(localStorage));
  await user.click(button('Edit Profile'));
  await user.clear(field('Full Name'));
  await user.clear(field('Email Address'));
  await user.type(field('Email Address'), 'not an address');
  await user.clear(field('Phone Number'));
  await user.keyboard('{Enter}');
  for (const label of FIELDS) expect(field(label)).toBeDisabled();
  expect(FIELDS.map((label) => (field(label) as HTMLInputElement).value)).toEqual(['', 'not an address', '']);
  expect(button('Edit Profile')).toHaveFocus();
  expect(JSON.stringify(Object.entries(localStorage))).toBe(stored);
  expect(call).not.toHaveBeenCalled();
});

test.for([
  ['REQ-342', 'Password', 'Last changed 14 Nov 2026', 'Change Password'],
  ['REQ-343', 'Two-Factor Authentication', '', 'Enable'],
  ['REQ-344', 'Login Sessions', '', 'Manage'],
] as const)('%s the row %s has a button without behaviour', async ([, title, text, act]) => {
  const { router, user } = await open();
  const card = screen.getByRole('region', { name: 'Security Settings' });
  expect(within(card).getByText(text || title)).toBeVisible();
  const before = document.body.innerHTML;
  await user.click(within(card).getByRole('button', { name: act, description: title }));
  expect(document.body.innerHTML).toBe(before);
  expect(router.state.location.pathname).toBe('/profile');
});
