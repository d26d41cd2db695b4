import { connection, isLive, language, session, theme } from 'mfe-kit';
import { StrictMode, startTransition } from 'react';
import { createRoot } from 'react-dom/client';
import { RouterProvider } from 'react-router';
import { preferredLanguage } from './live/preferred-language';
import { onReport } from './reports/report';
import { createPortalRouter } from './router';
import { restoreBrought } from './slices/brought';
import { readSliceList } from './slices/slice-list';
import { takeOver } from './take-over';

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
takeOver(root);
// A transition is drawn in small steps.
startTransition(() =>
  createRoot(root).render(
    <StrictMode>
      <RouterProvider router={createPortalRouter()} />
    </StrictMode>,
  ),
);

// Not needed for the first page.
if (isLive()) void import('./live/start-live').then(({ startLive }) => startLive());
void import(/* webpackChunkName: "background" */ './slices/watch-versions').then(({ watchVersions }) =>
  watchVersions(),
);
if (list?.portal.reports)
  void import(/* webpackChunkName: "background" */ './reports/send-reports').then(({ sendReports }) =>
    sendReports(),
  );
else onReport(null);
