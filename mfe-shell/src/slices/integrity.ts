import { tabStorage } from '../tab-storage';

declare global {
  interface Window {
    /** The integrity of a slice's file, by its address; the code of slices asks for it. */
    __INTEGRITY__?: (address: string) => string;
  }
}

/** Why a build is refused one of whose files differs from what its manifest says. */
export const CHANGED = 'Its code is not the published one';

/** The integrity of every manifest and file of the builds that were requested, by address. */
export const integrities = new Map<string, string>();

/** The key in the tab's storage of builds with a changed file: slice to the integrity of the build. */
export const REFUSED = 'refused_builds';

/** The builds that this tab does not load, because one of their files was changed. */
export function refused(): Record<string, string> {
  return (tabStorage.read(REFUSED) ?? {}) as Record<string, string>;
}
