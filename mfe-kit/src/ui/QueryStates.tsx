import { useMutation, type UseQueryResult } from '@tanstack/react-query';
import { type FailureTexts, failureMessage, isLive, queryClient } from 'mfe-kit';
import { createContext, type ReactNode, use } from 'react';
import { Button } from './Button';
import { Card } from './Card';
import classes from './QueryStates.module.css';
import { FailedState, LoadingState } from './StatePanel';
import { uiTexts } from './ui-texts';

interface QueryStatesProps<Data> {
  query: UseQueryResult<Data>;
  /** The texts of its failure. */
  failure: FailureTexts;
  /** Drawn above the loading and the failed state, where `children` draw their own `PageHeader`. */
  header?: ReactNode;
  /** Draws what was read. */
  children: (data: Data) => ReactNode;
}

/** Whether a line around says so already: its Retry reads everything again that failed. */
const IsOutdated = createContext(false);

/**
 * The data of a query, or in its place the loading or the failed state. Where the screens are live, data that could not
 * be read again stays, with what is typed on it, below a line that says so.
 */
export function QueryStates<Data>({ query, failure, header, children }: QueryStatesProps<Data>) {
  const { data } = query;
  const isSaid = use(IsOutdated);
  if (query.isPending || data === undefined || (query.isError && !isLive()))
    return (
      <>
        {header}
        <Card flush>
          {query.isPending ? <LoadingState /> : <Failure texts={failure} error={query.error} />}
        </Card>
      </>
    );
  return (
    <IsOutdated value={isSaid || query.isError}>
      {query.isError && !isSaid ? <Outdated /> : null}
      {children(data)}
    </IsOutdated>
  );
}

function Failure({ texts, error }: { texts: FailureTexts; error: Error | null }) {
  const { text, lang } = failureMessage(texts, error);
  return <FailedState message={<span lang={lang}>{text}</span>} error={error} />;
}

/** Retry goes with its line, and must not take the focus with it: the page's h1 gets it. */
function passOn(retry: HTMLButtonElement) {
  return () => {
    const heading = document.querySelector('h1');
    if (document.activeElement !== retry || !heading) return;
    heading.tabIndex = -1;
    heading.focus({ preventScroll: true });
  };
}

function Outdated() {
  const again = useMutation({
    mutationFn: () =>
      queryClient.refetchQueries({ type: 'active', predicate: ({ state }) => state.status === 'error' }),
    meta: { act: 'try again' },
  });
  return (
    <div className={classes.outdated}>
      <span role="status">{uiTexts().outdated}</span>
      <Button size="small" ref={passOn} loading={again.isPending} onClick={() => again.mutate()}>
        {uiTexts().retry}
      </Button>
    </div>
  );
}
