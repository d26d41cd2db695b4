import { answer, currentUser, notifications, screen, within } from 'mfe-kit/testing';
import { beforeEach, expect, test } from 'vitest';
import { goLive, heading, open, openDashboard, slice, storeUser } from '../testing/portal';

beforeEach(() => goLive());

const entries = () =>
  within(screen.getByRole('navigation', { name: 'Main' }))
    .queryAllByRole('link')
    .map((link) => [link.textContent, link.getAttribute('href')]);

const EVERYONES = [
  ['Dashboard', '/'],
  ['Pending Loans', '/pending-loans'],
  ['Transactions', '/transactions'],
];

test.for([
  ['admin', [...EVERYONES, ['Settings', '/settings']]],
  ['agent', EVERYONES],
  ['supervisor', EVERYONES],
  ['auditor', []],
] as const)('REQ-040..046 REQ-076 the sidebar of an %s has its entries', async ([role, expected]) => {
  storeUser({ role: role as 'admin' });
  await openDashboard();
  expect(entries()).toEqual(expected);
});

test('REQ-047 the sidebar ends with "User" where there is no name', async () => {
  storeUser({ username: undefined });
  await open('/');
  expect(within(await screen.findByRole('complementary')).getByText('User')).toBeVisible();
});

test('the current page is marked, and the entry above it', async () => {
  storeUser();
  const { click } = await open('/loans/LN-1');
  await heading('Loan Details');
  const pending = screen.getByRole('link', { name: 'Pending Loans' });
  expect(pending).toHaveAttribute('aria-current', 'true');
  await click(pending);
  expect(pending).toHaveAttribute('aria-current', 'page');
  expect(screen.getByRole('link', { name: 'Dashboard' })).not.toHaveAttribute('aria-current');
});

test('REQ-033 REQ-034 REQ-047 REQ-049 the layout has header, sidebar, content and footer with year and brand', async () => {
  storeUser();
  await openDashboard();
  for (const role of ['banner', 'complementary', 'main']) expect(screen.getByRole(role)).toBeVisible();
  expect(within(screen.getByRole('complementary')).getByText('Achieng')).toBeVisible();
  expect(screen.getByRole('contentinfo')).toHaveTextContent(`© ${new Date().getFullYear()} Mkopo`);
  expect(within(screen.getByRole('banner')).getByRole('link', { name: 'Mkopo' })).toHaveAttribute(
    'href',
    '/',
  );
});

test('REQ-006 the brand is the deployment’s', async () => {
  goLive([slice('mfe-loans', { '/': 'Dashboard' })], { brand: 'Pesa Bora' });
  storeUser();
  await openDashboard();
  expect(screen.getByRole('link', { name: 'Pesa Bora' })).toBeVisible();
  expect(screen.getByRole('contentinfo')).toHaveTextContent('Pesa Bora');
});

test('REQ-036..038 REQ-048 the menu button opens the drawer; its button, a click outside and a link close it', async () => {
  storeUser();
  const { user, click } = await openDashboard();
  const drawer = () => screen.queryByRole('dialog', { name: 'Menu' });
  const menu = screen.getByRole('button', { name: 'Open menu' });
  expect(drawer()).toBeNull();

  await user.click(menu);
  expect(within(drawer()!).getByText('Achieng')).toBeVisible();
  await user.click(within(drawer()!).getByRole('button', { name: 'Close menu' }));
  expect(drawer()).toBeNull();

  await user.click(menu);
  await user.click(within(drawer()!).getByText('Achieng'));
  await user.click(drawer()!);
  expect(drawer()).toBeNull();

  await user.click(menu);
  await click(within(drawer()!).getByRole('link', { name: 'Transactions' }));
  expect(await heading('Transaction History')).toHaveFocus();
  expect(drawer()).toBeNull();
});

