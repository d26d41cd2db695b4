import { queryOptions, useMutation, useQuery } from '@tanstack/react-query';
import {
  api,
  dataOf,
  failureText,
  type FailureTexts,
  followPreferences,
  notify,
  orNull,
  portalTimeZone,
  preferencesQuery,
  queryClient,
  queryKeys,
  type Schema,
  useSession,
} from 'mfe-kit';
import { Button, Card, EmptyState, Field, Input, Note, PageHeader, QueryStates } from 'mfe-kit/ui';
import { PreferenceFields, Switch } from 'mfe-kit/ui-data';
import { type ReactNode, useRef, useState } from 'react';
import { Link } from 'react-router';
import { AboutPortal } from './AboutPortal';
import classes from './SettingsPage.module.css';
import { settingsTexts, type SettingsTexts } from './settings-texts';

type Rules = Schema<'PortalRules'>;
type Preferences = Schema<'Preferences'>;

/** The rules of the deployment; `null` with a provider that keeps none. */
const settingsQuery = () =>
  queryOptions({
    queryKey: queryKeys.settings,
    queryFn: ({ signal }) => orNull(dataOf(api.GET('/api/v1/settings', { signal }))),
  });

const loading = ({ failed }: SettingsTexts): FailureTexts => ({
  reads: 'message',
  withoutText: failed,
  otherwise: failed,
});
const saving = ({ saveFailed }: SettingsTexts): FailureTexts => ({
  reads: 'message',
  withoutText: saveFailed,
  otherwise: saveFailed,
});

/** The settings that are kept: the person's own, and the deployment's. `specified` is drawn where none are. */
export default function LiveSettings({ specified }: { specified: ReactNode }) {
  const { user } = useSession();
  const isAdmin = user?.role === 'admin';
  const settings = useQuery({ ...settingsQuery(), enabled: isAdmin });
  const preferences = useQuery(preferencesQuery());
  const texts = settingsTexts();
  const header = <PageHeader title={texts.title} />;
  if (!isAdmin)
    return (
      <>
        {header}
        <Card flush>
          <EmptyState
            title={texts.forAdmins}
            text={texts.forAdminsText}
            action={<Link to="/profile">{texts.toProfile}</Link>}
          />
        </Card>
      </>
    );
  return (
    <QueryStates query={settings} failure={loading(texts)} header={header}>
      {(rules) => (
        <QueryStates query={preferences} failure={loading(texts)} header={header}>
          {(own) => (rules && own ? <Settings rules={rules} own={own} /> : specified)}
        </QueryStates>
      )}
    </QueryStates>
  );
}

/** The rules as typed. */
interface TypedRules {
  minutes: string;
  maximum: string;
  retries: string;
  isConfirmed: boolean;
  isRetried: boolean;
}

