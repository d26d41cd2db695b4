import { session } from '../session/session';

/** The lists that can be large, so that a body that has not changed should not be sent again. */
const PATHS = ['/api/v1/disbursements/pending', '/api/v1/disbursement-records'];

interface HeldList {
  authorization: string | null;
  etag: string;
  text: string;
}

/** The last body of each list, in memory only: the browser's cache would keep it after a sign-out. */
const held = new Map<string, HeldList>();

session.subscribe(() => {
  if (session.state.status !== 'signed-in') held.clear();
});

/** The body that this session received for the list that `request` asks for, with its `ETag`. */
export function heldList(request: Request): HeldList | undefined {
  const list = held.get(request.url);
  return list?.authorization === request.headers.get('Authorization') ? list : undefined;
}

/** Holds the body of a list, unless the session that asked for it is over. */
export function holdList(request: Request, headers: Headers, text: string): void {
  const etag = headers.get('ETag');
  const authorization = request.headers.get('Authorization');
  const isList = request.method === 'GET' && PATHS.includes(new URL(request.url).pathname);
  if (etag && isList && session.token !== null && authorization === `Bearer ${session.token}`)
    held.set(request.url, { authorization, etag, text });
}
