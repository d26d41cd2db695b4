import type { InputRef } from 'mfe-kit/ui';
import { useLayoutEffect, useRef } from 'react';

/**
 * Restores the focus of a form that is disabled while a request is pending: it returns to the field
 * that had it, or moves to the one chosen with `sendTo`. Focus outside the form is left alone.
 */
export function useKeptFocus(isPending: boolean) {
  const form = useRef<HTMLFormElement>(null);
  const last = useRef<HTMLElement>(null);
  const due = useRef<() => void>(undefined);

  useLayoutEffect(() => {
    const remember = ({ target }: FocusEvent) => {
      last.current = target as HTMLElement;
    };
    const element = form.current;
    // A field with `autoFocus` has had it since before.
    if (element?.contains(document.activeElement)) last.current = document.activeElement as HTMLElement;
    element?.addEventListener('focusin', remember);
    return () => element?.removeEventListener('focusin', remember);
  }, []);

  useLayoutEffect(() => {
    if (isPending || !hasFocus(form.current)) return;
    last.current?.focus();
  }, [isPending]);

  // After every render: the response may arrive before the form was ever rendered as disabled.
  useLayoutEffect(() => {
    if (isPending || !due.current) return;
    if (hasFocus(form.current)) due.current();
    due.current = undefined;
  });

  return {
    form,
    sendTo: (focus: () => void) => {
      due.current = focus;
    },
  };
}

/** Returns whether the form has the focus, or no element has it because the focused one was disabled. */
function hasFocus(form: HTMLFormElement | null) {
  const { activeElement } = document;
  return activeElement === document.body || form?.contains(activeElement) === true;
}

/** Focuses a field and selects its text, so that the next keystroke replaces it. */
export function focusAndSelect(field: InputRef | null): void {
  field?.focus();
  // `setSelectionRange` does not work in an email field.
  field?.select();
}
