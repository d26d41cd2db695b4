import { notify, portalSettings } from 'mfe-kit';
import { SIGN_IN_TOAST } from '../signed-out/toast';

/** Greets the user who has just signed in (REQ-101). */
export function welcome(): void {
  notify({
    type: 'success',
    message: `Login successful! Welcome back to ${portalSettings().product}!`,
    key: SIGN_IN_TOAST,
  });
}
