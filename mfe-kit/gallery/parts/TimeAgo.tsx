/** A relative time such as '5 minutes ago', kept up to date, with the exact time in its title. */
import { now } from 'mfe-kit';
import { TimeAgo } from 'mfe-kit/ui';

const HOUR_MS = 3_600_000;

export function Times() {
  return (
    <>
      <TimeAgo moment={new Date(now().getTime() - HOUR_MS / 12).toISOString()} />
      <TimeAgo moment={new Date(now().getTime() - 30 * HOUR_MS).toISOString()} />
    </>
  );
}
