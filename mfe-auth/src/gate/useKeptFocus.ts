import type { InputRef } from 'mfe-kit/ui';
import { useEffect, useRef } from 'react';

/**
 * Keeps the focus of a form that is closed while a request is pending: it comes back to where it
 * was, or goes where `sendTo` said the next keystroke belongs. A user who has gone elsewhere on the
 * page is left there.
 */
export function useKeptFocus(isPending: boolean) {
  const form = useRef<HTMLFormElement>(null);
  const last = useRef<HTMLElement>(null);
  const due = useRef<() => void>(undefined);

  useEffect(() => {
    const remember = ({ target }: FocusEvent) => {
      last.current = target as HTMLElement;
    };
    const element = form.current;
    element?.addEventListener('focusin', remember);
    return () => element?.removeEventListener('focusin', remember);
  }, []);

  useEffect(() => {
    if (isPending || !isHere(form.current)) return;
    last.current?.focus();
  }, [isPending]);

  // After every drawing: an answer may come before the form was ever drawn closed.
  useEffect(() => {
    if (isPending || !due.current) return;
    if (isHere(form.current)) due.current();
    due.current = undefined;
  });

  return {
    form,
    sendTo: (focus: () => void) => {
      due.current = focus;
    },
  };
}

/** Whether the focus is in the form, or nowhere because what had it was closed. */
function isHere(form: HTMLFormElement | null) {
  const { activeElement } = document;
  return activeElement === document.body || form?.contains(activeElement) === true;
}

/** Puts the focus on all of what a field holds, so that the next keystroke replaces it. */
export function focusWhole(field: InputRef | null): void {
  field?.focus();
  // Not by a range of characters, which an e-mail field does not have.
  field?.input?.select();
}
