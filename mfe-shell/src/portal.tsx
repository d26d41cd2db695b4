import { connection, session, theme } from 'mfe-kit';
import { StrictMode, startTransition } from 'react';
import { createRoot } from 'react-dom/client';
import { RouterProvider } from 'react-router';
import { createPortalRouter } from './router';
import { readSliceList } from './slices/slice-list';

theme.start();
session.start();
connection.start();

// The settings are needed for the first words drawn; without a list the defaults have to do.
await readSliceList().catch((error: unknown) => console.error('slices.json could not be read', error));

const root = document.getElementById('root');
if (!root) throw new Error('The page has no #root');
// A transition is drawn in slices of time.
startTransition(() =>
  createRoot(root).render(
    <StrictMode>
      <RouterProvider router={createPortalRouter()} />
    </StrictMode>,
  ),
);

// Nobody waits for it.
void import('./slices/watch-versions').then(({ watchVersions }) => watchVersions());
