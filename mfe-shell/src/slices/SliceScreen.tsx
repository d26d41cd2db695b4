import { LoadingState } from 'mfe-kit/ui';
import { Suspense, use } from 'react';
import { matchRoutes, renderMatches, useLocation } from 'react-router';
import { loadSlice, SliceFailure } from './load-slice';
import { SliceBoundary } from './SliceBoundary';

/** A slice's screen for the current address, or the slice's failure. */
export function SliceScreen({ name }: { name: string }) {
  const { pathname } = useLocation();
  return (
    <SliceBoundary key={name} name={name} pathname={pathname}>
      <Suspense fallback={<LoadingState />}>
        <MatchingScreen name={name} />
      </Suspense>
    </SliceBoundary>
  );
}

function MatchingScreen({ name }: { name: string }) {
  const { routes, version } = use(loadSlice(name));
  const location = useLocation();
  const matches = matchRoutes(routes, location);
  // An older build, from before this screen was added.
  if (!matches) throw new SliceFailure(name, version, 'It has no screen for this address');
  return renderMatches(matches);
}
