/** The data of a query, or in its place the loading or the failed state. */
import { useQuery } from '@tanstack/react-query';
import type { FailureTexts } from 'mfe-kit';
import { Card, QueryStates } from 'mfe-kit/ui';

const FAILURE: FailureTexts = {
  reads: 'message',
  withoutText: 'Failed to fetch repayments',
  otherwise: 'Failed to load repayments',
};

export function Loading() {
  const query = useQuery<string>({ queryKey: ['loading'], queryFn: () => new Promise(() => undefined) });
  return (
    <QueryStates query={query} failure={FAILURE}>
      {(name) => <Card>{name}</Card>}
    </QueryStates>
  );
}

export function Failed() {
  const query = useQuery<string>({
    queryKey: ['failed'],
    queryFn: () => Promise.reject(new Error('no answer')),
    retry: false,
  });
  return (
    <QueryStates query={query} failure={FAILURE}>
      {(name) => <Card>{name}</Card>}
    </QueryStates>
  );
}

export function Read() {
  const query = useQuery({ queryKey: ['read'], queryFn: () => Promise.resolve('Wanjiku Kamau') });
  return (
    <QueryStates query={query} failure={FAILURE}>
      {(name) => <Card>{name}</Card>}
    </QueryStates>
  );
}
