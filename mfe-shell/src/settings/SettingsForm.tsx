import { useMutation } from '@tanstack/react-query';
import {
  api,
  ApiError,
  changedSince,
  dataOf,
  failureText,
  followPreferences,
  notify,
  preferencesQuery,
  queryClient,
  type Schema,
  useDraft,
} from 'mfe-kit';
import { Button, Note, PageHeader } from 'mfe-kit/ui';
import { useEffect, useLayoutEffect, useRef, useState } from 'react';
import { focusHeading } from '../navigation/useHeadingFocus';
import { AboutPortal } from './AboutPortal';
import { LeaveDialog } from './LeaveDialog';
import { SettingsCards } from './SettingsCards';
import { settingsQuery } from './settings-query';
import { settingsTexts } from './settings-texts';
import classes from './SettingsPage.module.css';
import { errorsIn, rulesFrom, type SettingsErrors, typedFrom, type TypedRules } from './typed-rules';

type Preferences = Schema<'Preferences'>;

const FIELDS = ['time_zone', 'session_minutes', 'maximum_amount', 'retry_attempts'] as const;

interface SettingsFormProps {
  rules: Schema<'PortalRules'>;
  own: Preferences;
}

export function SettingsForm({ rules, own }: SettingsFormProps) {
  const texts = settingsTexts();
  // Only values that are changed here: all others follow changes that are made elsewhere.
  const [changedRules, setChangedRules] = useDraft<Partial<TypedRules>>('rules', {});
  const [changedOwn, setChangedOwn] = useDraft<Partial<Preferences>>('settings', {});
  const [isChecked, setChecked] = useState(false);
  const form = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const typed = { ...typedFrom(rules), ...changedRules };
  const { longest_session_minutes: longest } = rules;
  const { language, time_zone, notify_by_email, notify_by_sms } = own;
  const kept: Preferences = { language, time_zone, notify_by_email, notify_by_sms };
  const preferences = { ...kept, ...changedOwn };
  const areRulesChanged = JSON.stringify(typed) !== JSON.stringify(typedFrom(rules));
  const isChanged = areRulesChanged || JSON.stringify(preferences) !== JSON.stringify(kept);

  const save = useMutation({
    mutationFn: ({ body }: { typed: TypedRules; body: Schema<'NewSettings'> }) =>
      dataOf(api.PUT('/api/v1/settings', { body })),
    onSuccess: (saved, sent) => {
      queryClient.setQueryData(settingsQuery().queryKey, saved.rules);
      queryClient.setQueryData(preferencesQuery().queryKey, saved.preferences);
      setChangedRules((changed) => changedSince(sent.typed, changed));
      setChangedOwn((changed) => changedSince(sent.body.preferences, changed));
      setChecked(false);
      notify({ type: 'success', message: texts.saved });
      followPreferences(saved.preferences);
    },
  });
  const failed = save.isError
    ? failureText(
        { reads: 'message', withoutText: texts.saveFailed, otherwise: texts.saveFailed },
        save.error,
      )
    : undefined;
  // Rules that are not changed here are not sent: somebody else may have changed them since.
  const wrongRules = areRulesChanged ? errorsIn(typed, longest, texts) : {};
  const refused = save.error instanceof ApiError ? save.error.field : undefined;
  const refusedField = FIELDS.find((field) => field === refused);
  const errors: SettingsErrors = {
    ...(refusedField ? { [refusedField]: failed } : {}),
    ...(isChecked ? wrongRules : {}),
  };

  // The button that was pressed is disabled while the server is asked, and stays so once everything is saved.
  useLayoutEffect(() => {
    const { activeElement } = document;
    if (activeElement !== document.body && activeElement !== button.current) return;
    if (save.isError) button.current?.focus();
    else if (save.isSuccess) focusHeading();
  }, [save.isError, save.isSuccess]);

  useEffect(() => {
    if (refusedField) focusFirstError(form.current);
  }, [refusedField, save.error]);

  function submit() {
    setChecked(true);
    const body = { preferences, rules: areRulesChanged ? rulesFrom(typed) : null };
    if (Object.keys(wrongRules).length === 0) save.mutate({ typed, body });
    else requestAnimationFrame(() => focusFirstError(form.current));
  }

  /** The server's answer about a field is about what was sent. */
  function forgetRefusal() {
    if (refusedField) save.reset();
  }

  return (
    <>
      <PageHeader
        title={texts.title}
        subtitle={isChanged ? texts.unsaved : texts.subtitle}
        action={
          <Button ref={button} type="primary" disabled={save.isPending || !isChanged} onClick={submit}>
            {texts.save}
          </Button>
        }
      />
      <div className={classes.cards} ref={form}>
        {failed && !refusedField ? (
          <Note tone="bad" title={texts.notSaved}>
            <p>{failed}</p>
          </Note>
        ) : null}
        <SettingsCards
          typed={typed}
          longest={longest}
          preferences={preferences}
          errors={errors}
          onRulesChange={(changes) => {
            forgetRefusal();
            setChangedRules((before) => ({ ...before, ...changes }));
          }}
          onPreferencesChange={(changes) => {
            forgetRefusal();
            setChangedOwn((before) => ({ ...before, ...changes }));
          }}
        />
        <AboutPortal />
      </div>
      <LeaveDialog isChanged={isChanged} />
    </>
  );
}

function focusFirstError(form: HTMLElement | null) {
  form?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
}
