import { catalogue } from '../language/language';

/**
 * What the portal says for a failure's code in place of the server's own text. The server writes English, so
 * English has none.
 */
const english: Readonly<Record<string, string>> = {};

export const refusals = catalogue(english, { sw: () => import('./refusals-sw') });
