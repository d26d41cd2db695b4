import type { SliceBuild } from '../live-slices';
import { tabStorage } from '../tab-storage';
import { CHANGED, integrities, REFUSED, refused } from './integrity';

/** Timeout for reading a file to find out whether it changed, in milliseconds. */
const PATIENCE_MS = 3000;

/** The runtime's own codes, in words for the person in front of the page. */
const REASONS: Record<string, string> = {
  'RUNTIME-001': 'Its code does not define a slice',
  'RUNTIME-003': 'Its manifest could not be loaded, or is not the published one',
  'RUNTIME-008': 'Its code could not be loaded',
  'RUNTIME-013': 'Its manifest is not valid',
};

/** Why a build could not be loaded, given the files that it starts with. */
export async function reasonFor(error: unknown, files: readonly string[]): Promise<string> {
  const changed = await Promise.all(files.map(isChanged));
  if (changed.includes(true)) return CHANGED;
  const text = error instanceof Error ? error.message : String(error);
  const code = Object.keys(REASONS).find((known) => text.includes(known));
  return (code && REASONS[code]) || (text.split('\n')[0] ?? '');
}

/** Returns whether the file at an address can be read, but is not the one that its manifest names. */
async function isChanged(address: string): Promise<boolean> {
  const integrity = integrities.get(address);
  if (!integrity) return false;
  const signal = AbortSignal.timeout(PATIENCE_MS);
  const isRead = (init: RequestInit) =>
    fetch(address, { ...init, cache: 'no-cache', signal }).then(
      ({ ok }) => ok,
      () => false,
    );
  const [isPublished, isThere] = await Promise.all([isRead({ integrity }), isRead({})]);
  return isThere && !isPublished;
}

/**
 * Refuses a build if a file that a screen did not get is not the published one: from the next load of the
 * page on, the tab uses the slice's previous build. Returns whether the build is refused.
 */
export async function refuseChanged(name: string, build: SliceBuild, address: string): Promise<boolean> {
  if (!(await isChanged(address))) return false;
  // Without room in the storage, the next load would find the same build.
  return tabStorage.write(REFUSED, { ...refused(), [name]: build.integrity });
}
