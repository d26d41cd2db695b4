import { isLive, type ShowNotification } from 'mfe-kit';
import { type FocusEvent, useEffect, useLayoutEffect, useReducer, useRef, useState } from 'react';
import { useOffsetClearOfControls } from './clear-of-controls';
import { changeToasts, readToast, type Toast } from './toast-list';
import { ToastCard } from './ToastCard';
import classes from './Toasts.module.css';

/**
 * Draws the toasts of `showNotification` events, top-right. Screen readers announce errors at once and the others
 * politely. All toasts stay while the pointer or the focus is on one; on live screens, one that is only news leaves for the
 * next.
 */
export function Toasts() {
  const [toasts, change] = useReducer(changeToasts, []);
  const [isPointerHere, setPointerHere] = useState(false);
  const [isFocusHere, setFocusHere] = useState(false);
  const corner = useRef<HTMLDivElement>(null);
  const cameFrom = useRef<HTMLElement | null>(null);
  /** The position of the button that has the focus; it stays when the browser removes that. */
  const focusedAt = useRef<number | null>(null);
  const offset = useOffsetClearOfControls(corner, toasts.length);

  useEffect(() => {
    const show = (event: Event) => {
      const toast = readToast((event as CustomEvent<Partial<ShowNotification> | null>).detail);
      // A toast that is under the pointer or has the focus is being read.
      // Specified screens show each toast for its duration.
      const isRead = corner.current?.matches(':hover, :focus-within');
      if (toast) change({ act: 'show', toast, makesRoom: isLive() && !isRead });
    };
    const dismiss = (event: Event) => change({ act: 'dismiss', key: (event as CustomEvent<string>).detail });
    window.addEventListener('showNotification', show);
    window.addEventListener('dismissNotification', dismiss);
    return () => {
      window.removeEventListener('showNotification', show);
      window.removeEventListener('dismissNotification', dismiss);
    };
  }, []);

  // An element that is removed fires no event when the pointer or the focus leaves it.
  if (toasts.length === 0 && isPointerHere) setPointerHere(false);
  if (toasts.length === 0 && isFocusHere) setFocusHere(false);

  // A toast that goes does not take the focus with it: the one in its place gets it, or the element that had it before.
  useLayoutEffect(() => {
    if (focusedAt.current === null || corner.current?.contains(document.activeElement)) return;
    const next =
      buttonsIn(corner.current)
        .slice(0, focusedAt.current + 1)
        .at(-1) ?? cameFrom.current;
    focusedAt.current = null;
    next?.focus();
  }, [toasts]);

  function onFocus({ target, relatedTarget }: FocusEvent<HTMLElement>) {
    setFocusHere(true);
    focusedAt.current = buttonsIn(corner.current).indexOf(target);
    if (relatedTarget instanceof HTMLElement && !corner.current?.contains(relatedTarget))
      cameFrom.current = relatedTarget;
  }

  function onBlur() {
    setFocusHere(false);
    focusedAt.current = null;
  }

  const draw = (toast: Toast) => (
    <ToastCard
      key={toast.id}
      toast={toast}
      isHeld={isPointerHere || isFocusHere}
      onClose={() => change({ act: 'remove', id: toast.id })}
    />
  );
  return (
    // eslint-disable-next-line jsx-a11y/no-static-element-interactions -- pauses the timers; not a control
    <div
      className={classes.corner}
      style={{ translate: `0 ${offset}px` }}
      data-offset={offset}
      ref={corner}
      onPointerEnter={() => setPointerHere(true)}
      onPointerLeave={() => setPointerHere(false)}
      onFocus={onFocus}
      onBlur={onBlur}
    >
      <div role="alert" aria-atomic="false">
        {toasts.filter(({ type }) => type === 'error').map(draw)}
      </div>
      <div role="status" aria-atomic="false">
        {toasts.filter(({ type }) => type !== 'error').map(draw)}
      </div>
    </div>
  );
}

function buttonsIn(corner: HTMLElement | null): HTMLElement[] {
  return [...(corner?.querySelectorAll('button') ?? [])];
}
