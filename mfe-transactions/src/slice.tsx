import type { Slice } from 'mfe-kit';
import { lazy } from 'react';
import slicePackage from '../package.json';

const ReportsPage = lazy(() => import(/* webpackChunkName: "reports" */ './reports/ReportsPage'));
const TransactionsPage = lazy(
  () => import(/* webpackChunkName: "transactions" */ './transactions/TransactionsPage'),
);

/** The transaction history and the reports. */
const slice: Slice = {
  name: slicePackage.name,
  version: slicePackage.version,
  routes: [
    { path: '/transactions', Component: TransactionsPage },
    { path: '/reports', Component: ReportsPage },
  ],
};

export default slice;
