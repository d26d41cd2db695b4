import { ApiError } from 'mfe-kit';
import classes from './RequestId.module.css';
import { uiTexts } from './ui-texts';

/** The request that failed, by the id that the server's log and its console know; nothing if no server answered. */
export function RequestId({ of: error }: { of: unknown }) {
  if (!(error instanceof ApiError) || !error.requestId) return null;
  return (
    <p className={classes.request}>
      {uiTexts().request} <code translate="no">{error.requestId}</code>
    </p>
  );
}
