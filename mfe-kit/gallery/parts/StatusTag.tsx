/** A status as icon, word and tint. With a reason it is a button that shows it on hover, focus or tap. */
import { StatusTag } from 'mfe-kit/ui';

export function Tones() {
  return (
    <>
      <StatusTag tone="good">Completed</StatusTag>
      <StatusTag tone="wait">Pending</StatusTag>
      <StatusTag tone="bad">Failed</StatusTag>
      <StatusTag tone="info">New</StatusTag>
      <StatusTag tone="plain">Unknown</StatusTag>
    </>
  );
}

export function WithAReason() {
  return (
    <StatusTag tone="bad" reason="The number is not registered for mobile money.">
      Failed
    </StatusTag>
  );
}
