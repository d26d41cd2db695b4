import { join } from 'node:path';
import { archiveOf } from './archive.mjs';
import { ask } from './portal.mjs';

/** Sends the build in `dist/` to a portal; returns the status and the content of its answer. */
export async function upload({ folder }, { portal, token, query }) {
  const answer = await ask(portal, `/deploy/slices?${new URLSearchParams(query)}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/octet-stream' },
    body: await archiveOf(join(folder, 'dist')),
    signal: AbortSignal.timeout(120_000),
  });
  const told = await answer.json().catch(() => ({}));
  const error = told.error ?? `${portal} answered ${answer.status} and is not a Mkopo portal.`;
  return answer.ok
    ? { status: answer.status, slice: told }
    : { status: answer.status, code: told.code, error };
}
