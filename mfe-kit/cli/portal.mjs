import { isIPv4 } from 'node:net';
import { Refusal } from './refusal.mjs';

const TIMEOUT_MS = 20_000;

/** The address of a portal, without a slash at its end. */
export function portalAt(given) {
  if (!given)
    throw new Refusal(
      'say which portal: set slice.portal in package.json, or MKOPO_PORTAL, or add its address.',
    );
  const address = URL.canParse(given) ? new URL(given) : null;
  if (!/^https?:$/.test(address?.protocol ?? ''))
    throw new Refusal(`'${given}' is not the address of a portal.`);
  return address.origin;
}

/** Returns `true` if nobody on the way to a portal can read what is sent: it has TLS, or is on this machine. */
export function isPrivate(portal) {
  const { protocol, hostname } = new URL(portal);
  const isLoopback = isIPv4(hostname) && hostname.startsWith('127.');
  return protocol === 'https:' || isLoopback || /^(localhost|.+\.localhost|\[::1\])$/.test(hostname);
}

/** Asks a portal. Fails with a sentence if it can't be reached. */
export async function ask(portal, path, init = {}) {
  try {
    return await fetch(`${portal}${path}`, { signal: AbortSignal.timeout(TIMEOUT_MS), ...init });
  } catch (error) {
    // A name with several addresses has a cause for each.
    const { cause = error } = error;
    throw new Refusal(
      `${portal} can't be reached: ${cause.message || cause.errors?.[0]?.message || cause.code}.`,
    );
  }
}

/** The list of a portal's slices. */
export async function readList(portal) {
  const answer = await ask(portal, '/slices.json');
  const list = await answer.json().catch(() => null);
  if (!answer.ok || !list?.slices)
    throw new Refusal(`${portal} is not a Mkopo portal: it has no /slices.json.`);
  if (!list.shell) throw new Refusal(`${portal} serves no shell, so no slice can be loaded there.`);
  return list;
}
