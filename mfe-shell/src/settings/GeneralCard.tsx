import { portalTimeZone, type Schema } from 'mfe-kit';
import { Card } from 'mfe-kit/ui';
import { PreferenceFields } from 'mfe-kit/ui-data';
import { Link } from 'react-router';
import { NumberField } from './NumberField';
import { settingsTexts } from './settings-texts';
import classes from './SettingsPage.module.css';
import { type SettingsErrors, shortestSession, type TypedRules } from './typed-rules';

interface GeneralCardProps {
  typed: TypedRules;
  errors: SettingsErrors;
  onRulesChange: (changes: Partial<TypedRules>) => void;
  /** The longest session that the deployment allows, in minutes. */
  longest: number;
  preferences: Schema<'Preferences'>;
  onPreferencesChange: (changes: Partial<Schema<'Preferences'>>) => void;
}

/** The person's own preferences, and how long sessions last. */
export function GeneralCard({
  typed,
  errors,
  onRulesChange,
  longest,
  preferences,
  onPreferencesChange,
}: GeneralCardProps) {
  const texts = settingsTexts();
  return (
    <Card title={texts.general}>
      <PreferenceFields
        value={preferences}
        portalTimeZone={portalTimeZone()}
        isTimeZoneUnknown={errors.time_zone !== undefined}
        onChange={onPreferencesChange}
      >
        <NumberField
          label={texts.sessionMinutes}
          hint={texts.sessionHint(shortestSession(longest), longest)}
          error={errors.session_minutes}
          value={typed.session_minutes}
          onChange={(session_minutes) => onRulesChange({ session_minutes })}
        />
      </PreferenceFields>
      <div className={`links ${classes.linked}`}>
        <span>
          {texts.twoFactor}
          <span className={classes.hint}>{texts.twoFactorText}</span>
        </span>
        <Link to="/profile">{texts.toProfile}</Link>
      </div>
    </Card>
  );
}
