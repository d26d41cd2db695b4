import { useMutation, useQuery } from '@tanstack/react-query';
import {
  api,
  dataOf,
  followPreferences,
  notify,
  portalTimeZone,
  preferencesQuery,
  queryClient,
  type Schema,
} from 'mfe-kit';
import { Button, Card } from 'mfe-kit/ui';
import { PreferenceFields } from 'mfe-kit/ui-data';
import { useLayoutEffect, useRef, useState } from 'react';
import { NotSaved } from './NotSaved';
import { profileTexts } from './profile-texts';
import classes from './ProfilePage.module.css';

/** The person's preferences, for every role; not drawn while they are not known. */
export function PreferencesCard() {
  const { data: kept } = useQuery(preferencesQuery());
  const texts = profileTexts();
  const button = useRef<HTMLButtonElement>(null);
  const [changed, setChanged] = useState<Partial<Schema<'Preferences'>>>({});

  const save = useMutation({
    mutationFn: (preferences: Schema<'Preferences'>) =>
      dataOf(api.PUT('/api/v1/settings', { body: { preferences, rules: null } })),
    onSuccess: ({ preferences: saved }, sent) => {
      queryClient.setQueryData(preferencesQuery().queryKey, saved);
      // What was changed meanwhile stays.
      setChanged((before) =>
        Object.fromEntries(
          Object.entries(before).filter(([key, value]) => value !== sent[key as keyof typeof sent]),
        ),
      );
      notify({ type: 'success', message: texts.preferencesSaved });
      followPreferences(saved);
    },
  });

  // The button that was pressed is disabled while the server is asked.
  useLayoutEffect(() => {
    const isAnswered = save.isSuccess || save.isError;
    if (isAnswered && document.activeElement === document.body) button.current?.focus();
  }, [save.isSuccess, save.isError]);

  if (!kept) return null;
  const { language, time_zone, notify_by_email, notify_by_sms } = kept;
  const value = { language, time_zone, notify_by_email, notify_by_sms, ...changed };
  return (
    <Card title={texts.preferences}>
      <PreferenceFields
        value={value}
        portalTimeZone={portalTimeZone()}
        onChange={(changes) => setChanged((before) => ({ ...before, ...changes }))}
      />
      {save.isError ? <NotSaved sentence={texts.preferencesFailed} error={save.error} /> : null}
      <div className={classes.actions}>
        <Button ref={button} type="primary" disabled={save.isPending} onClick={() => save.mutate(value)}>
          {texts.savePreferences}
        </Button>
      </div>
    </Card>
  );
}
