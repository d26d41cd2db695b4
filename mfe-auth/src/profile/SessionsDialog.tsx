import { useMutation, useQuery } from '@tanstack/react-query';
import { api, formatDateTime, notify, queryClient, type Schema } from 'mfe-kit';
import { Button, LoadingState, Note, StatusTag } from 'mfe-kit/ui';
import { useRef } from 'react';
import { NotSaved } from './NotSaved';
import { sessionsQuery } from './profile';
import { profileTexts } from './profile-texts';
import { ProfileDialog } from './ProfileDialog';
import classes from './ProfilePage.module.css';

type OwnSession = Schema<'OwnSession'>;

/** Where the person is signed in; any other session can be ended. */
export function SessionsDialog({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const texts = profileTexts();
  return (
    <ProfileDialog
      isOpen={isOpen}
      title={texts.sessions}
      width={520}
      onClose={onClose}
      footer={
        <Button type="primary" onClick={onClose}>
          {texts.close}
        </Button>
      }
    >
      <Sessions />
    </ProfileDialog>
  );
}

function Sessions() {
  const texts = profileTexts();
  const query = useQuery(sessionsQuery());
  const again = useMutation({
    mutationFn: () => query.refetch({ throwOnError: true }),
    meta: { act: 'try again' },
  });
  const list = useRef<HTMLUListElement>(null);

  const end = useMutation({
    mutationFn: ({ id }: OwnSession) => api.DELETE('/api/v1/sessions/{id}', { params: { path: { id } } }),
    onSuccess: (_, { id }) => {
      queryClient.setQueryData(sessionsQuery().queryKey, (before) =>
        before?.filter((session) => session.id !== id),
      );
      notify({ type: 'success', message: texts.sessionEnded });
      // Its button is gone.
      list.current?.focus();
    },
  });

  if (query.isPending) return <LoadingState />;
  // A list that was read stays, also when it can't be read again.
  if (!query.data)
    return (
      <Note tone="bad" title={texts.sessionsFailed}>
        <Button size="small" onClick={() => again.mutate()}>
          {texts.retry}
        </Button>
      </Note>
    );
  return (
    <>
      {end.isError ? <NotSaved sentence={texts.endFailed} error={end.error} /> : null}
      <ul className={classes.sessions} role="list" ref={list} tabIndex={-1} aria-label={texts.sessions}>
        {query.data.map((own) => (
          <li key={own.id}>
            <div>
              <strong id={`session-${own.id}`}>{own.device ?? texts.unknownDevice}</strong>
              <p className="detail">
                {[own.address, texts.since(formatDateTime(own.created_at))].filter(Boolean).join(' · ')}
              </p>
            </div>
            {own.is_current ? (
              <StatusTag tone="info">{texts.thisSession}</StatusTag>
            ) : (
              <Button
                size="small"
                aria-describedby={`session-${own.id}`}
                disabled={end.isPending}
                onClick={() => end.mutate(own)}
              >
                {texts.end}
              </Button>
            )}
          </li>
        ))}
      </ul>
    </>
  );
}
