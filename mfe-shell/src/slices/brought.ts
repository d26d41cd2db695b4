import { useSyncExternalStore } from 'react';
import { matchPath } from 'react-router';
import type { MenuEntry, SliceList } from '../live-slices';
import { storeOf } from '../store';

/** The key in the tab's storage of what the slices brought on the last visit. */
const STORED = 'slices';

/** A screen of a slice, known before the slice is loaded. */
export interface BroughtScreen {
  slice: string;
  path: string;
  title: string;
  isPublic: boolean;
}

/** The screens, the menu entries and the advice for failures that the live slices bring. */
export interface Brought {
  screens: readonly BroughtScreen[];
  menu: readonly MenuEntry[];
  failures: Readonly<Record<string, SliceList['slices'][string]['failures']>>;
}

const NOTHING: Brought = { screens: [], menu: [], failures: {} };

/** The screens, menu entries and advice of the last list; if no list can be read, those of the last visit. */
export const brought = storeOf<Brought>(NOTHING);

/** For components: what the live slices bring. */
export function useBrought(): Brought {
  return useSyncExternalStore(brought.subscribe, brought.get);
}

/** Called with every list that was read. */
export function setBrought({ slices }: SliceList): void {
  const all = Object.entries(slices);
  const next: Brought = {
    screens: all.flatMap(([slice, { screens }]) =>
      screens.map(({ path, title, public: isPublic = false }) => ({ slice, path, title, isPublic })),
    ),
    menu: all.flatMap(([, { menu }]) => menu),
    failures: Object.fromEntries(all.map(([slice, { failures }]) => [slice, failures])),
  };
  const text = JSON.stringify(next);
  if (text === JSON.stringify(brought.get())) return;
  brought.set(next);
  try {
    if (all.length > 0) sessionStorage.setItem(STORED, text);
    else sessionStorage.removeItem(STORED);
  } catch {
    /* no access to storage */
  }
}

/** Uses what the slices brought on the last visit, because the list could not be read. */
export function restoreBrought(): void {
  try {
    const stored = sessionStorage.getItem(STORED);
    if (stored && brought.get() === NOTHING) brought.set(JSON.parse(stored) as Brought);
  } catch {
    /* no access to storage, or not ours */
  }
}

/** The screen of an address, if a live slice brings it. */
export function screenAt(pathname: string): BroughtScreen | undefined {
  return brought.get().screens.find(({ path }) => matchPath(path, pathname));
}
