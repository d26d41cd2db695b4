import { formatNumber } from 'mfe-kit';
import { Button, Card, EmptyState } from 'mfe-kit/ui';
import { OutcomeChart } from './OutcomeChart';
import { formatPercent, measure, nameOf, OUTCOMES, type Report, type ReportChoice, UNITS } from './report';
import { reportsTexts } from './reports-texts';
import classes from './ReportsPage.module.css';

interface TrendsCardProps {
  report: Report;
  onChoose: (changes: Pick<ReportChoice, 'unit'>) => void;
}

export function TrendsCard({ report, onChoose }: TrendsCardProps) {
  const texts = reportsTexts();
  return (
    <Card
      title={texts.trends}
      action={
        <div className={classes.scales} role="group" aria-label={texts.unit}>
          {UNITS.map((one) => (
            <Button
              key={one}
              size="small"
              aria-pressed={report.unit === one}
              className={report.unit === one ? classes.pressed : ''}
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
  );
}

/** The chart, and the same as a table beside it, newest first. */
function Trends({ report }: { report: Report }) {
  const texts = reportsTexts();
  const { type, series, unit } = report;
  const hasPayouts = series.some((point) => OUTCOMES.some((outcome) => point[outcome].payouts > 0));
  if (!hasPayouts) return <EmptyState title={texts.empty} />;
  const bars = series.map((point) => ({ ...nameOf(point, report), values: measure(point, type) }));
  const shown = type === 'performance' ? OUTCOMES.slice(0, 2) : OUTCOMES;
  const outcomes = shown.map((outcome) => [outcome, texts[outcome]] as const);
  const formatValue = type === 'performance' ? formatPercent : formatNumber;
  const format = (value: number | null) => (value === null ? texts.none : formatValue(value));
  return (
    <div className={classes.trends}>
      <OutcomeChart
        // The last bar of another chart is chosen.
        key={`${report.from} ${unit}`}
        label={texts.measures[type]}
        sliderLabel={texts.barShown[unit]}
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
              {outcomes.map(([outcome, name]) => (
                <th key={outcome} scope="col">
                  {name}
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
                    {format(bars.reduce((total, { values }) => total + (values[outcome] ?? 0), 0))}
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
