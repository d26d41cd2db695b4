import { type RefObject, useEffect } from 'react';

const FOCUSABLE =
  'a[href], button:not(:disabled), input:not(:disabled), select:not(:disabled), textarea:not(:disabled), [tabindex="0"]';

/**
 * Keeps Tab inside an open dialog: from its last control to its first and back. Without it, browsers move
 * the focus to the page's body and their own toolbar in between.
 */
export function useFocusLoop(dialog: RefObject<HTMLElement | null>, isOpen: boolean): void {
  useEffect(() => {
    if (!isOpen) return;
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key !== 'Tab' || !dialog.current) return;
      const target = nextInLoop(dialog.current, event.shiftKey);
      if (!target) return;
      event.preventDefault();
      target.focus();
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, [dialog, isOpen]);
}

/** Where Tab has to go instead of leaving the dialog; `null` where the browser stays inside by itself. */
function nextInLoop(dialog: HTMLElement, isBackward: boolean): HTMLElement | null {
  const controls = [...dialog.querySelectorAll<HTMLElement>(FOCUSABLE)].filter((control) =>
    control.checkVisibility(),
  );
  const first = controls.at(0);
  const last = controls.at(-1);
  const active = document.activeElement;
  // Nothing to go to: the focus stays on what the dialog has focused, such as its text.
  if (!first || !last) return dialog.contains(active) ? (active as HTMLElement) : dialog;
  if (!active || !dialog.contains(active)) return isBackward ? last : first;
  const isBefore = (control: HTMLElement) =>
    (active.compareDocumentPosition(control) & Node.DOCUMENT_POSITION_PRECEDING) !== 0;
  const isAfter = (control: HTMLElement) =>
    (active.compareDocumentPosition(control) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0;
  if (isBackward) return controls.some(isBefore) ? null : last;
  return controls.some(isAfter) ? null : first;
}
