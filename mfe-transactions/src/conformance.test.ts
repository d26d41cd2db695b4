import { checkSlice } from 'mfe-kit/build/conformance';
import slice from './slice';

checkSlice(slice, import.meta.dirname);
