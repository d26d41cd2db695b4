import { notify, portalSettings } from 'mfe-kit';
import { GATE_TOAST } from '../gate/toast';

/** Greets the user who has just signed in (REQ-101). */
export function welcome(): void {
  notify({
    type: 'success',
    message: `Login successful! Welcome back to ${portalSettings().product}!`,
    key: GATE_TOAST,
  });
}
