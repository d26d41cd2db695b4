/** A spinner that appears after 150 ms. */
import { Spinner } from 'mfe-kit/ui';

export function Plain() {
  return <Spinner />;
}

export function WithALabel() {
  return <Spinner label="Waiting for mobile money" />;
}
