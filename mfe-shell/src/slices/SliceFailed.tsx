import { Button, Card, FailedState } from 'mfe-kit/ui';

interface SliceFailedProps {
  name: string;
  version: string | undefined;
  reason: string;
  onRetry: () => void;
}

/** In place of a slice's screens: what failed, for whom to tell, and another try. */
export function SliceFailed({ name, version, reason, onRetry }: SliceFailedProps) {
  return (
    <Card>
      <FailedState
        title="This part of the portal could not be loaded"
        message={`${[name, version].filter(Boolean).join(' ')}: ${reason}`}
        action={<Button onClick={onRetry}>Retry</Button>}
      />
    </Card>
  );
}