test('REQ-051..053 the bell shows 2, its two samples, and a button that does nothing', async () => {
  storeUser();
  const { router, user } = await openDashboard();
  const bell = screen.getByRole('button', { name: 'Notifications, 2 unread' });
  expect(screen.getByText('2')).toBeVisible();
  await user.click(bell);
  const panel = screen.getByRole('region', { name: 'Notifications' });
  expect(within(panel).getAllByRole('listitem')).toHaveLength(2);
  await user.click(within(panel).getByRole('button', { name: 'View all notifications' }));
  expect(panel).toBeVisible();
  expect(router.state.location.pathname).toBe('/');
  await user.keyboard('{Escape}');
  expect(screen.queryByRole('region', { name: 'Notifications' })).toBeNull();
  expect(bell).toHaveFocus();
});

test('REQ-054..057 the user menu has name, e-mail, and three entries that work with arrows and letters', async () => {
  storeUser({ role: 'agent' });
  const { user } = await openDashboard();
  const button = screen.getByRole('button', { name: 'Account of Achieng' });
  // WCAG 2.5.3: the name contains the visible text.
  expect(button.textContent).toBe('Achieng');
  await user.tab();
  button.focus();
  await user.keyboard('{ArrowDown}');
  expect(screen.getByText('agent@mkopo.test')).toBeVisible();
  const [profile, settings, logout] = screen.getAllByRole('menuitem');
  expect(profile).toHaveAttribute('href', '/profile');
  expect(settings).toHaveAttribute('href', '/settings');
  expect(logout).toHaveTextContent('Logout');

  expect(profile).toHaveFocus();
  await user.keyboard('{ArrowUp}');
  expect(logout).toHaveFocus();
  await user.keyboard('{ArrowDown}{ArrowDown}');
  expect(settings).toHaveFocus();
  await user.keyboard('{End}');
  expect(logout).toHaveFocus();
  await user.keyboard('{Home}');
  expect(profile).toHaveFocus();
  await user.keyboard('s');
  expect(settings).toHaveFocus();
  await user.keyboard('{Escape}');
  expect(screen.queryByRole('menu')).toBeNull();
  expect(button).toHaveFocus();
  await user.keyboard('{ArrowUp}');
  expect(screen.getByRole('menuitem', { name: 'Logout' })).toHaveFocus();
});

test('REQ-005 REQ-050 REQ-167..170 the theme button switches the theme and stores it', async () => {
  storeUser();
  const { user } = await openDashboard();
  await user.click(screen.getByRole('button', { name: 'Switch to dark theme' }));
  expect(document.documentElement).toHaveClass('dark');
  expect(localStorage.getItem('theme')).toBe('dark');
  await user.click(screen.getByRole('button', { name: 'Switch to light theme' }));
  expect(document.documentElement).not.toHaveClass('dark');
  expect(localStorage.getItem('theme')).toBe('light');
});

test('the first Tab offers to skip to the content, without another address', async () => {
  storeUser();
  const { router, user } = await open('/?page=2');
  await heading('Dashboard');
  await user.tab();
  expect(screen.getByRole('link', { name: 'Skip to content' })).toHaveFocus();
  await user.keyboard('{Enter}');
  expect(screen.getByRole('main')).toHaveFocus();
  expect(router.state.location).toMatchObject({ search: '?page=2', hash: '' });
});

test.for([
  ['admin', ['Profile', 'Settings', 'Logout']],
  ['agent', ['Profile', 'Logout']],
] as const)('where the screens are live, the menu of an %s has its entries', async ([role, expected]) => {
  goLive(undefined, { screens: 'live' });
  storeUser({ role });
  answer('get', '/api/v1/notifications', 200, notifications());
  answer('get', '/api/v1/auth/me', 200, currentUser({ role }));
  const { user } = await openDashboard();
  await user.click(await screen.findByRole('button', { name: 'Account of Achieng Otieno' }));
  expect(screen.getAllByRole('menuitem').map(({ textContent }) => textContent)).toEqual(expected);
  expect(screen.getByRole('link', { name: 'Reports' })).toHaveAttribute('href', '/reports');
});
