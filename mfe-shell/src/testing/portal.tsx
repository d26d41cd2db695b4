import { act, render } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { type Schema, session, type SessionUser, setPortalSettings, type Slice } from 'mfe-kit';
import { answer, currentUser, screen } from 'mfe-kit/testing';
import type { ReactNode } from 'react';
import { createMemoryRouter, type InitialEntry, RouterProvider } from 'react-router';
import { vi } from 'vitest';
import { followScreens, forgetReadsOfLeft } from '../navigation/follow-screens';
import { portalRoutes } from '../router';
import { setBrought } from '../slices/brought';
import { loadBuild } from '../slices/federation';
import { forgetSlice } from '../slices/load-slice';
import { isStoryTold } from '../story/is-story-told';

/** The shell that is live. */
export const SHELL = { version: '0.1.0', kit: '0.1.0', build: 'a1b2c3' };

/** The settings of an ordinary deployment. */
export const PORTAL: Schema<'LiveSlices'>['portal'] = {
  brand: 'Mkopo',
  product: 'Mkopo',
  time_zone: 'Africa/Nairobi',
  demo: false,
  allow_override: false,
  slice_origins: [],
};

type Live = Schema<'LiveSlices'>['slices'][string];

const roles: Live['menu'][number]['roles'] = ['admin', 'agent', 'supervisor'];

/** The menu entries that the portal's own slices bring. */
const MENU: Record<string, Live['menu']> = {
  'mfe-loans': [
    { label: 'Dashboard', to: '/', icon: 'home', position: 10, roles },
    { label: 'Pending Loans', to: '/pending-loans', icon: 'clock', position: 20, roles, below: '/loans/*' },
  ],
  'mfe-transactions': [{ label: 'Transactions', to: '/transactions', icon: 'transfer', position: 30, roles }],
};

/** The screens that they bring; what is tested may have others, too. */
const SCREENS: Record<string, string[]> = {
  'mfe-auth': ['/login', '/password-reset', '/profile'],
  'mfe-loans': ['/', '/pending-loans', '/loans/:id'],
  'mfe-transactions': ['/transactions', '/reports'],
};

const PUBLIC = ['/login', '/password-reset'];

/** The live build of a slice, as `slices.json` has it. */
export const build = (name: string, paths: string[] = [], change: Partial<Live> = {}): Live => ({
  version: '1.2.3',
  entry: `/slices/${name}/1.2.3/mf-manifest.json`,
  integrity: 'sha384-x',
  shell: '^0.1.0',
  screens: [...new Set([...(SCREENS[name] ?? []), ...paths])].map((path) => ({
    path,
    title: `Title of ${path}`,
    ...(PUBLIC.includes(path) ? { public: true } : {}),
  })),
  menu: MENU[name] ?? [],
  failures: {},
  previous: null,
  ...change,
});

/** A slice that shows a heading, or what is given, at each path. */
export function slice(name: string, screens: Record<string, ReactNode>): Slice {
  return {
    name,
    version: '1.2.3',
    routes: Object.entries(screens).map(([path, shown]) => ({
      path,
      element: typeof shown === 'string' ? <h1>{shown}</h1> : shown,
    })),
  };
}

/** Makes these slices live. */
export function goLive(
  slices: Slice[] = [
    slice('mfe-auth', {
      '/login': 'Sign in',
      '/password-reset': 'Enter your email',
      '/profile': 'My Profile',
    }),
    slice('mfe-loans', {
      '/': 'Dashboard',
      '/pending-loans': 'Pending Disbursements',
      '/loans/:id': 'Loan Details',
    }),
    slice('mfe-transactions', { '/transactions': 'Transaction History', '/reports': 'Reports' }),
  ],
  settings: Partial<Schema<'LiveSlices'>['portal']> = {},
): void {
  const portal = { ...PORTAL, ...settings };
  const list = {
    portal,
    shell: SHELL,
    slices: Object.fromEntries(
      slices.map(({ name, routes }) => [
        name,
        build(
          name,
          routes.map(({ path = '' }) => path),
        ),
      ]),
    ),
  };
  for (const { name } of slices) {
    answer('get', '/slices.json', 200, list);
    forgetSlice(name);
  }
  window.__SLICES__ = Promise.resolve(list);
  setPortalSettings(portal);
  isStoryTold.set(portal.story === true);
  setBrought(list);
  vi.mocked(loadBuild).mockImplementation((name) => {
    const live = slices.find((candidate) => candidate.name === name);
    return live ? Promise.resolve(live) : Promise.reject(new Error('HTTP 404'));
  });
}

/** Stores a user as an earlier sign-in would have, and answers the provider's call for the current user. */
export function storeUser(user: Partial<SessionUser> = {}): void {
  localStorage.setItem('auth_token', 'token-1');
  localStorage.setItem(
    'user',
    JSON.stringify({ id: 1, username: 'Achieng', email: 'agent@mkopo.test', role: 'admin', ...user }),
  );
  answer('get', '/api/v1/auth/me', 200, currentUser());
}

/** Opens the portal at an address, as a page load would. */
export async function open(address: InitialEntry) {
  session.start();
  const router = createMemoryRouter(portalRoutes(), { initialEntries: [address] });
  forgetReadsOfLeft(router);
  followScreens(router);
  await act(async () => {
    render(<RouterProvider router={router} />);
    await Promise.resolve();
  });
  const user = userEvent.setup();
  /** A click that opens another page, which may suspend. */
  const click = (element: Element) => act(() => user.click(element));
  return { router, user, click };
}

/** Opens the dashboard, and waits until it is drawn. */
export async function openDashboard() {
  const portal = await open('/');
  await heading('Dashboard');
  return portal;
}

/** The page's heading, once it is drawn. */
export const heading = (name: string): Promise<HTMLElement> =>
  screen.findByRole('heading', { level: 1, name });
