import type { Slice } from 'mfe-kit';
import { lazy } from 'react';
import slicePackage from '../package.json';

const SamplePage = lazy(() => import(/* webpackChunkName: "sample" */ './list/SamplePage'));

/** What Sample is about. */
const slice: Slice = {
  name: slicePackage.name,
  version: slicePackage.version,
  routes: [{ path: '/sample', Component: SamplePage }],
};

export default slice;
