import { useMutation, useQuery } from '@tanstack/react-query';
import {
  api,
  ApiError,
  changedSince,
  dataOf,
  followPreferences,
  notify,
  portalTimeZone,
  preferencesQuery,
  queryClient,
  type Schema,
  useDraft,
} from 'mfe-kit';
import { Button, Card, QueryStates } from 'mfe-kit/ui';
import { PreferenceFields } from 'mfe-kit/ui-data';
import { useEffect, useRef } from 'react';
import { NotSaved } from './NotSaved';
import { failureOf } from './profile';
import { profileTexts } from './profile-texts';

type Preferences = Schema<'Preferences'>;

/** The person's preferences, for every role; not drawn with a provider that keeps none. */
export function PreferencesCard() {
  const query = useQuery(preferencesQuery());
  const texts = profileTexts();
  return (
    <QueryStates query={query} failure={failureOf(texts.preferencesNotLoaded, texts)}>
      {(kept) => (kept ? <PreferencesForm kept={kept} /> : null)}
    </QueryStates>
  );
}

function PreferencesForm({ kept }: { kept: Preferences }) {
  const texts = profileTexts();
  const [changed, setChanged] = useDraft<Partial<Preferences>>('preferences', {});
  const form = useRef<HTMLDivElement>(null);

  const save = useMutation({
    mutationFn: (preferences: Preferences) =>
      dataOf(api.PUT('/api/v1/settings', { body: { preferences, rules: null } })),
    onSuccess: ({ preferences: saved }, sent) => {
      queryClient.setQueryData(preferencesQuery().queryKey, saved);
      setChanged((before) => changedSince(sent, before));
      notify({ type: 'success', message: texts.preferencesSaved });
      followPreferences(saved);
    },
  });
  const isZoneRefused = save.error instanceof ApiError && save.error.field === 'time_zone';

  useEffect(() => {
    if (isZoneRefused) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [isZoneRefused, save.error]);

  const { language, time_zone, notify_by_email, notify_by_sms } = kept;
  const value = { language, time_zone, notify_by_email, notify_by_sms, ...changed };
  return (
    <Card title={texts.preferences}>
      <div ref={form}>
        <PreferenceFields
          value={value}
          portalTimeZone={portalTimeZone()}
          isTimeZoneUnknown={isZoneRefused}
          onChange={(changes) => {
            // The server's answer about a field is about what was sent.
            if (isZoneRefused) save.reset();
            setChanged((before) => ({ ...before, ...changes }));
          }}
        />
      </div>
      {save.isError && !isZoneRefused ? (
        <NotSaved sentence={texts.preferencesFailed} error={save.error} />
      ) : null}
      <div className="actions">
        <Button type="primary" loading={save.isPending} onClick={() => save.mutate(value)}>
          {texts.savePreferences}
        </Button>
      </div>
    </Card>
  );
}
