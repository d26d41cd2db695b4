import { formatMoney, formatNumber, language } from 'mfe-kit';
import { Icon, type IconName } from 'mfe-kit/ui';
import { Figure, Figures } from 'mfe-kit/ui-data';
import { formatPercent, type Report } from './report';
import { reportsTexts } from './reports-texts';

export function ReportFigures({ report: { figures, change } }: { report: Report }) {
  const texts = reportsTexts();
  const figure = (name: keyof typeof change, icon: IconName, title: string, value: string) => (
    <Figure
      icon={icon}
      title={title}
      value={value}
      note={<Change by={change[name]} inPoints={name === 'success_rate'} />}
    />
  );
  const { total_disbursed, total_transactions, average_disbursement, success_rate } = figures;
  const rate = success_rate === null ? texts.none : formatPercent(success_rate);
  return (
    <Figures>
      {figure('total_disbursed', 'money', texts.totalDisbursed, formatMoney(total_disbursed))}
      {figure('total_transactions', 'transfer', texts.totalTransactions, formatNumber(total_transactions))}
      {figure('average_disbursement', 'chart', texts.averageDisbursement, formatMoney(average_disbursement))}
      {figure('success_rate', 'success', texts.successRate, rate)}
    </Figures>
  );
}

/** The change against the period before, in percent, or in percentage points. */
function Change({ by, inPoints }: { by: number | null; inPoints: boolean }) {
  const texts = reportsTexts();
  if (by === null) return texts.noComparison;
  const number = new Intl.NumberFormat(language.locale, {
    signDisplay: 'exceptZero',
    minimumFractionDigits: 1,
    maximumFractionDigits: 1,
  }).format(by);
  return (
    <>
      {by === 0 ? null : <Icon name={by < 0 ? 'descending' : 'ascending'} size={14} />}
      {inPoints ? texts.points(number) : `${number}%`}
    </>
  );
}
