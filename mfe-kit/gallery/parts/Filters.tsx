/** The filters of a list beside its search: dates, amounts and people. */
import { useState } from 'react';
import { Filters, NO_FILTERS } from 'mfe-kit/ui-data';

const REPAYMENTS = [
  { date: '2026-11-14T09:30:00.000Z', amount: 25_000, approver: 'Peter Njoroge' },
  { date: '2026-11-12T13:05:00.000Z', amount: 9_800, approver: 'Achieng Otieno' },
];

export function TwoAreSet() {
  const [filters, setFilters] = useState({ ...NO_FILTERS, from: '2026-11-01', approver: 'Peter Njoroge' });
  return (
    <Filters
      label="Filter"
      dates="Paid"
      people={{ approver: 'Approved by' }}
      rows={REPAYMENTS}
      factsOf={(repayment) => repayment}
      value={filters}
      onChange={(changes) => setFilters({ ...filters, ...changes })}
    />
  );
}
