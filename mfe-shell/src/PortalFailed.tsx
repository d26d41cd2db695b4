import { Button, FailedState, PageHeader } from 'mfe-kit/ui';
import { useRouteError } from 'react-router';
import { PublicFrame } from './layout/PublicFrame';
import { failureSentence } from './slices/failure-sentence';

/** Shown instead of the page when the shell's own code fails or does not load. */
export function PortalFailed() {
  const error = useRouteError();
  return (
    <PublicFrame>
      <main>
        <PageHeader title="The portal could not be loaded" />
        <FailedState
          message={failureSentence(error)}
          action={
            <Button type="primary" onClick={() => window.location.reload()}>
              Reload
            </Button>
          }
        />
      </main>
    </PublicFrame>
  );
}
