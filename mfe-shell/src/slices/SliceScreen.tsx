import { tabTitle } from 'mfe-kit';
import { LoadingState } from 'mfe-kit/ui';
import { Suspense, use } from 'react';
import { matchRoutes, renderMatches, useLocation } from 'react-router';
import { useScreenDrawn } from '../navigation/useScreenDrawn';
import { useWords } from '../navigation/useWords';
import { broughtText } from './brought-words';
import { loadSlice, SliceFailure } from './load-slice';
import { SliceBoundary } from './SliceBoundary';

/** A slice's screen for the current address, or the slice's failure; `title` is the tab's until it is loaded. */
export function SliceScreen({ name, title }: { name: string; title: string | undefined }) {
  useWords();
  const { pathname } = useLocation();
  return (
    <SliceBoundary key={name} name={name} pathname={pathname}>
      <Suspense fallback={<Loading title={title} />}>
        <MatchingScreen name={name} />
      </Suspense>
    </SliceBoundary>
  );
}

function Loading({ title }: { title: string | undefined }) {
  return (
    <>
      {title ? <title>{tabTitle(broughtText(title))}</title> : null}
      <LoadingState />
    </>
  );
}

function MatchingScreen({ name }: { name: string }) {
  const { routes, version } = use(loadSlice(name));
  const location = useLocation();
  const matches = matchRoutes(routes, location);
  useScreenDrawn();
  // An older build, from before this screen was added.
  if (!matches) throw new SliceFailure(version, 'It has no screen for this address');
  return renderMatches(matches);
}
