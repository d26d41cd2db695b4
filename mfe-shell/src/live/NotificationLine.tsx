import { formatMoney, isolated, refusalSentences, type Schema } from 'mfe-kit';
import { Icon, type IconName, TimeAgo, Unseen } from 'mfe-kit/ui';
import { Link } from 'react-router';
import { bellTexts, type BellTexts } from './bell-texts';
import classes from './BellPanel.module.css';

type Notification = Schema<'Notification'>;

const ICONS: Record<Notification['kind'], { icon: IconName; tone: string | undefined }> = {
  payout_completed: { icon: 'success', tone: classes.good },
  payout_failed: { icon: 'failure', tone: classes.bad },
  loan_approved: { icon: 'money', tone: classes.info },
};

interface NotificationLineProps {
  notification: Notification;
  /** The number of notifications of its kind that it stands for. */
  count: number;
  isUnread: boolean;
  onOpen: () => void;
}

/** One notification, which leads to its loan or payout, or several, which lead to their list. */
export function NotificationLine({ notification, count, isUnread, onOpen }: NotificationLineProps) {
  const texts = bellTexts();
  const { id, kind, at, loan_id, error_message } = notification;
  const { icon, tone } = ICONS[kind];
  const list = kind === 'loan_approved' ? '/pending-loans' : '/transactions';
  return (
    <li data-line={id}>
      <Link
        className={classes.line}
        to={count > 1 ? list : `${list}?${new URLSearchParams({ search: loan_id }).toString()}`}
        onClick={onOpen}
      >
        <span className={tone}>
          <Icon name={icon} />
        </span>
        <span className={classes.words}>
          <strong>{count > 1 ? texts.loansApproved(count) : texts[kind]}</strong>
          <span>
            {count > 1 ? texts.allReady : sentence(texts, notification)}
            {refusalSentences(error_message).map(({ text, lang }) => (
              <span key={text} lang={lang}>
                {` ${text}`}
              </span>
            ))}
          </span>
          <small>
            <TimeAgo moment={at} />
          </small>
        </span>
        {isUnread ? (
          <span className={classes.dot}>
            <Unseen>{texts.unreadMark}</Unseen>
          </span>
        ) : null}
      </Link>
    </li>
  );
}

function sentence(texts: BellTexts, { kind, amount, customer_name }: Notification): string {
  const money = formatMoney(amount);
  const customer = isolated(customer_name);
  if (kind === 'payout_completed') return texts.paid(money, customer);
  return kind === 'loan_approved' ? texts.ready(money, customer) : texts.notPaid(money, customer);
}
