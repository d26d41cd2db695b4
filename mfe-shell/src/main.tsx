import 'mfe-kit/styles.css';
import { connection, session, theme } from 'mfe-kit';
import { StrictMode } from 'react';
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
createRoot(root).render(
  <StrictMode>
    <RouterProvider router={createPortalRouter()} />
  </StrictMode>,
);
