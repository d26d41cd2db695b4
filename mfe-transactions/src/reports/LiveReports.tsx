import { useQuery } from '@tanstack/react-query';
import { type FailureTexts, formatDate, formatDateTime, formatMoney, language } from 'mfe-kit';
import { Button, Card, EmptyState, Icon, PageHeader, QueryStates, StatusTag } from 'mfe-kit/ui';
import { type Column, DataTable, Figure, Figures, Person, Select } from 'mfe-kit/ui-data';
import { type ReactNode, useEffect, useMemo } from 'react';
import { useSearchParams } from 'react-router';
import { TONES } from '../transaction/status';
import { transactionsTexts } from '../transactions-texts';
import { type Transaction, transactionFrom } from '../transaction/transaction';
import { OutcomeChart } from './OutcomeChart';
import {
  addressOf,
  choiceFrom,
  exportCsv,
  measure,
  nameOf,
  OUTCOMES,
  PERIODS,
  type Report,
  type ReportChoice,
  reportQuery,
  type ReportType,
  TYPES,
  UNITS,
} from './report';
import { reportsTexts } from './reports-texts';
import classes from './ReportsPage.module.css';

const failure = (): FailureTexts => {
  const { failedToLoad } = reportsTexts();
  return { reads: 'message', withoutText: failedToLoad, otherwise: failedToLoad };
};

/** The report that the server computes from the records; `specified` is drawn for a provider without reports. */
export default function LiveReports({ specified }: { specified: ReactNode }) {
  const [params, setParams] = useSearchParams();
  const choice = choiceFrom(params);
  const query = useQuery(reportQuery(choice));
  useLightPrint();
  const choose = (changes: Partial<ReportChoice>) =>
    setParams(addressOf({ ...choice, ...changes }), { replace: true, preventScrollReset: true });
  const report = query.data;
  if (report === null) return <>{specified}</>;
  return (
    <div aria-busy={query.isPlaceholderData}>
      <Head report={report} />
      <Choices choice={choice} onChoose={choose} />
      <QueryStates query={query} failure={failure()}>
        {(loaded) => loaded && <Content report={loaded} onChoose={choose} />}
      </QueryStates>
    </div>
  );
}

/** The title, and what is known of the report. It stays while another one loads. */
function Head({ report }: { report: Report | undefined }) {
  const texts = reportsTexts();
  if (!report) return <PageHeader title={texts.title} />;
  return (
    <PageHeader
      title={texts.title}
      subtitle={texts.span(
        formatDate(report.from),
        formatDate(report.to),
        formatDate(report.before_from),
        formatDate(report.before_to),
      )}
      action={
        <Button
          type="primary"
          className={classes.export ?? ''}
          icon={<Icon name="download" size={15} />}
          onClick={() => exportCsv(report)}
        >
          {texts.export}
        </Button>
      }
    />
  );
}

interface ChoicesProps {
  choice: ReportChoice;
  onChoose: (changes: Partial<ReportChoice>) => void;
}

function Choices({ choice, onChoose }: ChoicesProps) {
  const texts = reportsTexts();
  return (
    <div className={classes.choices}>
      <Select
        aria-label={texts.period}
        virtual={false}
        options={PERIODS.map((value) => ({ value, label: texts.periods[value] }))}
        value={choice.period}
        // Another period has another scale, unless one is chosen again.
        onChange={(period) => onChoose({ period, unit: null })}
      />
      <Select
        aria-label={texts.type}
        virtual={false}
        options={TYPES.map((value) => ({ value, label: texts.types[value] }))}
        value={choice.type}
        onChange={(type) => onChoose({ type })}
      />
    </div>
  );
}

function Content({ report, onChoose }: { report: Report; onChoose: ChoicesProps['onChoose'] }) {
  const texts = reportsTexts();
  const { figures, change, type, unit } = report;
  const latest = useMemo(() => report.latest.map(transactionFrom), [report.latest]);
  return (
    <>
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
      <div className={classes.cards}>
        <Card
          title={texts.trends}
          action={
            <div className={classes.scales} role="group" aria-label={texts.unit}>
              {UNITS.map((one) => (
                <Button
                  key={one}
                  size="small"
                  aria-pressed={unit === one}
                  className={unit === one ? (classes.pressed ?? '') : ''}
                  onClick={() => onChoose({ unit: one })}
                >
                  {texts.units[one]}
                </Button>
              ))}
            </div>
          }
        >
          <Trends report={report} />
        </Card>
        <Card title={texts.latest[type]} flush>
          {latest.length === 0 ? (
            <EmptyState title={texts.noLatest} />
          ) : (
            <DataTable
              label={texts.latest[type]}
              columns={columns()}
              rows={latest}
              rowKey={({ id }) => id}
              isDense
            />
          )}
        </Card>
      </div>
    </>
  );
}

