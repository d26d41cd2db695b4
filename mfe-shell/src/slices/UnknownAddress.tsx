import { useQuery } from '@tanstack/react-query';
import { LoadingState } from 'mfe-kit/ui';
import { useLocation } from 'react-router';
import { PublicFrame } from '../layout/PublicFrame';
import { SignedIn } from '../layout/SignedIn';
import { useWords } from '../navigation/useWords';
import { NotFoundPage } from '../not-found/NotFoundPage';
import { screenAt } from './brought';
import { SliceFailure } from './load-slice';
import { liveSlicesQuery, requestSliceList } from './slice-list';
import { SliceFailed } from './SliceFailed';
import { SliceScreen } from './SliceScreen';

/** Stands for a slice's name where the list of slices could not be read. */
const LIST = 'slices.json';

/** An address that no slice was known to have when the page was opened: one may have added a screen since. */
export default function UnknownAddress() {
  useWords();
  const { pathname } = useLocation();
  const { data, error, refetch } = useQuery({ ...liveSlicesQuery(), retry: false });
  if (!data) {
    if (!error) return <LoadingState />;
    const retry = () => {
      requestSliceList();
      void refetch();
    };
    // Without the list, not even the sign-in page is known.
    return (
      <PublicFrame>
        <SliceFailed name={LIST} error={new SliceFailure(null, error)} onRetry={retry} />
      </PublicFrame>
    );
  }
  const known = screenAt(pathname);
  if (!known) return <NotFoundPage />;
  const screen = <SliceScreen name={known.slice} title={known.title} />;
  return known.isPublic ? <PublicFrame>{screen}</PublicFrame> : <SignedIn>{screen}</SignedIn>;
}
