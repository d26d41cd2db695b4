import { notify, session } from 'mfe-kit';
import { useEffect } from 'react';
import { useLocation, useSearchParams } from 'react-router';
import { signInTexts } from '../sign-in-texts';

/** Explains once that the session expired, and removes the parameter from the address (REQ-080, REQ-081). */
export function useExpiredMessage() {
  const [search, setSearch] = useSearchParams();
  const { state } = useLocation() as { state: unknown };
  const hasExpired = search.get('sessionExpired') === 'true';

  useEffect(() => {
    if (!hasExpired) return;
    notify({
      type: 'info',
      message: signInTexts().sessionExpired,
      key: session.expiredToastKey,
    });
    setSearch(
      (before) => {
        before.delete('sessionExpired');
        return before;
      },
      // The state names the page to return to.
      { replace: true, state },
    );
  }, [hasExpired, setSearch, state]);
}
