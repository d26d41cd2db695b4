import { useLayoutEffect, useRef } from 'react';

/**
 * Keeps the focus of a form that is disabled while a request is pending: it returns to the element that had it, or goes
 * to the field that is `wrong`, whose text the next keystroke replaces. Focus outside the form is left alone.
 */
export function useKeptFocus(isPending: boolean, wrong?: unknown) {
  const form = useRef<HTMLFormElement>(null);
  const last = useRef<HTMLElement>(null);

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
    const field = wrong ? form.current?.querySelector<HTMLInputElement>('[aria-invalid="true"]') : null;
    (field ?? last.current)?.focus();
    field?.select();
  }, [isPending, wrong]);

  return form;
}

/** Returns whether the form has the focus, or what is around it, which gets it when the focused element is disabled. */
function hasFocus(form: HTMLFormElement | null) {
  const { activeElement } = document;
  return form?.contains(activeElement) === true || activeElement?.contains(form) === true;
}
