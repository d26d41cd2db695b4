import { Button, Card, CopyButton, FailedState, PageHeader } from 'mfe-kit/ui';
import { SliceFailure } from './load-slice';
import classes from './SliceFailed.module.css';

interface SliceFailedProps {
  name: string;
  error: Error;
  onRetry: () => void;
}

/** Shown instead of a slice's screens: what failed, what still works, details for support, and Retry. */
export function SliceFailed({ name, error, onRetry }: SliceFailedProps) {
  const isLoadFailure = error instanceof SliceFailure;
  const what = isLoadFailure ? `${name} ${error.version}` : name;
  return (
    <div className={classes.page}>
      <PageHeader
        title={
          isLoadFailure ? 'This part of the portal could not be loaded' : 'This page has stopped working'
        }
        subtitle="The other parts still work. If it stays like this, send the details to support."
      />
      <Card>
        <FailedState
          title={what}
          message={error.message}
          action={
            <div className={classes.acts}>
              <Button type="primary" onClick={onRetry}>
                Retry
              </Button>
              <span>
                Details{' '}
                <CopyButton
                  label="Copy details"
                  text={`${what}: ${error.message} (${window.location.pathname})`}
                />
              </span>
            </div>
          }
        />
      </Card>
    </div>
  );
}
