/** For tests of screens: a simulated provider, samples of its data, and functions that draw. */
import '@testing-library/jest-dom/vitest';

export { collectNotifications, standingToasts } from './notifications';
export { HOSTILE_TEXTS } from './hostile';
export { answer, failure, garbled, hold, provider, type Received, silent, unreachable } from './provider';
export { renderPart, renderRoutes, renderSlice } from './render';
export {
  currentUser,
  disbursement,
  disbursementRecord,
  notification,
  notifications,
  pendingLoan,
  portalRules,
  preferences,
  profile,
  signedIn,
} from './samples';
export { screen, waitFor, within } from '@testing-library/react';
