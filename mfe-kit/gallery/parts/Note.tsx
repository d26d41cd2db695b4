/** A message that stays. Screen readers announce a bad one at once, the others politely. */
import { ApiError } from 'mfe-kit';
import { Note } from 'mfe-kit/ui';

export function Tones() {
  return (
    <>
      <Note tone="good" title="Disbursed">
        <p>KES 25,000 was sent to 0712 345 678.</p>
      </Note>
      <Note tone="wait" title="Waiting for mobile money">
        <p>The outcome is known within a minute.</p>
      </Note>
      <Note tone="bad" title="Not disbursed">
        <p>The number is not registered.</p>
      </Note>
      <Note tone="info" title="A new version is available" />
      <Note tone="plain" title="No reference yet" />
    </>
  );
}

const failure = new ApiError({
  kind: 'server',
  status: 503,
  message: 'The service is busy.',
  requestId: '01a1ced3-80d0-7942-9380-aaa0158accb5',
});

/** It names the request, by which the server's log and its console know it. */
export function OfAFailedRequest() {
  return (
    <Note tone="bad" title="Not saved" error={failure}>
      <p>{failure.message}</p>
    </Note>
  );
}
