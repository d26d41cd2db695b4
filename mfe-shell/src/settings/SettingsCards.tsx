import { portalTimeZone, type Schema } from 'mfe-kit';
import { Card } from 'mfe-kit/ui';
import { PreferenceFields, Switch } from 'mfe-kit/ui-data';
import { Link } from 'react-router';
import { NumberField } from './NumberField';
import { settingsTexts } from './settings-texts';
import classes from './SettingsPage.module.css';
import { type SettingsErrors, shortestSession, type TypedRules } from './typed-rules';

interface SettingsCardsProps {
  typed: TypedRules;
  /** The longest session that the deployment allows, in minutes. */
  longest: number;
  preferences: Schema<'Preferences'>;
  errors: SettingsErrors;
  onRulesChange: (changes: Partial<TypedRules>) => void;
  onPreferencesChange: (changes: Partial<Schema<'Preferences'>>) => void;
}

/** The person's own preferences, how long sessions last, and the rules for payouts. */
export function SettingsCards({
  typed,
  longest,
  preferences,
  errors,
  onRulesChange,
  onPreferencesChange,
}: SettingsCardsProps) {
  const texts = settingsTexts();
  const number = (
    key: 'session_minutes' | 'maximum_amount' | 'retry_attempts',
    label: string,
    hint: string,
    prefix?: string,
  ) => (
    <NumberField
      label={label}
      hint={hint}
      error={errors[key]}
      prefix={prefix}
      value={typed[key]}
      onChange={(value) => onRulesChange({ [key]: value })}
    />
  );
  const toggle = (key: 'confirmation_required' | 'auto_retry', label: string, text: string) => (
    <label className={classes.toggle}>
      <span>
        {label}
        <span className={`detail ${classes.hint}`}>{text}</span>
      </span>
      <Switch aria-label={label} checked={typed[key]} onChange={(isOn) => onRulesChange({ [key]: isOn })} />
    </label>
  );
  return (
    <>
      <Card title={texts.general}>
        <PreferenceFields
          value={preferences}
          portalTimeZone={portalTimeZone()}
          isTimeZoneUnknown={errors.time_zone !== undefined}
          onChange={onPreferencesChange}
        >
          {number(
            'session_minutes',
            texts.sessionMinutes,
            texts.sessionHint(shortestSession(longest), longest),
          )}
        </PreferenceFields>
        <div className={`links ${classes.linked}`}>
          <span>
            {texts.twoFactor}
            <span className={`detail ${classes.hint}`}>{texts.twoFactorText}</span>
          </span>
          <Link to="/profile">{texts.toProfile}</Link>
        </div>
      </Card>
      <Card title={texts.disbursement}>
        <div className={classes.fields}>
          {number('maximum_amount', texts.maximum, texts.maximumHint, 'KES')}
          {number('retry_attempts', texts.retries, texts.retriesHint)}
        </div>
        {toggle('confirmation_required', texts.confirmation, texts.confirmationText)}
        {toggle('auto_retry', texts.autoRetry, texts.autoRetryText)}
      </Card>
    </>
  );
}
