import { screenAct } from 'mfe-kit';
import { Button, FailedState, PageHeader } from 'mfe-kit/ui';
import { useRouteError } from 'react-router';
import { PublicFrame } from './layout/PublicFrame';
import { useScreenDrawn } from './navigation/useScreenDrawn';
import { shellTexts } from './shell-texts';
import { failureSentence } from './slices/failure-sentence';

/** Shown instead of the page when the shell's own code fails or does not load. */
export function PortalFailed() {
  const error = useRouteError();
  useScreenDrawn(error);
  const texts = shellTexts();
  return (
    <PublicFrame>
      <main>
        <PageHeader title={texts.portalNotLoaded} />
        <FailedState
          message={failureSentence(error)}
          action={
            <Button type="primary" onClick={() => screenAct.reload()}>
              {texts.reload}
            </Button>
          }
        />
      </main>
    </PublicFrame>
  );
}
