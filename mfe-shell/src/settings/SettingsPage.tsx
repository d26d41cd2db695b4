import { Button, Card, Field, Input, PageHeader } from 'mfe-kit/ui';
import { Select, Switch } from 'mfe-kit/ui-data';
import { isLive } from 'mfe-kit';
import { lazy, useState } from 'react';
import { useScreenDrawn } from '../navigation/useScreenDrawn';
import { useWords } from '../navigation/useWords';
import { AboutPortal } from './AboutPortal';
import { groupedAmount } from './grouped-amount';
import classes from './SettingsPage.module.css';

const LANGUAGES = [
  { value: 'en', label: 'English' },
  { value: 'sw', label: 'Swahili' },
];

const TIME_ZONES = [
  { value: 'Africa/Nairobi', label: 'East Africa Time (Africa/Nairobi)' },
  { value: 'UTC', label: 'UTC' },
];

const DEFAULTS = {
  language: 'en',
  timezone: 'Africa/Nairobi',
  sessionTimeout: '30',
  emailNotifications: true,
  smsNotifications: false,
  twoFactorAuth: true,
  maxAmount: '100,000',
  requireConfirmation: true,
  autoRetry: true,
  retryAttempts: '3',
};

type Toggle =
  'emailNotifications' | 'smsNotifications' | 'twoFactorAuth' | 'requireConfirmation' | 'autoRetry';

const LiveSettings = lazy(() => import('./LiveSettings'));

/** The settings; where the screens are specified, or the provider keeps none, nothing is stored or sent. */
export default function SettingsPage() {
  useWords();
  useScreenDrawn();
  return isLive() ? <LiveSettings specified={<SpecifiedSettings />} /> : <SpecifiedSettings />;
}

/** Settings of this page only (REQ-331, REQ-332). */
function SpecifiedSettings() {
  const [settings, setSettings] = useState(DEFAULTS);
  const set = (change: Partial<typeof DEFAULTS>) => setSettings((before) => ({ ...before, ...change }));

  const choice = (key: 'language' | 'timezone', label: string, options: typeof LANGUAGES) => (
    <Field label={label}>
      {(control) => (
        <Select
          {...control}
          virtual={false}
          options={options}
          value={settings[key]}
          onChange={(chosen) => set({ [key]: chosen })}
        />
      )}
    </Field>
  );

  const number = (key: 'sessionTimeout' | 'retryAttempts', label: string) => (
    <Field label={label}>
      {(control) => (
        <Input
          {...control}
          type="number"
          value={settings[key]}
          onChange={({ target }) => set({ [key]: target.value })}
        />
      )}
    </Field>
  );

  const toggle = (key: Toggle, label: string) => (
    <label className={classes.toggle}>
      {label}
      <Switch aria-label={label} checked={settings[key]} onChange={(checked) => set({ [key]: checked })} />
    </label>
  );

  return (
    <>
      <PageHeader
        title="Settings"
        subtitle="Changes here are not saved yet"
        action={<Button type="primary">Save Changes</Button>}
      />
      <div className={classes.cards}>
        <Card title="General Settings">
          <div className={classes.fields}>
            {choice('language', 'Language', LANGUAGES)}
            {choice('timezone', 'Timezone', TIME_ZONES)}
            {number('sessionTimeout', 'Session Timeout (minutes)')}
          </div>
          {toggle('emailNotifications', 'Email Notifications')}
          {toggle('smsNotifications', 'SMS Notifications')}
          {toggle('twoFactorAuth', 'Two-Factor Authentication')}
        </Card>
        <Card title="Disbursement Settings">
          <div className={classes.fields}>
            <Field label="Maximum Disbursement Amount">
              {(control) => (
                <Input
                  {...control}
                  prefix="KES"
                  inputMode="numeric"
                  value={settings.maxAmount}
                  onChange={({ target }) => set({ maxAmount: target.value })}
                  onBlur={({ target }) => set({ maxAmount: groupedAmount(target.value) })}
                />
              )}
            </Field>
            {number('retryAttempts', 'Retry Attempts')}
          </div>
          {toggle('requireConfirmation', 'Require Confirmation')}
          {toggle('autoRetry', 'Auto-retry Failed Disbursements')}
        </Card>
        <AboutPortal />
      </div>
    </>
  );
}
