import { isLive } from 'mfe-kit';
import { Button, Card, Icon, PageHeader } from 'mfe-kit/ui';
import { Figure, Figures, Select } from 'mfe-kit/ui-data';
import { lazy } from 'react';
import { PayoutTable } from './LatestCard';
import { reportsTexts } from './reports-texts';
import classes from './ReportsPage.module.css';
import { SAMPLE_ACTIVITY, SAMPLE_FIGURES } from './sample-report';

const LiveReports = lazy(() => import('./LiveReports'));

const optionsOf = (names: Record<string, string>) =>
  Object.entries(names).map(([value, label]) => ({ value, label }));

/** Reports; where the screens are specified, or the provider has none, with sample figures. */
export default function ReportsPage() {
  return isLive() ? <LiveReports specified={<SpecifiedReports />} /> : <SpecifiedReports />;
}

/** The controls do nothing (REQ-309 to REQ-320). */
function SpecifiedReports() {
  const { periods, types } = reportsTexts();
  return (
    <>
      <PageHeader
        title="Reports"
        subtitle="Sample figures"
        action={
          <Button type="primary" icon={<Icon name="download" size={15} />}>
            Export Report
          </Button>
        }
      />
      <div className={classes.choices}>
        <Select aria-label="Period" virtual={false} options={optionsOf(periods)} defaultValue="week" />
        <Select
          aria-label="Report type"
          virtual={false}
          options={optionsOf(types)}
          defaultValue="disbursements"
        />
      </div>
      <Figures>
        {SAMPLE_FIGURES.map(({ title, value, change, icon }) => (
          <Figure
            key={title}
            icon={icon}
            title={title}
            value={value}
            note={
              <>
                <Icon name={change.startsWith('-') ? 'descending' : 'ascending'} size={14} />
                {change}
              </>
            }
          />
        ))}
      </Figures>
      <div className={classes.cards}>
        <Card
          title="Disbursement Trends"
          action={
            <div className={classes.scales}>
              <Button size="small">Daily</Button>
              <Button size="small">Weekly</Button>
              <Button size="small">Monthly</Button>
            </div>
          }
        >
          <div className={classes.chart}>
            <Icon name="chart" size={28} />
            <p>Chart visualization will be implemented here</p>
          </div>
        </Card>
        <Card title="Recent Activity" flush>
          <PayoutTable label="Recent Activity" payouts={SAMPLE_ACTIVITY} />
        </Card>
      </div>
    </>
  );
}
