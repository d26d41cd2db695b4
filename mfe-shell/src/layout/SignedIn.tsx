import { useSession } from 'mfe-kit';
import { LoadingState } from 'mfe-kit/ui';
import { lazy, type ReactNode } from 'react';
import { Navigate, Outlet, useLocation } from 'react-router';
import { useWords } from '../navigation/useWords';
import { screenAt } from '../slices/brought';
import { loadSlice } from '../slices/load-slice';

const MainLayout = lazy(() => import('./MainLayout'));

/** The guard: draws the layout for a signed-in user, and redirects anyone else to sign-in (REQ-016 to REQ-018). */
export function SignedIn({ children }: { children?: ReactNode }) {
  useWords();
  const session = useSession();
  const location = useLocation();

  if (session.status === 'loading') return <LoadingState />;
  // The frame of an ended session stays until its message was shown; then the shell redirects to sign-in.
  if (session.status === 'signed-out' && session.expiry)
    return (
      <MainLayout>
        <LoadingState />
      </MainLayout>
    );
  if (session.status === 'signed-out')
    // The key: whoever comes back here before the redirect is drawn is redirected again.
    return (
      <Navigate key={location.key} to="/login" replace state={session.hasLeft ? null : { from: location }} />
    );
  // Beside the layout's code, which may still be on its way after a sign-in. A failure is shown in the screen's place.
  const screen = screenAt(location.pathname);
  if (screen) loadSlice(screen.slice).catch(() => undefined);
  return <MainLayout>{children ?? <Outlet />}</MainLayout>;
}
