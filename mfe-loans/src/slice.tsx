import type { Slice } from 'mfe-kit';
import { lazy } from 'react';
import slicePackage from '../package.json';

const DashboardPage = lazy(() => import(/* webpackChunkName: "dashboard" */ './dashboard/DashboardPage'));
const PendingLoansPage = lazy(
  () => import(/* webpackChunkName: "pending-loans" */ './pending-loans/PendingLoansPage'),
);
const LoanDetailsPage = lazy(() => import(/* webpackChunkName: "loans" */ './loan-details/LoanDetailsPage'));

/** The dashboard, the pending loans and their payout. */
const slice: Slice = {
  name: slicePackage.name,
  version: slicePackage.version,
  routes: [
    { path: '/', Component: DashboardPage },
    { path: '/pending-loans', Component: PendingLoansPage },
    { path: '/loans/:id', Component: LoanDetailsPage },
  ],
};

export default slice;
