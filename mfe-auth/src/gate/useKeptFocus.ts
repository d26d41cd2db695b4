import type { InputRef } from 'mfe-kit/ui';
import { useEffect, useRef } from 'react';

/**
 * Brings the focus back into a form that is closed while a request is pending: to where it was, or
 * to where `sendTo` said the next keystroke belongs. A user who has gone elsewhere is left there.
 */
export function useKeptFocus(isPending: boolean) {
  const form = useRef<HTMLFormElement>(null);
  const next = useRef<() => void>(undefined);

  useEffect(() => {
    const remember = ({ target }: FocusEvent) => {
      next.current = () => (target as HTMLElement).focus();
    };
    const element = form.current;
    element?.addEventListener('focusin', remember);
    return () => element?.removeEventListener('focusin', remember);
  }, []);

  useEffect(() => {
    if (isPending) return;
    const { activeElement } = document;
    if (activeElement === document.body || form.current?.contains(activeElement)) next.current?.();
  }, [isPending]);

  return {
    form,
    sendTo: (focus: () => void) => {
      next.current = focus;
    },
  };
}

/** Puts the focus on all of what a field holds, so that the next keystroke replaces it. */
export function focusWhole(field: InputRef | null): void {
  field?.focus();
  // Not by a range of characters, which an e-mail field does not have.
  field?.input?.select();
}
