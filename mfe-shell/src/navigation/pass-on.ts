/** The ref of a button that goes once its act is done, and must not take the focus with it: `next` gets it. */
export const passOnTo =
  (next: (button: HTMLButtonElement) => HTMLElement | null | undefined) => (button: HTMLButtonElement) => {
    const target = next(button);
    return () => {
      if (document.activeElement === button) target?.focus({ preventScroll: true });
    };
  };
