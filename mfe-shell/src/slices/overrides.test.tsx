import { answer, screen, within } from 'mfe-kit/testing';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { goLive, heading, open, PORTAL, SHELL, slice, storeUser } from '../testing/portal';
import { loadBuild } from './federation';
import { refusals } from './is-overriding';
import { forgetSlice } from './load-slice';
import { readSliceList } from './slice-list';

vi.mock('./federation', () => ({ loadBuild: vi.fn(), WrongShell: class extends Error {} }));

const loans = slice('mfe-loans', { '/': 'Dashboard' });

function deploy(settings: { allow_override: boolean; slice_origins?: string[] }) {
  goLive([loans], settings);
  storeUser();
}

/** The page's address when the portal starts. */
function visit(address: string) {
  window.history.replaceState(null, '', address);
}

const loadedEntry = () => vi.mocked(loadBuild).mock.lastCall?.[1].entry;

beforeEach(() => void vi.mocked(loadBuild).mockClear());

afterEach(() => {
  sessionStorage.clear();
  refusals.length = 0;
  visit('/');
});

test.for([
  ['http://localhost:3002', 'http://localhost:3002/mf-manifest.json'],
  ['http://127.0.0.1:3002/', 'http://127.0.0.1:3002/mf-manifest.json'],
  ['https://loans.example.com/next/mf-manifest.json', 'https://loans.example.com/next/mf-manifest.json'],
  ['2.0.0-rc.1', 'http://portal.test/slices/mfe-loans/2.0.0-rc.1/mf-manifest.json'],
])('?slice=mfe-loans@%s loads that build instead of the live one', async ([place, entry]) => {
  deploy({ allow_override: true, slice_origins: ['https://loans.example.com'] });
  visit(`/?search=kamau&slice=mfe-loans@${place}`);
  await readSliceList();
  await open('/');
  expect(await heading('Dashboard')).toBeVisible();
  expect(loadedEntry()).toBe(entry);
  expect(window.location.search).toBe('?search=kamau');
});

test('it is shown on the page, stays for the tab, and ends with Reset', async () => {
  deploy({ allow_override: true });
  visit('/?slice=mfe-loans@http://localhost:3002');
  await readSliceList();
  const { click } = await open('/');
  const badge = await screen.findByRole('complementary', { name: 'Slice override' });
  expect(within(badge).getByText('mfe-loans')).toBeVisible();
  expect(badge).toHaveTextContent('from http://localhost:3002');

  const later = await readSliceList();
  expect(later.slices['mfe-loans']?.entry).toBe('http://localhost:3002/mf-manifest.json');

  const reload = vi.fn();
  vi.stubGlobal('location', { reload });
  await click(within(badge).getByRole('button', { name: 'Reset' }));
  vi.unstubAllGlobals();
  expect((await readSliceList()).slices['mfe-loans']?.entry).toBe('/slices/mfe-loans/1.2.3/mf-manifest.json');
});

test.for([
  ['a deployment that does not allow it', false, 'mfe-loans@http://localhost:3002'],
  ['an origin that the deployment does not allow', true, 'mfe-loans@https://evil.example.com'],
  ['an origin that only looks like it', true, 'mfe-loans@https://localhost.evil.example.com'],
  ['code in the address', true, 'mfe-loans@javascript:alert(1)'],
  ['no slice', true, 'http://localhost:3002'],
  ['a name with path parts', true, 'mfe-/../x@1.0.0'],
  ['no address', true, 'mfe-loans@nonsense'],
] as const)(
  '%s is refused with a sentence, and the live build is loaded',
  async ([, allow_override, asked]) => {
    deploy({ allow_override });
    visit(`/?slice=${encodeURIComponent(asked)}`);
    await readSliceList();
    const { click } = await open('/');
    expect(await heading('Dashboard')).toBeVisible();
    expect(loadedEntry()).toBe('/slices/mfe-loans/1.2.3/mf-manifest.json');
    const badge = await screen.findByRole('complementary', { name: 'Slice override' });
    expect(within(badge).getByRole('alert')).toHaveTextContent(`${asked} is not loaded: `);
    expect(sessionStorage).toHaveLength(0);
    expect(window.location.search).toBe('');
    await click(screen.getByRole('button', { name: 'Dismiss' }));
    expect(badge).not.toBeInTheDocument();
  },
);

test('an override ends when the deployment no longer allows overrides', async () => {
  deploy({ allow_override: true });
  visit('/?slice=mfe-loans@http://localhost:3002');
  await readSliceList();
  answer('get', '/slices.json', 200, { portal: PORTAL, shell: SHELL, slices: {} });
  forgetSlice('mfe-loans');
  expect((await readSliceList()).slices).toEqual({});
  expect(sessionStorage).toHaveLength(0);
});
