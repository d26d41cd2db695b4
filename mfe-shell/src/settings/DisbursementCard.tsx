import { Card } from 'mfe-kit/ui';
import { Switch } from 'mfe-kit/ui-data';
import { NumberField } from './NumberField';
import { settingsTexts } from './settings-texts';
import classes from './SettingsPage.module.css';
import type { SettingsErrors, TypedRules } from './typed-rules';

interface DisbursementCardProps {
  typed: TypedRules;
  errors: SettingsErrors;
  onRulesChange: (changes: Partial<TypedRules>) => void;
}

/** The rules for payouts. */
export function DisbursementCard({ typed, errors, onRulesChange }: DisbursementCardProps) {
  const texts = settingsTexts();
  const toggle = (key: 'confirmation_required' | 'auto_retry', label: string, text: string) => (
    <label className={classes.toggle}>
      <span>
        {label}
        <span className={classes.hint}>{text}</span>
      </span>
      <Switch aria-label={label} checked={typed[key]} onChange={(isOn) => onRulesChange({ [key]: isOn })} />
    </label>
  );
  return (
    <Card title={texts.disbursement}>
      <div className={classes.fields}>
        <NumberField
          label={texts.maximum}
          hint={texts.maximumHint}
          error={errors.maximum_amount}
          prefix="KES"
          value={typed.maximum_amount}
          onChange={(maximum_amount) => onRulesChange({ maximum_amount })}
        />
        <NumberField
          label={texts.retries}
          hint={texts.retriesHint}
          error={errors.retry_attempts}
          value={typed.retry_attempts}
          onChange={(retry_attempts) => onRulesChange({ retry_attempts })}
        />
      </div>
      {toggle('confirmation_required', texts.confirmation, texts.confirmationText)}
      {toggle('auto_retry', texts.autoRetry, texts.autoRetryText)}
    </Card>
  );
}
