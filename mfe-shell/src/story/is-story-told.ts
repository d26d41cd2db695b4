import { storeOf } from '../store';

/** `true` if a story is told here; `false` until the shell has read `slices.json`. */
export const isStoryTold = storeOf(false);
