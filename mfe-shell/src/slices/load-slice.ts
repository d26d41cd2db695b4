import type { Slice } from 'mfe-kit';
import { loadBuild, WrongShell } from './federation';
import { CHANGED, refused } from './integrity';
import type { SliceBuild } from '../live-slices';
import { type Report, report } from '../reports/report';
import { screenAt } from './brought';
import { readSliceList, requestSliceList } from './slice-list';

const BACK_OFF_MS = [300, 900];

export interface LoadedSlice {
  live: SliceBuild;
  /** The build in use: the live one or, when that failed, the previous one; `null` when both failed. */
  used: SliceBuild | null;
  failure: string | null;
}

const loaded = new Map<string, LoadedSlice>();
const slices = new Map<string, Promise<Slice>>();
const failed = new Set<string>();

export class SliceFailure extends Error {
  override readonly name = 'SliceFailure';
  /** `null` if it is not known. */
  readonly version: string | null;

  constructor(version: string | null, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.version = version;
  }
}

/**
 * The slice of that name: its live build, retried with growing pauses, else its previous build. The
 * promise is the same until `forgetSlice`; it rejects with `SliceFailure`.
 */
export function loadSlice(name: string): Promise<Slice> {
  let promise = slices.get(name);
  if (!promise) {
    promise = load(name);
    promise.catch(() => failed.add(name));
    slices.set(name, promise);
  }
  return promise;
}

export function loadedSlices(): ReadonlyMap<string, LoadedSlice> {
  return loaded;
}

/** Makes the next call load a slice again, by a new list. */
export function forgetSlice(name: string): void {
  slices.delete(name);
  loaded.delete(name);
  failed.delete(name);
  requestSliceList();
}

/** Makes a new visit of a slice that could not be loaded another attempt. */
export function forgetFailure(name: string): void {
  if (failed.has(name)) forgetSlice(name);
}

async function load(name: string): Promise<Slice> {
  const list = await readSliceList().catch((cause: unknown) => {
    throw new SliceFailure(null, cause);
  });
  const live = list.slices[name];
  if (!live) throw new SliceFailure(null, new Error('No build of it is live'));
  if (live.previous && live.integrity && refused()[name] === live.integrity) {
    const slice = await fallBack(name, live.previous);
    loaded.set(name, { live, used: slice && live.previous, failure: CHANGED });
    if (slice) return slice;
  }
  const note = (used: SliceBuild | null, failure: string | null) => loaded.set(name, { live, used, failure });
  try {
    const slice = await reported(name, live, () => tryAgain(() => loadBuild(name, live)));
    note(live, null);
    return slice;
  } catch (cause) {
    const failure = new SliceFailure(live.version, cause);
    console.warn(`${name} ${live.version} could not be loaded`, cause);
    const slice = live.previous ? await fallBack(name, live.previous) : null;
    note(slice && live.previous, failure.message);
    if (slice) return slice;
    throw failure;
  }
}

async function fallBack(name: string, previous: SliceBuild): Promise<Slice | null> {
  try {
    return await reported(name, previous, () => loadBuild(name, previous));
  } catch (error) {
    console.warn(`${name} ${previous.version} could not be loaded either`, error);
    return null;
  }
}

/** Loads a build, and reports how long it took or why it failed. An override has no integrity, and is not reported. */
async function reported<T>(
  name: string,
  { version, integrity }: SliceBuild,
  load: () => Promise<T>,
): Promise<T> {
  const began = performance.now();
  const tell = (outcome: Pick<Report, 'outcome' | 'ms' | 'reason'>) => {
    const shown = screenAt(window.location.pathname);
    const route = shown?.slice === name ? { route: shown.path } : {};
    if (integrity) report({ slice: name, version, ...outcome, ...route });
  };
  try {
    const loaded = await load();
    tell({ outcome: 'loaded', ms: Math.round(performance.now() - began) });
    return loaded;
  } catch (error) {
    tell({ outcome: 'not_loaded', reason: reasonOf(error) });
    throw error;
  }
}

/** Why a build could not be loaded, in one word. */
function reasonOf(error: unknown): NonNullable<Report['reason']> {
  const text = error instanceof Error ? error.message : String(error);
  if (error instanceof WrongShell) return 'shell';
  if (text === CHANGED) return 'changed';
  if (text.includes('does not exist')) return 'missing';
  return /could not be loaded|fetch|timed? ?out|HTTP 5/i.test(text) ? 'network' : 'other';
}

async function tryAgain<T>(act: () => Promise<T>): Promise<T> {
  for (const pause of BACK_OFF_MS) {
    try {
      return await act();
    } catch (error) {
      if (error instanceof WrongShell) throw error;
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }
  return act();
}
