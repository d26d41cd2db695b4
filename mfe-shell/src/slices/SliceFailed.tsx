import { connection, screenAct } from 'mfe-kit';
import { Button, Card, CopyButton, FailedState, PageHeader } from 'mfe-kit/ui';
import { useEffect, useEffectEvent } from 'react';
import { followHeading } from '../navigation/useHeadingFocus';
import { useScreenDrawn } from '../navigation/useScreenDrawn';
import { overridePanel, overrides } from '../overrides/is-overriding';
import { shellTexts } from '../shell-texts';
import { useBrought } from './brought';
import { broughtText } from './brought-words';
import { failureSentence, isFileMissing } from './failure-sentence';
import { SliceFailure } from './load-slice';
import classes from './SliceFailed.module.css';

interface SliceFailedProps {
  name: string;
  error: Error;
  onRetry: () => void;
}

/**
 * Shown instead of a slice's screens: what failed, what the user can do or the slice's own sentence about that, details
 * for support, and Retry. What could not be loaded is loaded again once the portal is back, too.
 */
export function SliceFailed({ name, error, onRetry }: SliceFailedProps) {
  const isLoadFailure = error instanceof SliceFailure;
  const isNotLoaded = isLoadFailure || isFileMissing(error);
  const isOverride = isLoadFailure && Object.hasOwn(overrides(), name);
  const advice = useBrought().failures[name]?.[isNotLoaded ? 'load' : 'crash'];
  useScreenDrawn(error);
  const texts = shellTexts();
  const what = isLoadFailure && error.version ? `${name} ${error.version}` : name;
  const followConnection = useEffectEvent(() => {
    if (!connection.isOnline) return;
    if (isLoadFailure) onRetry();
    else if (isNotLoaded) window.location.reload();
  });
  useEffect(() => connection.subscribe(followConnection), []);

  function retry() {
    // React keeps the result of a screen that crashed or did not load: only a reload tries again.
    if (!isLoadFailure) return screenAct.reload();
    screenAct.tryAgain();
    onRetry();
  }

  return (
    <div className={classes.page}>
      <PageHeader
        title={isNotLoaded ? texts.sliceNotLoaded : texts.sliceStopped}
        subtitle={isOverride ? texts.sliceOverridden : advice ? broughtText(advice) : texts.sliceAdvice}
      />
      <Card>
        <FailedState
          title={what}
          message={failureSentence(error)}
          action={
            <div className={classes.acts}>
              <Button type="primary" ref={passOn} onClick={retry}>
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

/** Retry goes once it is pressed or the portal is back, and must not take the focus with it. */
function passOn(button: HTMLButtonElement) {
  return () => {
    if (document.activeElement === button) followHeading();
  };
}
