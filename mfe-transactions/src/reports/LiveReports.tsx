import { useQuery } from '@tanstack/react-query';
import { type FailureTexts, formatDate, useToday } from 'mfe-kit';
import { Button, Icon, PageHeader, QueryStates } from 'mfe-kit/ui';
import { Select } from 'mfe-kit/ui-data';
import type { ReactNode } from 'react';
import { useSearchParams } from 'react-router';
import { LatestCard } from './LatestCard';
import {
  addressOf,
  choiceFrom,
  exportCsv,
  PERIODS,
  type Report,
  type ReportChoice,
  reportQuery,
  TYPES,
} from './report';
import { ReportFigures } from './ReportFigures';
import { reportsTexts } from './reports-texts';
import classes from './ReportsPage.module.css';
import { TrendsCard } from './TrendsCard';

const failure = (): FailureTexts => {
  const { failedToLoad } = reportsTexts();
  return { reads: 'message', withoutText: failedToLoad, otherwise: failedToLoad };
};

/** The report that the server computes from the records; `specified` is drawn for a provider without reports. */
export default function LiveReports({ specified }: { specified: ReactNode }) {
  const [params, setParams] = useSearchParams();
  const choice = choiceFrom(params);
  const query = useQuery(reportQuery(choice, useToday()));
  const choose = (changes: Partial<ReportChoice>) =>
    setParams(addressOf({ ...choice, ...changes }), { replace: true, preventScrollReset: true });
  const report = query.data;
  if (report === null) return <>{specified}</>;
  return (
    <div aria-busy={query.isPlaceholderData}>
      <Head report={report} />
      <Choices choice={choice} onChoose={choose} />
      <QueryStates query={query} failure={failure()}>
        {(loaded) =>
          loaded && (
            <>
              <ReportFigures report={loaded} />
              <div className={classes.cards}>
                <TrendsCard report={loaded} onChoose={choose} />
                <LatestCard report={loaded} />
              </div>
            </>
          )
        }
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
          className={classes.export}
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
