import { useQuery } from '@tanstack/react-query';
import { formatMoney, isolated, type Schema } from 'mfe-kit';
import { Button, Icon, type IconName, Spinner, TimeAgo } from 'mfe-kit/ui';
import { type ReactNode, useEffect, useState, useSyncExternalStore } from 'react';
import { Link } from 'react-router';
import { BellFrame } from '../layout/BellFrame';
import { newVersion } from '../notices/new-version';
import { bellTexts, type BellTexts } from './bell-texts';
import classes from './LiveBell.module.css';
import { markRead, notificationsQuery } from './notifications';

type Notification = Schema<'Notification'>;

const ICONS: Record<Notification['kind'], { icon: IconName; tone: string | undefined }> = {
  payout_completed: { icon: 'success', tone: classes.good },
  payout_failed: { icon: 'failure', tone: classes.bad },
  loan_approved: { icon: 'money', tone: classes.info },
};

/** The bell with what the person should know; opening it marks everything as read. */
export default function LiveBell({ samples }: { samples: ReactNode }) {
  const query = useQuery(notificationsQuery());
  const isNewVersion = useSyncExternalStore(newVersion.subscribe, newVersion.get);
  const [isOpen, setOpen] = useState(false);
  const { notifications = [], unread: unreadHere = 0 } = query.data ?? {};
  const newest = notifications[0];

  // Those that were unread when the panel showed them keep their mark until it is closed.
  const [marked, setMarked] = useState<ReadonlySet<string>>(new Set());
  const fresh = isOpen ? notifications.filter(({ id, is_read }) => !is_read && !marked.has(id)) : [];
  if (fresh.length > 0) setMarked(new Set([...marked, ...fresh.map(({ id }) => id)]));

  useEffect(() => {
    // If it fails, they stay unread, and are marked when the panel is opened again.
    if (isOpen && newest && unreadHere > 0) void markRead(newest).catch(() => undefined);
  }, [isOpen, newest, unreadHere]);

  if (query.data === null) return samples;
  const texts = bellTexts();
  const unread = unreadHere + (isNewVersion ? 1 : 0);
  return (
    <>
      <BellFrame
        label={unread > 0 ? texts.unread(unread) : texts.heading}
        heading={texts.heading}
        unread={unread}
        onToggle={(open) => {
          setOpen(open);
          if (!open) setMarked(new Set());
        }}
      >
        {(close) => (
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
            {query.isPending ? (
              <div className={classes.state}>
                <Spinner />
              </div>
            ) : query.isError && notifications.length === 0 ? (
              <div className={classes.state} role="alert">
                <p>{texts.failed}</p>
                <Button size="small" onClick={() => void query.refetch()}>
                  {texts.retry}
                </Button>
              </div>
            ) : notifications.length === 0 ? (
              <p className={classes.state}>{texts.empty}</p>
            ) : (
              <ul className={classes.list} role="list">
                {notifications.map((notification) => (
                  <Line
                    key={notification.id}
                    notification={notification}
                    isUnread={marked.has(notification.id) || !notification.is_read}
                    onOpen={close}
                  />
                ))}
              </ul>
            )}
          </>
        )}
      </BellFrame>
      <span className={classes.unseen} role="status">
        {unread > 0 ? texts.arrived(unread) : ''}
      </span>
    </>
  );
}

interface LineProps {
  notification: Notification;
  isUnread: boolean;
  onOpen: () => void;
}

/** One notification, which leads to its loan or payout. */
function Line({ notification, isUnread, onOpen }: LineProps) {
  const texts = bellTexts();
  const { kind, at, loan_id } = notification;
  const { icon, tone } = ICONS[kind];
  const list = kind === 'loan_approved' ? '/pending-loans' : '/transactions';
  return (
    <li>
      <Link
        className={classes.line}
        to={`${list}?${new URLSearchParams({ search: loan_id }).toString()}`}
        onClick={onOpen}
      >
        <span className={tone}>
          <Icon name={icon} />
        </span>
        <span className={classes.words}>
          <strong>{texts[kind]}</strong>
          <span>{sentence(texts, notification)}</span>
          <small>
            <TimeAgo moment={at} />
          </small>
        </span>
        {isUnread ? (
          <span className={classes.dot}>
            <span className={classes.unseen}>{texts.unreadMark}</span>
          </span>
        ) : null}
      </Link>
    </li>
  );
}

function sentence(texts: BellTexts, { kind, amount, customer_name, error_message }: Notification): string {
  const money = formatMoney(amount);
  const customer = isolated(customer_name);
  if (kind === 'payout_completed') return texts.paid(money, customer);
  if (kind === 'loan_approved') return texts.ready(money, customer);
  return [texts.notPaid(money, customer), error_message].filter(Boolean).join(' ');
}
