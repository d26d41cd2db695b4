import { sliceBuild } from 'mfe-kit/build/webpack';

export default sliceBuild(import.meta.dirname);
