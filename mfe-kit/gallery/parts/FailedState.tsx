/** Shown instead of content that could not be loaded. Without an action, Retry reloads the page. */
import { Button, FailedState } from 'mfe-kit/ui';

export function WithRetry() {
  return <FailedState message="Failed to load repayments" />;
}

export function WithAnAction() {
  return (
    <FailedState
      title="Loan not found"
      message="It may have been paid out by somebody else."
      action={<Button type="primary">Back to the list</Button>}
    />
  );
}
