import { type RefObject, useEffect } from 'react';

/**
 * Keeps Tab inside the open dialog that contains the element: it moves between the dialog's buttons,
 * and to the element while there are none. The browser itself would leave the page after the last one.
 */
export function useFocusLoop(element: RefObject<HTMLElement | null>, isOpen: boolean) {
  useEffect(() => {
    if (!isOpen) return;
    const moveFocus = (event: KeyboardEvent) => {
      const dialog = element.current?.closest('[role="dialog"]');
      if (event.key !== 'Tab' || !dialog) return;
      event.preventDefault();
      const buttons = [...dialog.querySelectorAll<HTMLElement>('button:enabled')];
      const current = buttons.indexOf(document.activeElement as HTMLElement);
      const next = event.shiftKey
        ? buttons.at(current <= 0 ? -1 : current - 1)
        : (buttons[current + 1] ?? buttons[0]);
      (next ?? element.current)?.focus();
    };
    document.addEventListener('keydown', moveFocus);
    return () => document.removeEventListener('keydown', moveFocus);
  }, [element, isOpen]);
}
