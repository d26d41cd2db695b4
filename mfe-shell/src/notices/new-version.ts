import { storeOf } from '../store';

/** Whether something newer than what this page has loaded is live. */
export const newVersion = storeOf(false);
