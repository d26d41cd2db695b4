import { notify, portalSettings } from 'mfe-kit';

/** One toast at a time tells of signing in: the latest, in the place of the one before. */
export const SIGN_IN_TOAST = 'sign-in';

export function welcome(): void {
  notify({
    type: 'success',
    message: `Login successful! Welcome back to ${portalSettings().product}!`,
    key: SIGN_IN_TOAST,
  });
}
