import { QueryClientProvider } from '@tanstack/react-query';
import { queryClient, session, useSession } from 'mfe-kit';
import { lazy, Suspense, useEffect, useSyncExternalStore } from 'react';
import { Outlet, ScrollRestoration, useLocation, useNavigate } from 'react-router';
import { FirstPaint } from './FirstPaint';
import { useHeadingFocus } from './navigation/useHeadingFocus';
import { useWords } from './navigation/useWords';
import { overridePanel } from './overrides/is-overriding';
import { isStoryTold } from './story/is-story-told';
import { Toasts } from './toasts/Toasts';

const OverridePanel = lazy(() => import('./slices/OverridePanel'));
// Without its code, the screens still work.
const StoryCard = lazy(() => import('./story/StoryCard').catch(() => ({ default: () => null })));

const EnterAgain = lazy(() => import('./story/EnterAgain').catch(() => ({ default: () => null })));

export function Root() {
  useSignInRedirect();
  useWords();
  const { user } = useSession();
  useHeadingFocus();
  const isPanelOpen = useSyncExternalStore(overridePanel.subscribe, overridePanel.get);
  const hasStory = useSyncExternalStore(isStoryTold.subscribe, isStoryTold.get);
  return (
    <QueryClientProvider client={queryClient}>
      <Suspense fallback={<FirstPaint />}>
        <Outlet />
      </Suspense>
      {hasStory ? <Suspense fallback={null}>{user ? <StoryCard /> : <EnterAgain />}</Suspense> : null}
      {isPanelOpen ? (
        <Suspense fallback={null}>
          <OverridePanel onClose={() => overridePanel.set(false)} />
        </Suspense>
      ) : null}
      <Toasts />
      <ScrollRestoration />
    </QueryClientProvider>
  );
}

/** Redirects to sign-in when the provider has ended the session, once (REQ-067, REQ-068). */
function useSignInRedirect() {
  const state = useSession();
  const location = useLocation();
  const navigate = useNavigate();
  const hasEnded = state.status === 'signed-out' && state.expiry === 'ended';
  useEffect(() => {
    if (!hasEnded) return;
    if (location.pathname === '/login') session.expiryShown();
    else void navigate('/login?sessionExpired=true', { replace: true, state: { from: location } });
  }, [hasEnded, location, navigate]);
}