/** The chart, and the same as a table beside it, newest first. */
function Trends({ report }: { report: Report }) {
  const texts = reportsTexts();
  const { type, series, unit } = report;
  const hasPayouts = series.some((point) => OUTCOMES.some((outcome) => point[outcome].payouts > 0));
  if (!hasPayouts) return <EmptyState title={texts.empty} />;
  const bars = series.map((point) => ({ ...nameOf(point, report), values: measure(point, type) }));
  const outcomes = { completed: texts.completed, failed: texts.failed, pending: texts.pending };
  const shown = type === 'performance' ? OUTCOMES.slice(0, 2) : OUTCOMES;
  const format = formatOf(type);
  return (
    <div className={classes.trends}>
      <OutcomeChart
        // The last bar of another chart is chosen.
        key={`${report.from} ${unit}`}
        label={texts.measures[type]}
        barLabel={texts.bar[unit]}
        outcomes={outcomes}
        bars={bars}
        format={format}
      />
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls has to take the focus */}
      <div className={classes.table} role="region" aria-label={texts.measures[type]} tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th scope="col">{texts.bar[unit]}</th>
              {shown.map((outcome) => (
                <th key={outcome} scope="col">
                  {outcomes[outcome]}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {bars.toReversed().map(({ long, values }) => (
              <tr key={long}>
                <th scope="row">{long}</th>
                {shown.map((outcome) => (
                  <td key={outcome}>{format(values[outcome])}</td>
                ))}
              </tr>
            ))}
          </tbody>
          {type === 'performance' ? null : (
            <tfoot>
              <tr>
                <th scope="row">{texts.total}</th>
                {shown.map((outcome) => (
                  <td key={outcome}>
                    {format(bars.reduce((total, { values }) => total + values[outcome], 0))}
                  </td>
                ))}
              </tr>
            </tfoot>
          )}
        </table>
      </div>
    </div>
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

function columns(): Column<Transaction>[] {
  const texts = reportsTexts();
  return [
    {
      key: 'date',
      title: texts.columns.date,
      cell: ({ date }) => (
        <time dateTime={date} title={formatDateTime(date)}>
          {formatDate(date)}
        </time>
      ),
    },
    {
      key: 'transaction',
      title: texts.columns.transaction,
      narrow: 'who',
      cell: ({ customer }) => (
        <Person name={`${customer.firstName} ${customer.lastName}`.trim()} details={[texts.disbursement]} />
      ),
    },
    {
      key: 'amount',
      title: texts.columns.amount,
      align: 'right',
      narrow: 'amount',
      cell: ({ amount }) => <span className={classes.amount}>{formatMoney(amount)}</span>,
    },
    {
      key: 'status',
      title: texts.columns.status,
      narrow: 'plain',
      cell: ({ status, errorMessage }) => (
        <StatusTag tone={TONES[status]} reason={status === 'failed' ? errorMessage : null}>
          {transactionsTexts().statuses[status]}
        </StatusTag>
      ),
    },
    {
      key: 'agent',
      title: texts.columns.agent,
      cell: ({ performedBy }) => performedBy.username || texts.unknownAgent,
    },
  ];
}

function formatNumber(value: number): string {
  return new Intl.NumberFormat(language.locale).format(value);
}

function formatPercent(value: number): string {
  return `${new Intl.NumberFormat(language.locale, { maximumFractionDigits: 1 }).format(value)}%`;
}

const formatOf = (type: ReportType) => (type === 'performance' ? formatPercent : formatNumber);

/** Prints on white, whatever the theme. */
function useLightPrint() {
  useEffect(() => {
    const page = document.documentElement.classList;
    let wasDark = false;
    const before = () => {
      wasDark = page.contains('dark');
      page.remove('dark');
    };
    const after = () => page.toggle('dark', wasDark);
    window.addEventListener('beforeprint', before);
    window.addEventListener('afterprint', after);
    return () => {
      window.removeEventListener('beforeprint', before);
      window.removeEventListener('afterprint', after);
    };
  }, []);
}
