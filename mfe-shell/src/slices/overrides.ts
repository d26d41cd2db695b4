import { OVERRIDES, refusals } from './is-overriding';
import type { SliceList } from './slice-list';

type Overrides = Record<string, string>;

const SLICE_NAME = /^mfe-[a-z][a-z0-9-]*$/;
const VERSION = /^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/;
const OWN_MACHINE = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * Puts the builds that `?slice=name@address` asks for in the place of the live ones, for this tab,
 * until they are reset: an address where a build is served, or the version of one that is not live.
 * What the deployment does not allow is said and not done. `?slice=name@` gives the slice up.
 */
export function overridden(list: SliceList): SliceList {
  takeFromAddress(list);
  const slices = { ...list.slices };
  for (const [name, address] of Object.entries(overrides())) {
    slices[name] = {
      version: VERSION.test(address) ? address : 'override',
      entry: entryOf(name, address).href,
      integrity: '', // what is edited has none to be known by
      shell: '*',
      previous: null,
    };
  }
  return { ...list, slices };
}

/** What this tab loads in the place of live builds. */
export function overrides(): Overrides {
  return JSON.parse(sessionStorage.getItem(OVERRIDES) ?? '{}') as Overrides;
}

/** Gives all overrides up, and loads the page with the live builds. */
export function resetOverrides(): void {
  sessionStorage.removeItem(OVERRIDES);
  window.location.reload();
}

/** They are kept by the tab and not by the address, which people pass on. */
function takeFromAddress({ portal }: SliceList) {
  const address = new URL(window.location.href);
  const kept = overrides();
  for (const asked of address.searchParams.getAll('slice')) {
    const at = asked.indexOf('@');
    const [name, place] = [asked.slice(0, Math.max(at, 0)), asked.slice(at + 1)];
    const refusal = refusalOf(name, place, portal);
    if (refusal) refusals.push(`${asked} is not loaded: ${refusal}.`);
    else if (place) kept[name] = place;
    else Reflect.deleteProperty(kept, name);
  }
  if (Object.keys(kept).length > 0 && portal.allow_override)
    sessionStorage.setItem(OVERRIDES, JSON.stringify(kept));
  else sessionStorage.removeItem(OVERRIDES);
  if (!address.searchParams.has('slice')) return;
  address.searchParams.delete('slice');
  window.history.replaceState(window.history.state, '', address);
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
    : 'it has to come from this portal, your own machine, or an origin that this deployment names';
}

/** The manifest at an address, or of a version that this portal's server has. */
function entryOf(name: string, address: string): URL {
  if (VERSION.test(address))
    return new URL(`/slices/${name}/${address}/mf-manifest.json`, window.location.href);
  return new URL(address.endsWith('.json') ? address : `${address.replace(/\/$/, '')}/mf-manifest.json`);
}
