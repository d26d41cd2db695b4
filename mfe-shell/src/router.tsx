import { storage } from 'mfe-kit';
import { lazy } from 'react';
import { createBrowserRouter, Navigate, Outlet, type RouteObject } from 'react-router';
import { PublicFrame } from './layout/PublicFrame';
import { SignedIn } from './layout/SignedIn';
import { PortalFailed } from './PortalFailed';
import { Root } from './Root';
import { brought } from './slices/brought';
import { SliceScreen } from './slices/SliceScreen';
import { StorageBlocked } from './StorageBlocked';

const EnterPage = lazy(() => import('./story/EnterPage'));
const SettingsPage = lazy(() => import('./settings/SettingsPage'));
const UnknownAddress = lazy(() => import('./slices/UnknownAddress'));

const screensOfSlices = (isPublic: boolean): RouteObject[] =>
  brought
    .get()
    .screens.filter((screen) => screen.isPublic === isPublic)
    .map(({ path, slice, title }) => ({ path, element: <SliceScreen name={slice} title={title} /> }));

/**
 * The portal's routes: those that slices bring, those of the shell, and any other. A screen of a slice that
 * is published later is found by `UnknownAddress`.
 */
export const portalRoutes = (): RouteObject[] => [
  {
    Component: storage.isAllowed ? Root : StorageBlocked,
    children: [
      {
        ErrorBoundary: PortalFailed,
        children: [
          { path: '/dashboard', element: <Navigate to="/" replace /> },
          {
            Component: SignedIn,
            children: [{ path: '/settings', Component: SettingsPage }, ...screensOfSlices(false)],
          },
          {
            element: <PublicFrame children={<Outlet />} />,
            children: [{ path: '/enter', Component: EnterPage }, ...screensOfSlices(true)],
          },
          { path: '*', Component: UnknownAddress },
        ],
      },
    ],
  },
];

export const createPortalRouter = () => createBrowserRouter(portalRoutes());
