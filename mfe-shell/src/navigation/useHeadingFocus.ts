import { useEffect, useRef } from 'react';
import { useLocation } from 'react-router';

/**
 * Moves the focus to the page's h1 after a navigation, as soon as it is drawn, so that a screen
 * reader announces the page and Tab continues there. It does nothing on the first page, when only a list's
 * state in the address changes, when the screen has set the focus itself, or when the user acts first.
 */
export function useHeadingFocus(): void {
  const { pathname } = useLocation();
  const arrivedAt = useRef<string>(undefined);

  useEffect(() => {
    const isFirst = arrivedAt.current === undefined;
    if (arrivedAt.current === pathname) return;
    arrivedAt.current = pathname;
    return isFirst ? undefined : followHeading();
  }, [pathname]);
}

/** Moves the focus to the page's h1 until the user acts; returns how to stop. */
export function followHeading(): () => void {
  focusHeadingUnlessSet();

  // A screen may draw its heading late, and another one when its data is loaded.
  const drawn = new MutationObserver(focusHeadingUnlessSet);
  const stop = () => {
    drawn.disconnect();
    window.removeEventListener('pointerdown', stop);
    window.removeEventListener('keydown', stop);
  };
  drawn.observe(document.body, { childList: true, subtree: true });
  window.addEventListener('pointerdown', stop);
  window.addEventListener('keydown', stop);
  return stop;
}

function focusHeadingUnlessSet(): void {
  const main = document.querySelector('main');
  const { activeElement } = document;
  if (main && activeElement !== main && main.contains(activeElement)) return;
  focusHeading();
}

export function focusHeading(): void {
  const heading = [...document.querySelectorAll('h1')].find((h1) => h1.checkVisibility());
  if (!heading) return;
  heading.tabIndex = -1;
  // The router has already set the scroll position.
  heading.focus({ preventScroll: true });
}
