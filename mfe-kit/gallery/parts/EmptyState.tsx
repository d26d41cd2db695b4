/** Shown instead of an empty list. */
import { Button, EmptyState } from 'mfe-kit/ui';

export function TitleOnly() {
  return <EmptyState title="No pending loans" />;
}

export function WithAnAction() {
  return (
    <EmptyState
      title="Nothing found"
      text="No repayment matches the search."
      action={<Button>Clear the search</Button>}
    />
  );
}
