import { connection, isLive, language, session, theme } from 'mfe-kit';
import { StrictMode, startTransition } from 'react';
import { createRoot } from 'react-dom/client';
import { RouterProvider } from 'react-router';
import { preferredLanguage } from './live/preferred-language';
import { followScreens, forgetReadsOfLeft } from './navigation/follow-screens';
import { sendReports } from './reports/send-reports';
import { createPortalRouter } from './router';
import { restoreBrought } from './slices/brought';
import { listRead, readSliceList } from './slices/slice-list';
import { watchVersions } from './slices/watch-versions';
import { sendSpans } from './spans/send-spans';

/** Milliseconds before code that could not be loaded is requested again. */
const AGAIN_AFTER_MS = 5000;

theme.start();
session.start();
connection.start();

// The settings are needed for the first text, and the routes are the slices'. Without a list the defaults and
// the routes of the last visit apply.
const list = await readSliceList().catch((error: unknown) => {
  console.error('slices.json could not be read', error);
  restoreBrought();
  return null;
});

// The first page is drawn in its language.
if (isLive()) await language.use(preferredLanguage());

const root = document.getElementById('root');
if (!root) throw new Error('The page has no #root');
const router = createPortalRouter();
forgetReadsOfLeft(router);
if (list?.portal.traces) {
  sendSpans();
  followScreens(router);
}
// A transition is drawn in small steps.
startTransition(() =>
  createRoot(root).render(
    <StrictMode>
      <RouterProvider router={router} />
    </StrictMode>,
  ),
);

void listRead.then(() => {
  if (isLive()) followServer();
});
watchVersions();
if (list?.portal.reports) sendReports();

/** Without it a page would be out of date all day, so it is tried until its code is loaded. */
function followServer() {
  import('./live/start-live').then(
    ({ startLive }) => startLive(),
    () => setTimeout(followServer, AGAIN_AFTER_MS),
  );
}
