import type { Slice, SliceRouteHandle } from 'mfe-kit';
import { lazy } from 'react';
import slicePackage from '../package.json';

const LoginPage = lazy(() => import(/* webpackChunkName: "login" */ './login/LoginPage'));
const PasswordResetPage = lazy(
  () => import(/* webpackChunkName: "password-reset" */ './password-reset/PasswordResetPage'),
);
const ProfilePage = lazy(() => import(/* webpackChunkName: "profile" */ './profile/ProfilePage'));

const open: SliceRouteHandle = { access: 'public' };

/** Sign-in, a new password, and the user's own page. */
const slice: Slice = {
  name: slicePackage.name,
  version: slicePackage.version,
  routes: [
    { path: '/login', Component: LoginPage, handle: open },
    { path: '/password-reset', Component: PasswordResetPage, handle: open },
    { path: '/profile', Component: ProfilePage },
  ],
};

export default slice;
