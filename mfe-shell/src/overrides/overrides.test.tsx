import { answer, provider, screen, waitFor, within } from 'mfe-kit/testing';
import { http, HttpResponse } from 'msw';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { goLive, heading, open, PORTAL, SHELL, slice, storeUser } from '../testing/portal';
import { loadBuild } from '../slices/federation';
import { overridePanel, overrides, refusals } from './is-overriding';
import { forgetSlice } from '../slices/load-slice';
import { readSliceList } from '../slices/slice-list';

const loans = slice('mfe-loans', { '/': 'Dashboard' });

function deploy(settings: { allow_override: boolean; slice_origins?: string[] }) {
  goLive([loans, slice('mfe-auth', { '/login': 'Sign in' })], settings);
  storeUser();
}

/** The page's address when the portal starts. */
function visit(address: string) {
  window.history.replaceState(null, '', address);
}

const loadedEntry = () => vi.mocked(loadBuild).mock.lastCall?.[1].entry;
const listedEntry = async () => (await readSliceList()).slices['mfe-loans']?.entry;

beforeEach(() => void vi.mocked(loadBuild).mockClear());

afterEach(() => {
  sessionStorage.clear();
  refusals.set([]);
  overridePanel.set(false);
  visit('/');
});

test.for([
  ['http://localhost:3002', 'http://localhost:3002/mf-manifest.json'],
  ['http://127.0.0.1:3002/', 'http://127.0.0.1:3002/mf-manifest.json'],
  ['https://loans.example.com/next/mf-manifest.json', 'https://loans.example.com/next/mf-manifest.json'],
  ['2.0.0-rc.1', 'http://portal.test/slices/mfe-loans/2.0.0-rc.1/mf-manifest.json'],
])('?slice=mfe-loans@%s asks for that build instead of the live one', async ([place, entry]) => {
  deploy({ allow_override: true, slice_origins: ['https://loans.example.com'] });
  visit(`/?search=kamau&slice=mfe-loans@${place}`);
  expect(await listedEntry()).toBe(entry);
  expect(window.location.search).toBe('?search=kamau');
});

/** Opens the portal with these overrides, and the panel. */
async function openPanel(...asked: string[]) {
  deploy({ allow_override: true });
  visit(`/?${asked.map((one) => `slice=${one}`).join('&')}`);
  await readSliceList();
  const portal = await open('/');
  await portal.click(await screen.findByRole('button', { name: 'Overrides' }));
  return { ...portal, panel: within(await screen.findByRole('dialog', { name: 'Slice overrides' })) };
}

/** Replaces the page's location; returns the mock of its `reload`. */
function stubReload() {
  const reload = vi.fn();
  vi.stubGlobal('location', {
    href: 'http://portal.test/',
    origin: 'http://portal.test',
    search: '',
    reload,
  });
  return reload;
}

test('an override is named on top of every page and stays for the tab', async () => {
  deploy({ allow_override: true });
  visit('/?slice=mfe-loans@http://localhost:3002');
  await readSliceList();
  await open('/');
  expect(await screen.findByText('Not the live build: mfe-loans')).toBeVisible();
  expect(await heading('Dashboard')).toBeVisible();
  expect(loadedEntry()).toBe('http://localhost:3002/mf-manifest.json');
  expect(await listedEntry()).toBe('http://localhost:3002/mf-manifest.json');
});

test('the panel lists each override, and ends one of several', async () => {
  const { panel, user } = await openPanel('mfe-loans@http://localhost:3002', 'mfe-auth@2.0.0');
  expect(panel.getAllByRole('listitem').map((item) => item.textContent)).toEqual([
    'mfe-loanshttp://localhost:3002End',
    'mfe-auth2.0.0End',
  ]);
  const reload = stubReload();
  await user.click(panel.getByRole('button', { name: 'End override of mfe-loans' }));
  expect(reload).toHaveBeenCalledOnce();
  expect(overrides()).toEqual({ 'mfe-auth': '2.0.0' });
});

test('the panel ends all overrides', async () => {
  const { panel, user } = await openPanel('mfe-loans@1.0.0', 'mfe-auth@2.0.0');
  const reload = stubReload();
  await user.click(panel.getByRole('button', { name: 'End all' }));
  expect(reload).toHaveBeenCalledOnce();
  expect(overrides()).toEqual({});
});

