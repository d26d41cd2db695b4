import { lazy } from 'react';
import { createBrowserRouter, Navigate, Outlet, type RouteObject } from 'react-router';
import { PublicFrame } from './layout/PublicFrame';
import { SignedIn } from './layout/SignedIn';
import { PortalFailed } from './PortalFailed';
import { Root } from './Root';
import { OWNED_PATHS } from './slices/owned-paths';
import { SliceScreen } from './slices/SliceScreen';
import { UnknownAddress } from './slices/UnknownAddress';

const SettingsPage = lazy(() => import('./settings/SettingsPage'));

const screensOfSlices = (access: 'public' | undefined): RouteObject[] =>
  OWNED_PATHS.filter((owned) => owned.access === access).map(({ path, slice }) => ({
    path,
    element: <SliceScreen name={slice} />,
  }));

/** The portal's routes: those of slices, those of the shell, and any other. */
export const routes: RouteObject[] = [
  {
    Component: Root,
    children: [
      {
        ErrorBoundary: PortalFailed,
        children: [
          { path: '/dashboard', element: <Navigate to="/" replace /> },
          {
            Component: SignedIn,
            children: [{ path: '/settings', Component: SettingsPage }, ...screensOfSlices(undefined)],
          },
          { element: <PublicFrame children={<Outlet />} />, children: screensOfSlices('public') },
          { path: '*', Component: UnknownAddress },
        ],
      },
    ],
  },
];

export const createPortalRouter = () => createBrowserRouter(routes);
