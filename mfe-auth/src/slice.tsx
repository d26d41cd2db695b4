import type { Slice, SliceRouteHandle } from 'mfe-kit';
import { lazy } from 'react';
import slicePackage from '../package.json';

const LoginPage = lazy(() => import('./login/LoginPage'));

const open: SliceRouteHandle = { access: 'public' };

/** Sign-in. */
const slice: Slice = {
  name: slicePackage.name,
  version: slicePackage.version,
  routes: [{ path: '/login', Component: LoginPage, handle: open }],
};

export default slice;
