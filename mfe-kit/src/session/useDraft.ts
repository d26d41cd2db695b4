import { type Dispatch, type SetStateAction, useEffect, useState } from 'react';
import { session } from './session';
import { useSession } from './useSession';

/** The drafts whose session ended before they were saved, by person and form. */
const unsaved = new Map<string, unknown>();

/**
 * A state for what is typed into a form and not saved: a person whose session ends finds it there after signing in again.
 * It stays in the page's memory, which is no place for a password.
 */
export function useDraft<T>(form: string, initial: T): [draft: T, setDraft: Dispatch<SetStateAction<T>>] {
  const key = JSON.stringify([useSession().user?.email, form]);
  const [draft, setDraft] = useState(() => (unsaved.has(key) ? (unsaved.get(key) as T) : initial));

  useEffect(
    () => () => {
      const { state } = session;
      if (state.status === 'signed-out' && state.expiry) unsaved.set(key, draft);
      else unsaved.delete(key);
    },
    [key, draft],
  );

  return [draft, setDraft];
}
