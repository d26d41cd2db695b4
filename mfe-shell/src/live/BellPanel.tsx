import { useMutation, type UseQueryResult } from '@tanstack/react-query';
import { notify, type Schema } from 'mfe-kit';
import { Button, Icon, Spinner } from 'mfe-kit/ui';
import { type ReactNode, useEffect, useState, useSyncExternalStore } from 'react';
import { passOnTo } from '../navigation/pass-on';
import { newVersion } from '../notices/new-version';
import classes from './BellPanel.module.css';
import { bellTexts } from './bell-texts';
import { NotificationLine } from './NotificationLine';
import { markRead } from './notifications';
import { useSeenLines } from './useSeenLines';

type Notification = Schema<'Notification'>;

/** From as many approved loans on, one line stands for all of them, listed or not. */
const GROUPED_FROM = 3;

/** The panel gets the focus of a button that goes. */
const passOn = passOnTo((button) => button.closest('section'));

interface BellPanelProps extends Pick<
  UseQueryResult<Schema<'Notifications'> | null>,
  'data' | 'isPending' | 'isError' | 'refetch'
> {
  onOpen: () => void;
}

/** What is below the heading of the open bell. */
export default function BellPanel(props: BellPanelProps): ReactNode {
  const { data: all, isPending, isError, refetch, onOpen } = props;
  const again = useMutation({
    mutationFn: () => refetch({ throwOnError: true }),
    meta: { act: 'try again' },
  });
  const isNewVersion = useSyncExternalStore(newVersion.subscribe, newVersion.get);
  const texts = bellTexts();
  return (
    <>
      {isNewVersion ? (
        <div className={classes.version}>
          <Icon name="info" />
          <div>
            <strong>{texts.newVersion}</strong>
            <p>{texts.newVersionText}</p>
          </div>
          <Button size="small" onClick={() => window.location.reload()}>
            {texts.reload}
          </Button>
        </div>
      ) : null}
      {all?.notifications.length ? (
        <Lines all={all} onOpen={onOpen} />
      ) : isPending ? (
        <div className={classes.state}>
          <Spinner />
        </div>
      ) : isError ? (
        <div className={classes.state} role="alert">
          <p>{texts.failed}</p>
          <Button size="small" ref={passOn} onClick={() => again.mutate()}>
            {texts.retry}
          </Button>
        </div>
      ) : (
        <p className={classes.state}>{texts.empty}</p>
      )}
    </>
  );
}

/**
 * The notifications while the panel is open, failures first. The provider knows only until when everything was read: that
 * moves once there is a line on the page for each unread one and all lines have been on the screen, or when the person
 * says so.
 */
function Lines({ all, onOpen }: { all: Schema<'Notifications'>; onOpen: () => void }) {
  const { notifications, unread, approved } = all;
  const newest = notifications[0];
  const [isFailuresOnly, setFailuresOnly] = useState(false);
  const { seen, look } = useSeenLines();

  const failures = notifications.filter(({ kind }) => kind === 'payout_failed');
  const others = notifications.filter(({ kind }) => kind !== 'payout_failed');
  const group = approved >= GROUPED_FROM ? notifications.find(isLoan) : undefined;
  const lines = [...failures, ...others.filter((one) => !group || !isLoan(one) || one === group)];
  const isSeen = hasLineOfEachUnread(all) && lines.every(({ id }) => seen.has(id));
  // The button that would show the others again leaves with the last failure.
  if (isFailuresOnly && failures.length === 0) setFailuresOnly(false);

  // Those that were unread when the panel showed them keep their mark until it is closed.
  const [marked, setMarked] = useState<ReadonlySet<string>>(new Set());
  const fresh = notifications.filter(({ id, is_read }) => !is_read && !marked.has(id));
  if (fresh.length > 0) setMarked(new Set([...marked, ...fresh.map(({ id }) => id)]));

  useEffect(() => {
    // If it fails, they stay unread, and are marked when the panel is opened again.
    if (isSeen && newest && unread > 0) void markRead(newest).catch(() => undefined);
  }, [isSeen, newest, unread]);

  const texts = bellTexts();
  return (
    <>
      <div className={classes.tools}>
        {failures.length > 0 ? (
          <Button size="small" aria-pressed={isFailuresOnly} onClick={() => setFailuresOnly(!isFailuresOnly)}>
            {texts.failuresOnly(failures.length)}
          </Button>
        ) : null}
        {newest && unread > 0 ? (
          <Button
            size="small"
            type="link"
            ref={passOn}
            onClick={() =>
              void markRead(newest).catch(() => notify({ type: 'error', message: texts.notMarked }))
            }
          >
            {texts.markAllRead}
          </Button>
        ) : null}
      </div>
      <ul
        className={classes.list}
        role="list"
        ref={look}
        onScroll={({ currentTarget }) => look(currentTarget)}
      >
        {(isFailuresOnly ? failures : lines).map((notification) => (
          <NotificationLine
            key={notification.id}
            notification={notification}
            count={notification === group ? approved : 1}
            isUnread={marked.has(notification.id)}
            onOpen={onOpen}
          />
        ))}
      </ul>
    </>
  );
}

/** Returns whether each unread notification is listed, or is a loan in the line of all approved loans. */
function hasLineOfEachUnread(all: Schema<'Notifications'>): boolean {
  const isGrouped = all.approved >= GROUPED_FROM;
  const listed = all.notifications.filter((one) => !one.is_read && !(isGrouped && isLoan(one)));
  return listed.length >= all.unread - (isGrouped ? all.unread_approved : 0);
}

function isLoan({ kind }: Notification): boolean {
  return kind === 'loan_approved';
}
