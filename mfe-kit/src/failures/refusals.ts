import { catalogue } from '../language/language';
import type { ApiError } from './api-error';

/** Sentences by a failure's code, which the portal says in place of the server's own text. */
export type Refusals = Readonly<Record<string, string | ((failure: ApiError) => string)>>;

/** The server writes English. */
const english: Refusals = {};

export const refusals = catalogue(english, { sw: () => import('./refusals-sw') });
