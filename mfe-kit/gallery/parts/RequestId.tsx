/** The request that failed, by the id that the server's log and its console know. Failed states have it already. */
import { ApiError } from 'mfe-kit';
import { Note, RequestId } from 'mfe-kit/ui';

const failure = new ApiError({
  kind: 'server',
  status: 503,
  message: 'The service is busy.',
  requestId: '01a1ced3-80d0-7942-9380-aaa0158accb5',
});

export function InANote() {
  return (
    <Note tone="bad" title="Not saved">
      <p>{failure.message}</p>
      <RequestId of={failure} />
    </Note>
  );
}
