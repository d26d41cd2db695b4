import { Button, FailedState, PageHeader } from 'mfe-kit/ui';
import { useRouteError } from 'react-router';
import { PublicFrame } from './layout/PublicFrame';

/** Shown instead of the page when the shell's own code fails or does not load. */
export function PortalFailed() {
  const error = useRouteError();
  return (
    <PublicFrame>
      <main>
        <PageHeader title="The portal could not be loaded" />
        <FailedState
          message={error instanceof Error ? error.message : String(error)}
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
