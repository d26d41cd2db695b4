/** Text for assistive technology only, such as what a dot means. */
import { Unseen } from 'mfe-kit/ui';

export function BesideADot() {
  return (
    <span>
      Loan approved <span aria-hidden>•</span>
      <Unseen>Unread</Unseen>
    </span>
  );
}
