/** The heading of a page, with what belongs beside it. It sets the title of the window. */
import { Button, Icon, PageHeader, StatusTag } from 'mfe-kit/ui';

export function TitleAndCount() {
  return <PageHeader title="Repayments" subtitle="24 repayment(s)" />;
}

export function WithEverything() {
  return (
    <PageHeader
      title="Loan Details"
      subtitle="LN-2026-00917"
      before={<Button icon={<Icon name="back" />} aria-label="Back" />}
      after={<StatusTag tone="wait">Pending</StatusTag>}
      action={<Button type="primary">Disburse Loan</Button>}
    />
  );
}
