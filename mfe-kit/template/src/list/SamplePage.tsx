import { useQuery } from '@tanstack/react-query';
import { failureText } from 'mfe-kit';
import { Card, EmptyState, FailedState, LoadingState, PageHeader } from 'mfe-kit/ui';
import { pendingLoansQuery } from './queries';

/** A first screen: a list in its four states. */
export default function SamplePage() {
  const { data: loans, error, isPending } = useQuery(pendingLoansQuery());
  return (
    <>
      <PageHeader title="Sample" subtitle={loans ? `${loans.length} loan(s)` : ' '} />
      <Card>
        {isPending ? (
          <LoadingState />
        ) : error ? (
          <FailedState message={failureText('pendingLoans', error)} />
        ) : loans.length === 0 ? (
          <EmptyState title="No loans wait" />
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
    </>
  );
}
