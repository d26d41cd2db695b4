import { QueryClientProvider } from '@tanstack/react-query';
import { language, queryClient, session, useSession } from 'mfe-kit';
import { Fragment, lazy, Suspense, useEffect, useSyncExternalStore } from 'react';
import { Outlet, ScrollRestoration, useLocation, useNavigate } from 'react-router';
import { FirstPaint } from './FirstPaint';
import { useHeadingFocus } from './navigation/useHeadingFocus';
import { overridePanel } from './overrides/is-overriding';
import { isStoryTold } from './story/is-story-told';
import { Toasts } from './toasts/Toasts';

const OverridePanel = lazy(() => import('./slices/OverridePanel'));
// Without its code, the screens still work.
const StoryCard = lazy(() => import('./story/StoryCard').catch(() => ({ default: () => null })));

/** The parts around every page, signed in or not. */
export function Root() {
  useSignInRedirect();
  const spoken = useSyncExternalStore(language.subscribe, () => language.current);
  const { user } = useSession();
  // Another language or time zone changes every text.
  const words = `${spoken} ${user?.timeZone ?? ''}`;
  useHeadingFocus(words);
  const isPanelOpen = useSyncExternalStore(overridePanel.subscribe, overridePanel.get);
  const hasStory = useSyncExternalStore(isStoryTold.subscribe, isStoryTold.get);
  return (
    <QueryClientProvider client={queryClient}>
      <Suspense fallback={<FirstPaint />}>
        <Fragment key={words}>
          <Outlet />
        </Fragment>
      </Suspense>
      {hasStory && user ? (
        <Suspense fallback={null}>
          <StoryCard />
        </Suspense>
      ) : null}
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
