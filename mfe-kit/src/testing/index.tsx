/** What tests of screens use: the provider they talk to, samples of what it sends, and ways to draw. */
export { collectNotifications, standingToasts } from './notifications';
export { answer, failure, garbled, hold, provider, type Received, silent, unreachable } from './provider';
export { renderPart, renderRoutes, renderSlice } from './render';
export { currentUser, disbursement, disbursementRecord, pendingLoan, signedIn } from './samples';
export { screen, waitFor, within } from '@testing-library/react';
