import { connection, isLive, language, session, theme } from 'mfe-kit';
import { StrictMode, startTransition } from 'react';
import { createRoot } from 'react-dom/client';
import { RouterProvider } from 'react-router';
import { preferredLanguage } from './live/preferred-language';
import { followScreens, forgetReadsOfLeft } from './navigation/follow-screens';
import { onReport } from './reports/report';
import { sendReports } from './reports/send-reports';
import { createPortalRouter } from './router';
import { restoreBrought } from './slices/brought';
import { readSliceList } from './slices/slice-list';
import { watchVersions } from './slices/watch-versions';
import { sendSpans } from './spans/send-spans';

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

/** Loads what is not needed for the first page, and once more when a browser that is offline no longer is. */
function later<Part>(load: () => Promise<Part>, start: (part: Part) => void) {
  load().then(start, () => addEventListener('online', () => later(load, start), { once: true }));
}

if (isLive())
  later(
    () => import('./live/start-live'),
    ({ startLive }) => startLive(),
  );
watchVersions();
if (list?.portal.reports) sendReports();
else onReport(null);
