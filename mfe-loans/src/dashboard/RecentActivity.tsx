import { formatMoney } from 'mfe-kit';
import { EmptyState, Icon, type IconName, TimeAgo } from 'mfe-kit/ui';
import classes from './RecentActivity.module.css';
import type { Activity } from './stats';

const KINDS: Record<Activity['type'], { label: string; icon: IconName; tone: string }> = {
  disbursement: { label: 'Loan Disbursed', icon: 'success', tone: 'good' },
  approval: { label: 'Loan Approved', icon: 'clock', tone: 'info' },
  failed_disbursement: { label: 'Disbursement Failed', icon: 'failure', tone: 'bad' },
};

/** The latest payout, approval and failed payout. */
export function RecentActivity({ activities }: { activities: readonly Activity[] }) {
  if (activities.length === 0) return <EmptyState title="No recent activity" />;
  return (
    <ul className={classes.feed}>
      {activities.map(({ type, loanId, customerName, amount, date, errorMessage }) => {
        const { label, icon, tone } = KINDS[type];
        return (
          <li key={`${type} ${loanId}`}>
            <span className={`${classes.icon} ${classes[tone]}`}>
              <Icon name={icon} />
            </span>
            <div>
              <strong>{label}</strong>
              <p>{`${customerName} · ${formatMoney(amount)}`}</p>
              {errorMessage ? <p className={classes.error}>{errorMessage}</p> : null}
              <p>
                <TimeAgo moment={date} />
              </p>
            </div>
          </li>
        );
      })}
    </ul>
  );
}
