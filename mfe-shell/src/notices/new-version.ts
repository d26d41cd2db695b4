import { storeOf } from '../store';

/** `true` if a build is live that is newer than the one this page has loaded. */
export const newVersion = storeOf(false);
