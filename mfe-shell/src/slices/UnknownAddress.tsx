import { LoadingState } from 'mfe-kit/ui';
import { Suspense, use, useReducer } from 'react';
import { matchRoutes, useLocation } from 'react-router';
import type { SliceRouteHandle } from 'mfe-kit';
import { PublicFrame } from '../layout/PublicFrame';
import { SignedIn } from '../layout/SignedIn';
import { NotFoundPage } from '../not-found/NotFoundPage';
import { findSlice, type FoundSlice, forgetSlice } from './load-slice';
import { SliceFailed } from './SliceFailed';
import { SliceScreen } from './SliceScreen';

/**
 * An address that no slice is known to own. A slice may have added a screen since the shell was built,
 * so every slice is searched before the page is not found. While a slice can't be loaded, the address may
 * be one of its screens, and its failure is shown.
 */
export function UnknownAddress() {
  const { pathname } = useLocation();
  const [, searchAgain] = useReducer((count: number) => count + 1, 0);
  return (
    <Suspense fallback={<LoadingState />}>
      <Found found={findSlice(pathname)} pathname={pathname} onRetry={searchAgain} />
    </Suspense>
  );
}

interface FoundProps {
  found: Promise<FoundSlice>;
  pathname: string;
  onRetry: () => void;
}

function Found({ found, pathname, onRetry }: FoundProps) {
  const { slice, failure } = use(found);
  if (failure) {
    const retry = () => {
      forgetSlice(failure.slice);
      onRetry();
    };
    return (
      <SignedIn>
        <SliceFailed name={failure.slice} error={failure} onRetry={retry} />
      </SignedIn>
    );
  }
  if (!slice) return <NotFoundPage />;
  const screen = <SliceScreen name={slice.name} />;
  const isPublic = matchRoutes(slice.routes, pathname)?.some(
    ({ route }) => (route.handle as SliceRouteHandle | undefined)?.access === 'public',
  );
  return isPublic ? <PublicFrame>{screen}</PublicFrame> : <SignedIn>{screen}</SignedIn>;
}
