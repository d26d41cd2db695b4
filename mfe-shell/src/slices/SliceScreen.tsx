import { LoadingState } from 'mfe-kit/ui';
import { Suspense, use } from 'react';
import { matchRoutes, renderMatches, useLocation } from 'react-router';
import { NotFoundPage } from '../not-found/NotFoundPage';
import { loadSlice } from './load-slice';
import { SliceBoundary } from './SliceBoundary';

/** The screen that a slice has for the present address, or what is wrong with the slice in its place. */
export function SliceScreen({ name }: { name: string }) {
  return (
    <SliceBoundary name={name}>
      <Suspense fallback={<LoadingState />}>
        <MatchingScreen name={name} />
      </Suspense>
    </SliceBoundary>
  );
}

function MatchingScreen({ name }: { name: string }) {
  const { routes } = use(loadSlice(name));
  const location = useLocation();
  return renderMatches(matchRoutes(routes, location)) ?? <NotFoundPage />;
}
