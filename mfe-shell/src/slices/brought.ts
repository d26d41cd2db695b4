import { useSyncExternalStore } from 'react';
import { matchPath } from 'react-router';
import type { MenuEntry, SliceList } from '../live-slices';
import { storeOf } from '../store';
import { tabStorage } from '../tab-storage';

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

export function useBrought(): Brought {
  return useSyncExternalStore(brought.subscribe, brought.get);
}

export function setBrought({ slices }: SliceList): void {
  const all = Object.entries(slices);
  const next: Brought = {
    screens: all.flatMap(([slice, { screens }]) =>
      screens.map(({ path, title, public: isPublic = false }) => ({ slice, path, title, isPublic })),
    ),
    menu: all.flatMap(([, { menu }]) => menu),
    failures: Object.fromEntries(all.map(([slice, { failures }]) => [slice, failures])),
  };
  if (JSON.stringify(next) === JSON.stringify(brought.get())) return;
  brought.set(next);
  tabStorage.write(STORED, all.length > 0 ? next : null);
}

/** Uses what the slices brought on the last visit, because the list could not be read. */
export function restoreBrought(): void {
  const stored = tabStorage.read(STORED) as Brought | null;
  if (stored && brought.get() === NOTHING) brought.set(stored);
}

export function screenAt(pathname: string): BroughtScreen | undefined {
  return brought.get().screens.find(({ path }) => matchPath(path, pathname));
}
