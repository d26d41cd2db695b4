/** A message that stays. Screen readers announce a bad one at once, the others politely. */
import { Note } from 'mfe-kit/ui';

export function Good() {
  return (
    <Note tone="good" title="Disbursed">
      <p>KES 25,000 was sent to 0712 345 678.</p>
    </Note>
  );
}

export function Wait() {
  return (
    <Note tone="wait" title="Waiting for mobile money">
      <p>The outcome is known within a minute.</p>
    </Note>
  );
}

export function Bad() {
  return (
    <Note tone="bad" title="Not disbursed">
      <p>The number is not registered.</p>
    </Note>
  );
}

export function Info() {
  return <Note tone="info" title="A new version is available" />;
}

export function Plain() {
  return <Note tone="plain" title="No reference yet" />;
}
