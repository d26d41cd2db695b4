import { formatMoney, formatNumber, language } from 'mfe-kit';
import { Icon } from 'mfe-kit/ui';
import { Figure, Figures } from 'mfe-kit/ui-data';
import { formatPercent, type Report } from './report';
import { reportsTexts } from './reports-texts';

/** The figures of the period, each with its change. */
export function ReportFigures({ report: { figures, change } }: { report: Report }) {
  const texts = reportsTexts();
  return (
    <Figures>
      <Figure
        icon="money"
        title={texts.totalDisbursed}
        value={formatMoney(figures.total_disbursed)}
        note={<Change by={change.total_disbursed} />}
      />
      <Figure
        icon="transfer"
        title={texts.totalTransactions}
        value={formatNumber(figures.total_transactions)}
        note={<Change by={change.total_transactions} />}
      />
      <Figure
        icon="chart"
        title={texts.averageDisbursement}
        value={formatMoney(figures.average_disbursement)}
        note={<Change by={change.average_disbursement} />}
      />
      <Figure
        icon="success"
        title={texts.successRate}
        value={figures.success_rate === null ? texts.none : formatPercent(figures.success_rate)}
        note={<Change by={change.success_rate} inPoints />}
      />
    </Figures>
  );
}

/** The change against the period before, in percent, or in percentage points. */
function Change({ by, inPoints = false }: { by: number | null; inPoints?: boolean }) {
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
