import { LoadingState } from 'mfe-kit/ui';
import { Suspense, use } from 'react';
import { matchRoutes, useLocation } from 'react-router';
import type { Slice, SliceRouteHandle } from 'mfe-kit';
import { PublicFrame } from '../layout/PublicFrame';
import { SignedIn } from '../layout/SignedIn';
import { NotFoundPage } from '../not-found/NotFoundPage';
import { findSlice } from './load-slice';
import { SliceScreen } from './SliceScreen';

/**
 * An address that no slice is known to own. A slice may have added a screen since the shell was built,
 * so every slice is searched before the page is not found.
 */
export function UnknownAddress() {
  const { pathname } = useLocation();
  return (
    <Suspense fallback={<LoadingState />}>
      <Found slice={findSlice(pathname)} pathname={pathname} />
    </Suspense>
  );
}

function Found({ slice: promise, pathname }: { slice: Promise<Slice | null>; pathname: string }) {
  const slice = use(promise);
  if (!slice) return <NotFoundPage />;
  const screen = <SliceScreen name={slice.name} />;
  const isPublic = matchRoutes(slice.routes, pathname)?.some(
    ({ route }) => (route.handle as SliceRouteHandle | undefined)?.access === 'public',
  );
  return isPublic ? <PublicFrame>{screen}</PublicFrame> : <SignedIn>{screen}</SignedIn>;
}
