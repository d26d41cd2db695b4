import type { Slice } from 'mfe-kit';
import { matchRoutes } from 'react-router';
import { finds, loadSlice, SliceFailure } from './load-slice';
import { readSliceList } from './slice-list';

/** Stands for a slice's name where the list of slices could not be read. */
export const LIST = 'slices.json';

/** The slice with a route for an address; else one that could not be loaded, and may have the route. */
export interface FoundSlice {
  slice?: Slice;
  failure?: SliceFailure;
}

/**
 * Searches all slices for a route of an address, and answers as soon as one has it. The promise is the same
 * until a slice is forgotten, as React's `use` needs it.
 */
export function findSlice(pathname: string): Promise<FoundSlice> {
  const promise = finds.get(pathname) ?? find(pathname);
  finds.set(pathname, promise);
  return promise as Promise<FoundSlice>;
}

async function find(pathname: string): Promise<FoundSlice> {
  const list = await readSliceList().catch((cause: unknown) => new SliceFailure(LIST, null, cause));
  if (list instanceof SliceFailure) return { failure: list };
  const searches = Object.keys(list.slices).map(async (name) => {
    const slice = await loadSlice(name);
    if (!matchRoutes(slice.routes, pathname)) throw new Error(`${name} has no route for ${pathname}`);
    return slice;
  });
  try {
    return { slice: await Promise.any(searches) };
  } catch (error) {
    const reasons = (error as AggregateError).errors;
    const failure = reasons.find((reason) => reason instanceof SliceFailure);
    return failure ? { failure } : {};
  }
}
