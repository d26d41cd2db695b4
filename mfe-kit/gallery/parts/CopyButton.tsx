/** Copies a text. Drawn where the browser has a clipboard: on HTTPS pages and on localhost. */
import { CopyButton } from 'mfe-kit/ui';

export function Beside() {
  return (
    <span>
      UKE7Q2M9XA <CopyButton text="UKE7Q2M9XA" label="Copy reference" />
    </span>
  );
}