test('the panel adds an override by version, if the server has it, or by address', async () => {
  const { panel, user } = await openPanel('mfe-auth@2.0.0');
  const field = await panel.findByLabelText('Version or address');
  const add = async (place: string) => {
    await user.clear(field);
    await user.type(field, place);
    await user.click(panel.getByRole('button', { name: 'Add override' }));
  };
  provider.use(
    http.get(
      'http://portal.test/slices/mfe-loans/9.9.9/mf-manifest.json',
      () => new HttpResponse('', { status: 404 }),
    ),
    http.get('http://portal.test/slices/mfe-loans/1.3.0/mf-manifest.json', () => HttpResponse.json({})),
  );
  await add('9.9.9');
  expect(await panel.findByText('This portal has no version 9.9.9 of mfe-loans.')).toBeVisible();
  await add('https://evil.example.com');
  expect(await panel.findByText(/^It has to come from this portal/)).toBeVisible();
  expect(overrides()).toEqual({ 'mfe-auth': '2.0.0' });
  const reload = stubReload();
  await add('1.3.0');
  await waitFor(() => expect(reload).toHaveBeenCalledOnce());
  expect(overrides()).toEqual({ 'mfe-auth': '2.0.0', 'mfe-loans': '1.3.0' });
});

test('a build that fails to load offers the overrides in its place', async () => {
  vi.spyOn(console, 'warn').mockReturnValue();
  vi.spyOn(console, 'error').mockReturnValue();
  deploy({ allow_override: true });
  visit('/?slice=mfe-loans@9.9.9');
  await readSliceList();
  vi.mocked(loadBuild).mockRejectedValue(new Error('This version does not exist on the server'));
  await open('/');
  const page = within(await screen.findByRole('main'));
  expect(await page.findByText('mfe-loans 9.9.9')).toBeVisible();
  expect(page.getByRole('button', { name: 'Overrides' })).toBeVisible();
});

// S-3
test.for([
  ['a deployment that does not allow it', false, 'mfe-loans@http://localhost:3002'],
  ['an origin that the deployment does not allow', true, 'mfe-loans@https://evil.example.com'],
  ['an origin that only looks like it', true, 'mfe-loans@https://localhost.evil.example.com'],
  ['code in the address', true, 'mfe-loans@javascript:alert(1)'],
  ['no slice', true, 'http://localhost:3002'],
  ['a name with path parts', true, 'mfe-/../x@1.0.0'],
  ['no address', true, 'mfe-loans@nonsense'],
] as const)('%s is refused with a sentence, and the live build stays', async ([, allow_override, asked]) => {
  deploy({ allow_override });
  visit(`/?slice=${encodeURIComponent(asked)}`);
  expect(await listedEntry()).toBe('/slices/mfe-loans/1.2.3/mf-manifest.json');
  expect(refusals.get()).toEqual([expect.stringMatching(/ is not loaded: .+\.$/)]);
  expect(refusals.get()[0]?.startsWith(`${asked} is not loaded: `)).toBe(true);
  expect(sessionStorage).toHaveLength(0);
  expect(window.location.search).toBe('');
});

test('a refusal is said until it is dismissed, and the live build is loaded', async () => {
  deploy({ allow_override: false });
  visit('/?slice=mfe-loans@http://localhost:3002');
  await readSliceList();
  const { click } = await open('/');
  expect(await heading('Dashboard')).toBeVisible();
  expect(loadedEntry()).toBe('/slices/mfe-loans/1.2.3/mf-manifest.json');
  const refusal = await screen.findByText(/^mfe-loans@http:\/\/localhost:3002 is not loaded: /);
  await click(screen.getByRole('button', { name: 'Dismiss' }));
  expect(refusal).not.toBeInTheDocument();
});

test('an override ends when the deployment no longer allows overrides', async () => {
  deploy({ allow_override: true });
  visit('/?slice=mfe-loans@http://localhost:3002');
  await readSliceList();
  answer('get', '/slices.json', 200, { portal: PORTAL, shell: SHELL, slices: {} });
  forgetSlice('mfe-loans');
  expect((await readSliceList()).slices).toEqual({});
  expect(sessionStorage).toHaveLength(0);
});