function Settings({ rules, own }: { rules: Rules; own: Preferences }) {
  const texts = settingsTexts();
  // What is not changed here follows what is changed elsewhere.
  const [changedRules, setChangedRules] = useState<Partial<TypedRules>>({});
  const [changedOwn, setChangedOwn] = useState<Partial<Preferences>>({});
  const [isChecked, setChecked] = useState(false);
  const form = useRef<HTMLDivElement>(null);
  const typed = { ...typedFrom(rules), ...changedRules };
  const { longest_session_minutes: longest } = rules;
  const preferences: Preferences = {
    language: own.language,
    time_zone: own.time_zone,
    notify_by_email: own.notify_by_email,
    notify_by_sms: own.notify_by_sms,
    ...changedOwn,
  };
  const wrong = isChecked ? errorsIn(typed, longest, texts) : {};

  const save = useMutation({
    mutationFn: async () => {
      const kept = await dataOf(api.PUT('/api/v1/settings', { body: rulesFrom(typed) }));
      const keptOwn = await dataOf(api.PUT('/api/v1/preferences', { body: preferences }));
      queryClient.setQueryData(settingsQuery().queryKey, kept);
      queryClient.setQueryData(preferencesQuery().queryKey, keptOwn);
      return keptOwn;
    },
    onSuccess: (keptOwn) => {
      setChangedRules({});
      setChangedOwn({});
      setChecked(false);
      notify({ type: 'success', message: texts.saved });
      // Last, because another language or time zone draws the page again.
      followPreferences(keptOwn);
    },
  });

  function submit() {
    setChecked(true);
    if (Object.keys(errorsIn(typed, longest, texts)).length === 0) save.mutate();
    else
      requestAnimationFrame(() =>
        form.current?.querySelector<HTMLInputElement>('[aria-invalid="true"]')?.focus(),
      );
  }

  const field = (key: 'minutes' | 'maximum' | 'retries', label: string, hint: string, prefix?: string) => (
    <Field label={label} hint={hint} error={wrong[key]} isLive>
      {(control) => (
        <Input
          {...control}
          {...(prefix ? { prefix } : {})}
          status={wrong[key] ? 'error' : ''}
          inputMode="numeric"
          autoComplete="off"
          value={typed[key]}
          onChange={({ target }) => setChangedRules((before) => ({ ...before, [key]: target.value }))}
        />
      )}
    </Field>
  );
  const toggle = (key: 'isConfirmed' | 'isRetried', label: string, text: string) => (
    <label className={classes.toggle}>
      <span>
        {label}
        <span className={classes.hint}>{text}</span>
      </span>
      <Switch
        aria-label={label}
        checked={typed[key]}
        onChange={(isOn) => setChangedRules((before) => ({ ...before, [key]: isOn }))}
      />
    </label>
  );

  return (
    <>
      <PageHeader
        title={texts.title}
        subtitle={texts.subtitle}
        action={
          <Button type="primary" disabled={save.isPending} onClick={submit}>
            {texts.save}
          </Button>
        }
      />
      <div className={classes.cards} ref={form}>
        {save.isError ? (
          <Note tone="bad" title={texts.notSaved}>
            <p>{failureText(saving(texts), save.error)}</p>
          </Note>
        ) : null}
        <Card title={texts.general}>
          <PreferenceFields
            value={preferences}
            portalTimeZone={portalTimeZone()}
            onChange={(changes) => setChangedOwn((before) => ({ ...before, ...changes }))}
          >
            {field('minutes', texts.sessionMinutes, texts.sessionHint(longest))}
          </PreferenceFields>
          <div className={classes.linked}>
            <span>
              {texts.twoFactor}
              <span className={classes.hint}>{texts.twoFactorText}</span>
            </span>
            <Link to="/profile">{texts.toProfile}</Link>
          </div>
        </Card>
        <Card title={texts.disbursement}>
          <div className={classes.fields}>
            {field('maximum', texts.maximum, texts.maximumHint, 'KES')}
            {field('retries', texts.retries, texts.retriesHint)}
          </div>
          {toggle('isConfirmed', texts.confirmation, texts.confirmationText)}
          {toggle('isRetried', texts.autoRetry, texts.autoRetryText)}
        </Card>
        <AboutPortal />
      </div>
    </>
  );
}

function typedFrom(rules: Rules): TypedRules {
  return {
    minutes: String(rules.session_minutes),
    maximum: rules.maximum_amount === null ? '' : String(rules.maximum_amount),
    retries: String(rules.retry_attempts),
    isConfirmed: rules.confirmation_required,
    isRetried: rules.auto_retry,
  };
}

function rulesFrom({
  minutes,
  maximum,
  retries,
  isConfirmed,
  isRetried,
}: TypedRules): Schema<'NewPortalRules'> {
  return {
    session_minutes: numberIn(minutes),
    maximum_amount: maximum.trim() === '' ? null : numberIn(maximum),
    retry_attempts: numberIn(retries),
    confirmation_required: isConfirmed,
    auto_retry: isRetried,
  };
}

/** What is wrong with each field. */
function errorsIn({ minutes, maximum, retries }: TypedRules, longest: number, texts: SettingsTexts) {
  return {
    ...(isWithin(minutes, 5, longest) ? {} : { minutes: texts.wrongMinutes(longest) }),
    ...(maximum.trim() === '' || isWithin(maximum, 1, 999_999_999) ? {} : { maximum: texts.wrongMaximum }),
    ...(isWithin(retries, 0, 10) ? {} : { retries: texts.wrongRetries }),
  } as Partial<Record<'minutes' | 'maximum' | 'retries', string>>;
}

function isWithin(text: string, lowest: number, highest: number): boolean {
  const number = numberIn(text);
  return number >= lowest && number <= highest;
}

/** The whole number in a text, which may have separators: '100,000'. */
function numberIn(text: string): number {
  const digits = text.replaceAll(/[\s,]/g, '');
  return /^\d+$/.test(digits) ? Number(digits) : NaN;
}
