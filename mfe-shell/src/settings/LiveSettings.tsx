import { useQuery } from '@tanstack/react-query';
import { type FailureTexts, preferencesQuery, useSession } from 'mfe-kit';
import { Card, EmptyState, PageHeader, QueryStates } from 'mfe-kit/ui';
import type { ReactNode } from 'react';
import { Link } from 'react-router';
import { SettingsForm } from './SettingsForm';
import { settingsQuery } from './settings-query';
import { settingsTexts } from './settings-texts';

/** The settings that are kept: the person's own, and the deployment's. `specified` is drawn where none are. */
export default function LiveSettings({ specified }: { specified: ReactNode }) {
  const { user } = useSession();
  const isAdmin = user?.role === 'admin';
  const settings = useQuery({ ...settingsQuery(), enabled: isAdmin });
  const preferences = useQuery(preferencesQuery());
  const texts = settingsTexts();
  const loading: FailureTexts = { reads: 'message', withoutText: texts.failed, otherwise: texts.failed };
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
    <QueryStates query={settings} failure={loading} header={header}>
      {(rules) => (
        <QueryStates query={preferences} failure={loading} header={header}>
          {(own) => (rules && own ? <SettingsForm rules={rules} own={own} /> : specified)}
        </QueryStates>
      )}
    </QueryStates>
  );
}
