import { type RefObject, useLayoutEffect } from 'react';

/** Tells the style sheets how high a part is that stays in sight, as this property of the page. */
export function useHeight(
  part: RefObject<HTMLElement | null>,
  property: '--notices-height' | '--story',
): void {
  useLayoutEffect(() => {
    const { style } = document.documentElement;
    const measure = () => style.setProperty(property, `${part.current?.offsetHeight ?? 0}px`);
    const sizes = new ResizeObserver(measure);
    if (part.current) sizes.observe(part.current);
    measure();
    return () => {
      sizes.disconnect();
      style.removeProperty(property);
    };
  }, [part, property]);
}
