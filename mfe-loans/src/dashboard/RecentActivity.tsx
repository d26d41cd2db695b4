import { formatMoney, isolated, refusalSentences } from 'mfe-kit';
import { EmptyState, Icon, type IconName, TimeAgo } from 'mfe-kit/ui';
import { loansTexts, type LoansTexts } from '../loans-texts';
import classes from './RecentActivity.module.css';
import type { Activity } from './stats';

const KINDS = {
  disbursement: { label: 'loanDisbursed', icon: 'success', tone: 'good' },
  approval: { label: 'loanApproved', icon: 'clock', tone: 'info' },
  failed_disbursement: { label: 'disbursementFailed', icon: 'failure', tone: 'bad' },
} as const satisfies Record<Activity['type'], { label: keyof LoansTexts; icon: IconName; tone: string }>;

export function RecentActivity({ activities }: { activities: readonly Activity[] }) {
  const texts = loansTexts();
  if (activities.length === 0) return <EmptyState title={texts.noRecentActivity} />;
  return (
    <ul className={classes.feed} role="list">
      {activities.map(({ type, loanId, customerName, amount, date, errorMessage }) => {
        const { label, icon, tone } = KINDS[type];
        return (
          <li key={`${type} ${loanId}`}>
            <span className={`${classes.icon} ${classes[tone]}`}>
              <Icon name={icon} />
            </span>
            <div>
              <strong>{texts[label]}</strong>
              <p className="detail">{`${isolated(customerName || texts.missing)} · ${formatMoney(amount)}`}</p>
              {refusalSentences(errorMessage).map(({ text, lang }) => (
                <p key={text} className={`detail ${classes.error}`} lang={lang}>
                  {text}
                </p>
              ))}
              <p className="detail">
                <TimeAgo moment={date} />
              </p>
            </div>
          </li>
        );
      })}
    </ul>
  );
}
