import { useEffect, useState } from 'react';
import { formatDateTime, now, relativeTime } from 'mfe-kit';

const REDRAWN_MS = 30_000;

/** A relative time such as '5 minutes ago', kept up to date, with the exact time in its title. */
export function TimeAgo({ moment }: { moment: string }) {
  const [current, setCurrent] = useState(now);

  useEffect(() => {
    const timer = setInterval(() => setCurrent(now()), REDRAWN_MS);
    return () => clearInterval(timer);
  }, []);

  return (
    <time dateTime={moment} title={formatDateTime(moment)}>
      {relativeTime(moment, current)}
    </time>
  );
}
