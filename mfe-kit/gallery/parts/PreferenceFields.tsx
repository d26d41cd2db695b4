/** The fields of a person's preferences: the language, the time zone and the notifications. */
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
