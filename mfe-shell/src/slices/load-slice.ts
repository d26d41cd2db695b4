import type { Slice } from 'mfe-kit';
import { matchRoutes } from 'react-router';
import { loadBuild } from './federation';
import { askForSliceList, readSliceList, type SliceBuild } from './slice-list';

/** Milliseconds before each further try. */
const BACK_OFF_MS = [300, 900];

const slices = new Map<string, Promise<Slice>>();
const finds = new Map<string, Promise<Slice | null>>();

/** A slice that no build of could be loaded. */
export class SliceFailure extends Error {
  override readonly name = 'SliceFailure';
  readonly slice: string;
  readonly version: string;

  constructor(slice: string, version: string, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.slice = slice;
    this.version = version;
  }
}

/**
 * The slice of that name: its live build, tried again with growing pauses, else the build that was
 * live before it. The promise is the same until `forgetSlice`; it rejects with `SliceFailure`.
 */
export function loadSlice(name: string): Promise<Slice> {
  return remembered(slices, name, load);
}

/** The slice with a route for an address that none is known to own; `null` when none has. */
export function findSlice(pathname: string): Promise<Slice | null> {
  return remembered(finds, pathname, find);
}

/** Makes the next call load a slice anew, by the list as it is then. */
export function forgetSlice(name: string): void {
  slices.delete(name);
  finds.clear();
  askForSliceList();
}

/** Keeps one promise per key, as React's `use` needs it. */
function remembered<T>(
  promises: Map<string, Promise<T>>,
  key: string,
  make: (key: string) => Promise<T>,
): Promise<T> {
  const promise = promises.get(key) ?? make(key);
  promises.set(key, promise);
  return promise;
}

async function find(pathname: string): Promise<Slice | null> {
  const list = await readSliceList().catch(() => null);
  const loaded = await Promise.allSettled(Object.keys(list?.slices ?? {}).map(loadSlice));
  const found = loaded.find(
    (result) => result.status === 'fulfilled' && matchRoutes(result.value.routes, pathname),
  );
  return found?.status === 'fulfilled' ? found.value : null;
}

async function load(name: string): Promise<Slice> {
  const list = await readSliceList().catch((cause: unknown) => {
    throw new SliceFailure(name, 'unknown', cause);
  });
  const live = list.slices[name];
  if (!live) throw new SliceFailure(name, 'none', new Error('No build of it is live'));
  try {
    return await tryAgain(() => loadBuild(name, live));
  } catch (cause) {
    return fallBack(name, live, live.previous, cause);
  }
}

async function fallBack(
  name: string,
  live: SliceBuild,
  previous: SliceBuild | null,
  cause: unknown,
): Promise<Slice> {
  console.warn(`${name} ${live.version} could not be loaded`, cause);
  if (previous) {
    try {
      return await loadBuild(name, previous);
    } catch (error) {
      console.warn(`${name} ${previous.version} could not be loaded either`, error);
    }
  }
  throw new SliceFailure(name, live.version, cause);
}

async function tryAgain<T>(act: () => Promise<T>): Promise<T> {
  for (const pause of BACK_OFF_MS) {
    try {
      return await act();
    } catch {
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }
  return act();
}
