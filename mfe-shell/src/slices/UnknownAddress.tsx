import { LoadingState } from 'mfe-kit/ui';
import { Suspense, use, useReducer } from 'react';
import { useLocation } from 'react-router';
import { PublicFrame } from '../layout/PublicFrame';
import { SignedIn } from '../layout/SignedIn';
import { useWords } from '../navigation/useWords';
import { NotFoundPage } from '../not-found/NotFoundPage';
import { screenAt } from './brought';
import { findSlice, type FoundSlice, LIST } from './find-slice';
import { forgetSlice } from './load-slice';
import { SliceFailed } from './SliceFailed';
import { SliceScreen } from './SliceScreen';

/**
 * An address that no slice is known to have. A slice may have added a screen since the page was opened,
 * so every slice is searched before the page is not found. While a slice can't be loaded, the address may
 * be one of its screens, and its failure is shown.
 */
export default function UnknownAddress() {
  useWords();
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
    const panel = <SliceFailed name={failure.slice} error={failure} onRetry={retry} />;
    // Without the list, not even the sign-in page is known.
    return failure.slice === LIST ? <PublicFrame>{panel}</PublicFrame> : <SignedIn>{panel}</SignedIn>;
  }
  if (!slice) return <NotFoundPage />;
  const known = screenAt(pathname);
  const screen = <SliceScreen name={slice.name} title={known?.title} />;
  return known?.isPublic ? <PublicFrame>{screen}</PublicFrame> : <SignedIn>{screen}</SignedIn>;
}
