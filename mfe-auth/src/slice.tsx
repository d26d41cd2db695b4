import type { Slice } from 'mfe-kit';
import { lazy } from 'react';
import slicePackage from '../package.json';

const LoginPage = lazy(() => import(/* webpackChunkName: "login" */ './login/LoginPage'));
const PasswordResetPage = lazy(
  () => import(/* webpackChunkName: "password-reset" */ './password-reset/PasswordResetPage'),
);
const ProfilePage = lazy(() => import(/* webpackChunkName: "profile" */ './profile/ProfilePage'));

/** Sign-in, a new password, and the user's own page. */
const slice: Slice = {
  name: slicePackage.name,
  version: slicePackage.version,
  routes: [
    { path: '/login', Component: LoginPage },
    { path: '/password-reset', Component: PasswordResetPage },
    { path: '/profile', Component: ProfilePage },
  ],
};

export default slice;
