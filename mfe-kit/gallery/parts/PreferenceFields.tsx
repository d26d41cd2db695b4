/** What a person prefers: their language and time zone, and how to be notified. */
import { useState } from 'react';
import { PreferenceFields } from 'mfe-kit/ui-data';

export function Preferences() {
  const [preferences, setPreferences] = useState({
    language: 'en' as const,
    time_zone: null,
    notify_by_email: true,
    notify_by_sms: false,
  });
  return (
    <PreferenceFields
      portalTimeZone="Africa/Nairobi"
      value={preferences}
      onChange={(changes) => setPreferences({ ...preferences, ...(changes as object) })}
    />
  );
}
