import type { Schema } from 'mfe-kit';
import { lazy, type ReactNode, Suspense } from 'react';

const Fields = lazy(() => import('./PreferenceInputs'));

export interface PreferenceFieldsProps {
  value: Schema<'Preferences'>;
  /** The deployment's time zone, which applies without a choice. */
  portalTimeZone: string;
  /** What is wrong with the time zone. */
  timeZoneError?: string | undefined;
  onChange: (changes: Partial<Schema<'Preferences'>>) => void;
  /** Further fields, drawn beside the time zone. */
  children?: ReactNode;
}

/** What a person prefers: their language and time zone, and how to be notified. */
export function PreferenceFields(props: PreferenceFieldsProps) {
  return (
    <Suspense fallback={null}>
      <Fields {...props} />
    </Suspense>
  );
}
