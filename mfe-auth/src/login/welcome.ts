import { notify, portalSettings } from 'mfe-kit';
import { signInTexts } from '../sign-in-texts';
import { SIGN_IN_TOAST } from '../signed-out/toast';

/** Greets the user who has just signed in (REQ-101). */
export function welcome(): void {
  notify({
    type: 'success',
    message: signInTexts().welcome(portalSettings().product),
    key: SIGN_IN_TOAST,
  });
}
