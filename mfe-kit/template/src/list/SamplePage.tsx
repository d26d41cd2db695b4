import { useQuery } from '@tanstack/react-query';
import type { FailureTexts } from 'mfe-kit';
import { Card, EmptyState, PageHeader, QueryStates } from 'mfe-kit/ui';
import { pendingLoansQuery } from './queries';

/** The texts of the list's failure. */
const LOANS_FAILURE: FailureTexts = {
  reads: 'message',
  withoutText: 'Failed to fetch loans',
  otherwise: 'Failed to load loans',
};

/** A first screen: a list in its four states. */
export default function SamplePage() {
  const query = useQuery(pendingLoansQuery());
  return (
    <>
      <PageHeader title="Sample" subtitle={query.data ? `${query.data.length} loan(s)` : ' '} />
      <QueryStates query={query} failure={LOANS_FAILURE}>
        {(loans) => (
          <Card>
            {loans.length === 0 ? (
              <EmptyState title="No pending loans" />
            ) : (
              <ul>
                {loans.map((loan) => (
                  <li key={loan.loan_id}>
                    {loan.customer_first_name} {loan.customer_last_name}
                  </li>
                ))}
              </ul>
            )}
          </Card>
        )}
      </QueryStates>
    </>
  );
}
