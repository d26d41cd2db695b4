import { shellBuild } from 'mfe-kit/build/webpack';

export default shellBuild(import.meta.dirname);
