import { useQuery } from '@tanstack/react-query';
import { Spinner, Unseen } from 'mfe-kit/ui';
import { lazy, type ReactNode, Suspense, useSyncExternalStore } from 'react';
import { BellFrame } from '../layout/BellFrame';
import { newVersion } from '../notices/new-version';
import { bellTexts } from './bell-texts';
import { notificationsQuery } from './notifications';

// Without its code, the screens still work.
const BellPanel = lazy(() => import('./BellPanel').catch(() => ({ default: NoPanel })));

/** The bell with what the person should know. */
export function LiveBell({ samples }: { samples: ReactNode }) {
  const { data, isPending, isError, refetch } = useQuery(notificationsQuery());
  const isNewVersion = useSyncExternalStore(newVersion.subscribe, newVersion.get);
  if (data === null) return samples;
  const texts = bellTexts();
  const unread = (data?.unread ?? 0) + (isNewVersion ? 1 : 0);
  return (
    <>
      <BellFrame
        label={unread > 0 ? texts.unread(unread) : texts.heading}
        heading={texts.heading}
        unread={unread}
      >
        {(close) => (
          <Suspense fallback={<Spinner />}>
            <BellPanel {...{ data, isPending, isError, refetch }} onOpen={close} />
          </Suspense>
        )}
      </BellFrame>
      <Unseen role="status">{unread > 0 ? texts.arrived(unread) : ''}</Unseen>
    </>
  );
}

function NoPanel() {
  return <p role="alert">{bellTexts().failed}</p>;
}
