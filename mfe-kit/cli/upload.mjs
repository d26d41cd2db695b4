import { join } from 'node:path';
import { archiveOf } from './archive.mjs';
import { ask, isPrivate } from './portal.mjs';
import { Refusal } from './refusal.mjs';

/** The header with a deploy token. There is none where the token could be read on the way, unless that `isAllowed`. */
export function authorizationFor(portal, token, { isAllowed }) {
  if (!isPrivate(portal) && !isAllowed)
    throw new Refusal(
      `${portal} has no TLS: the token could be read on the way; give an address with https://, or add --insecure (MKOPO_INSECURE=true).`,
    );
  if (!/^[\x21-\x7e]+$/.test(token)) throw new Refusal('the deploy token has characters that no token has.');
  return `Bearer ${token}`;
}

/** Sends the build in `dist/` to a portal; returns the status and the content of its answer. */
export async function upload({ folder }, { portal, authorization, query }) {
  const answer = await ask(portal, `/deploy/slices?${new URLSearchParams(query)}`, {
    method: 'POST',
    headers: { Authorization: authorization, 'Content-Type': 'application/octet-stream' },
    body: await archiveOf(join(folder, 'dist')),
    signal: AbortSignal.timeout(120_000),
  });
  const told = await answer.json().catch(() => ({}));
  const error = told.error ?? `${portal} answered ${answer.status} and is not a Mkopo portal.`;
  return answer.ok
    ? { status: answer.status, slice: told }
    : { status: answer.status, code: told.code, error };
}
