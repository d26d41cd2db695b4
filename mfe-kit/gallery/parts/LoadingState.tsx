/** Shown while content is being loaded. It appears after 150 ms, so that a quick answer shows none. */
import { LoadingState } from 'mfe-kit/ui';

export function Plain() {
  return <LoadingState />;
}

export function WithALabel() {
  return <LoadingState label="Reading the statement" />;
}
