import { Button, Card, CopyButton, FailedState, PageHeader } from 'mfe-kit/ui';
import { useScreenDrawn } from '../navigation/useScreenDrawn';
import { overridePanel, overrides } from '../overrides/is-overriding';
import { shellTexts } from '../shell-texts';
import { useBrought } from './brought';
import { broughtText } from './brought-words';
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
  const isOverride = isLoadFailure && Object.hasOwn(overrides(), name);
  const advice = useBrought().failures[name]?.[isLoadFailure ? 'load' : 'crash'];
  useScreenDrawn(error);
  const texts = shellTexts();
  const what = isLoadFailure ? `${name} ${error.version}` : name;
  return (
    <div className={classes.page}>
      <PageHeader
        title={isLoadFailure ? texts.sliceNotLoaded : texts.sliceStopped}
        subtitle={isOverride ? texts.sliceOverridden : advice ? broughtText(advice) : texts.sliceAdvice}
      />
      <Card>
        <FailedState
          title={what}
          message={failureSentence(error)}
          action={
            <div className={classes.acts}>
              <Button type="primary" onClick={onRetry}>
                {texts.retry}
              </Button>
              {isOverride ? <Button onClick={() => overridePanel.set(true)}>{texts.overrides}</Button> : null}
              <span>
                {texts.details}{' '}
                <CopyButton
                  label={texts.copyDetails}
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
