import { Button, Card, CopyButton, FailedState, PageHeader } from 'mfe-kit/ui';
import { overridePanel, overrides } from '../overrides/is-overriding';
import { useBrought } from './brought';
import { failureSentence } from './failure-sentence';
import { SliceFailure } from './load-slice';
import classes from './SliceFailed.module.css';

interface SliceFailedProps {
  name: string;
  error: Error;
  onRetry: () => void;
}

/** Shown instead of a slice's screens: what failed, what the user can do or the slice's own sentence about that, details for support, and Retry. */
export function SliceFailed({ name, error, onRetry }: SliceFailedProps) {
  const isLoadFailure = error instanceof SliceFailure;
  const isOverride = isLoadFailure && name in overrides();
  const sentences = useBrought().failures[name];
  const what = isLoadFailure ? `${name} ${error.version}` : name;
  return (
    <div className={classes.page}>
      <PageHeader
        title={
          isLoadFailure ? 'This part of the portal could not be loaded' : 'This page has stopped working'
        }
        subtitle={
          isOverride
            ? 'This tab overrides the live build. End the override to load the live build again.'
            : (sentences?.[isLoadFailure ? 'load' : 'crash'] ??
              'Try again in a minute; the other parts still work. If it happens again, send the details to support.')
        }
      />
      <Card>
        <FailedState
          title={what}
          message={failureSentence(error)}
          action={
            <div className={classes.acts}>
              <Button type="primary" onClick={onRetry}>
                Retry
              </Button>
              {isOverride ? <Button onClick={() => overridePanel.set(true)}>Overrides</Button> : null}
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
