/** A choice of antd. */
import { Select } from 'mfe-kit/ui-data';

const STATUSES = [
  { value: 'all', label: 'All statuses' },
  { value: 'failed', label: 'Failed' },
  { value: 'archived', label: 'Archived', disabled: true },
];

export function Chosen() {
  return <Select aria-label="Status" options={STATUSES} defaultValue="all" virtual={false} />;
}

export function Empty() {
  return <Select aria-label="Branch" options={[]} placeholder="Choose a branch" virtual={false} />;
}

export function Disabled() {
  return (
    <Select aria-label="Locked status" options={STATUSES} defaultValue="failed" disabled virtual={false} />
  );
}
