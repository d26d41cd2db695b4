import type { SliceList } from '../live-slices';
import { tabStorage } from '../tab-storage';
import { OVERRIDES, overrides, refusals } from './is-overriding';

const SLICE_NAME = /^mfe-[a-z][a-z0-9-]*$/;
const VERSION = /^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/;
const OWN_MACHINE = new Set(['localhost', '127.0.0.1', '[::1]']);

/** The list with this tab's overrides in place of the live builds. */
export async function withOverrides(list: SliceList): Promise<SliceList> {
  const slices = { ...list.slices };
  const added = Object.entries(overrides()).map(async ([name, place]) => {
    const entry = entryOf(name, place).href;
    const { screens, menu, failures } = (await broughtBy(entry)) ?? list.slices[name] ?? NOTHING;
    slices[name] = {
      version: VERSION.test(place) ? place : 'override',
      entry,
      integrity: '', // a build that is being edited has no known digest
      shell: '*',
      screens,
      menu,
      failures,
      previous: null,
    };
  });
  await Promise.all(added);
  return { ...list, slices };
}

/**
 * The screens, menu entries and advice for failures that the build at an address brings; `null` if it names
 * none or can't be read, which is reported when it is loaded.
 */
async function broughtBy(entry: string): Promise<Brings | null> {
  try {
    const { brings } = (await (await fetch(entry)).json()) as { brings?: Brings };
    return brings ?? null;
  } catch {
    return null;
  }
}

type Brings = Pick<SliceList['slices'][string], 'screens' | 'menu' | 'failures'>;

const NOTHING: Brings = { screens: [], menu: [], failures: {} };

/** Loads another build of a slice in this tab from now on; returns a sentence where that is refused. */
export function setOverride(name: string, place: string, portal: SliceList['portal']): string | null {
  const refusal = place ? refusalOf(name, place, portal) : 'give a version or an address';
  if (!refusal) store({ ...overrides(), [name]: place });
  return refusal;
}

/** Loads a slice's live build again from now on. */
export function endOverride(name: string): void {
  const kept = overrides();
  Reflect.deleteProperty(kept, name);
  store(kept);
}

/**
 * Moves the overrides that `?slice=name@place` asks for from the address to the tab's storage, because
 * people pass addresses on. A place is an address that serves a build, or the version of a published
 * one; an empty place ends the override. Those that the deployment does not allow are noted in `refusals`.
 */
export function storeOverridesOfAddress(portal: SliceList['portal']): void {
  const address = new URL(window.location.href);
  const kept = overrides();
  for (const asked of address.searchParams.getAll('slice')) {
    const at = asked.indexOf('@');
    const [name, place] = [asked.slice(0, Math.max(at, 0)), asked.slice(at + 1)];
    const refusal = refusalOf(name, place, portal);
    if (refusal) refusals.set([...refusals.get(), `${asked} is not loaded: ${refusal}.`]);
    else if (place) kept[name] = place;
    else Reflect.deleteProperty(kept, name);
  }
  store(portal.allow_override ? kept : {});
  if (!address.searchParams.has('slice')) return;
  address.searchParams.delete('slice');
  window.history.replaceState(window.history.state, '', address);
}

function store(kept: Record<string, string>) {
  // Without room in the storage, the live builds are loaded.
  tabStorage.write(OVERRIDES, Object.keys(kept).length > 0 ? kept : null);
}

function refusalOf(name: string, place: string, portal: SliceList['portal']): string | null {
  if (!portal.allow_override) return 'this portal loads its live slices only';
  if (!SLICE_NAME.test(name)) return 'say which slice, as in ?slice=mfe-loans@http://localhost:3002';
  if (place === '' || VERSION.test(place)) return null;
  const entry = URL.canParse(place) ? entryOf(name, place) : null;
  const isKnown =
    entry &&
    (entry.origin === window.location.origin ||
      OWN_MACHINE.has(entry.hostname) ||
      portal.slice_origins.includes(entry.origin));
  return isKnown
    ? null
    : 'it has to come from this portal, your own machine, or an origin that this deployment allows';
}

/** The manifest at an address, or of a version on this portal's server. */
export function entryOf(name: string, address: string): URL {
  if (VERSION.test(address))
    return new URL(`/slices/${name}/${address}/mf-manifest.json`, window.location.href);
  return new URL(address.endsWith('.json') ? address : `${address.replace(/\/$/, '')}/mf-manifest.json`);
}
