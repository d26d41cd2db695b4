import type { UseQueryResult } from '@tanstack/react-query';
import { type FailureTexts, failureText } from 'mfe-kit';
import type { ReactNode } from 'react';
import { Card } from './Card';
import { FailedState, LoadingState } from './StatePanel';

interface QueryStatesProps<Data> {
  query: UseQueryResult<Data>;
  /** The texts of its failure. */
  failure: FailureTexts;
  /** Drawn above the loading and the failed state, where `children` draw their own `PageHeader`. */
  header?: ReactNode;
  /** Draws what was read. */
  children: (data: Data) => ReactNode;
}

/** The data of a query, or in its place the loading or the failed state. */
export function QueryStates<Data>({ query, failure, header, children }: QueryStatesProps<Data>) {
  if (query.isPending || query.isError)
    return (
      <>
        {header}
        <Card flush>
          {query.isPending ? (
            <LoadingState />
          ) : (
            <FailedState message={failureText(failure, query.error)} error={query.error} />
          )}
        </Card>
      </>
    );
  return children(query.data);
}
