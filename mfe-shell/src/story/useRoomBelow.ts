import { type RefObject, useLayoutEffect } from 'react';

/**
 * Tells the style sheets how high a part is that stays at the bottom of the viewport, as `--story` of the page: the page
 * can be scrolled that much further, so that the part covers nothing for good.
 */
export function useRoomBelow(part: RefObject<HTMLElement | null>): void {
  useLayoutEffect(() => {
    const { style } = document.documentElement;
    const measure = () => style.setProperty('--story', `${part.current?.offsetHeight ?? 0}px`);
    const sizes = new ResizeObserver(measure);
    if (part.current) sizes.observe(part.current);
    measure();
    return () => {
      sizes.disconnect();
      style.removeProperty('--story');
    };
  }, [part]);
}
