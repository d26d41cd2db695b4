import { useEffect, useRef } from 'react';
import { useLocation } from 'react-router';

/**
 * Moves the focus to the new page's h1 after a navigation, as soon as it is drawn: so that a screen
 * reader says where one is, and Tab goes on from there. The first page, a list's state in the
 * address, a screen that has placed the focus itself, and a user who was quicker are left alone.
 */
export function useHeadingFocus(): void {
  const { pathname } = useLocation();
  const arrivedAt = useRef<string>(undefined);

  useEffect(() => {
    const isFirst = arrivedAt.current === undefined;
    if (arrivedAt.current === pathname) return;
    arrivedAt.current = pathname;
    if (isFirst) return;
    focusHeading();

    // A screen may draw its heading late, and another one once its data is there.
    const drawn = new MutationObserver(focusHeading);
    const stop = () => {
      drawn.disconnect();
      window.removeEventListener('pointerdown', stop);
      window.removeEventListener('keydown', stop);
    };
    drawn.observe(document.body, { childList: true, subtree: true });
    window.addEventListener('pointerdown', stop);
    window.addEventListener('keydown', stop);
    return stop;
  }, [pathname]);
}

function focusHeading(): void {
  const main = document.querySelector('main');
  const { activeElement } = document;
  if (main && activeElement !== main && main.contains(activeElement)) return;
  const heading = [...document.querySelectorAll('h1')].find((h1) => h1.checkVisibility());
  if (!heading) return;
  heading.tabIndex = -1;
  // The router has already put the page where it belongs.
  heading.focus({ preventScroll: true });
}
