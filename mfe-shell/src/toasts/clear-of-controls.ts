import { type RefObject, useLayoutEffect, useState } from 'react';

/** CSS pixels between toasts and what they must not cover. */
const GAP = 12;

/** What toasts never cover: the page's title, its primary actions, and fields. */
const KEPT_CLEAR = 'h1, .ant-btn-primary, input';

type Box = Pick<DOMRect, 'left' | 'right' | 'top' | 'bottom'>;

/**
 * How far the toasts have to move down from their place at the top right, in CSS pixels, so that they cover
 * no title, primary action or field of the page or of a dialog.
 */
export function useOffsetClearOfControls(toasts: RefObject<HTMLElement | null>, count: number): number {
  const [offset, setOffset] = useState(0);

  useLayoutEffect(() => {
    if (count === 0) return;
    const place = () => {
      if (!toasts.current) return;
      const { left, right, top, bottom } = toasts.current.getBoundingClientRect();
      const moved = Number(toasts.current.dataset.offset);
      const controls = [...document.querySelectorAll(KEPT_CLEAR)]
        .filter((control) => control.checkVisibility())
        .map((control) => control.getBoundingClientRect());
      const home = { left, right, top: top - moved, bottom: bottom - moved };
      setOffset(offsetClearOf(home, controls, window.innerHeight));
    };
    place();
    const changes = new MutationObserver(place);
    changes.observe(document.body, { childList: true, subtree: true });
    window.addEventListener('scroll', place, { capture: true, passive: true });
    window.addEventListener('resize', place);
    return () => {
      changes.disconnect();
      window.removeEventListener('scroll', place, { capture: true });
      window.removeEventListener('resize', place);
    };
  }, [toasts, count]);

  return offset;
}

/** The smallest move down after which the toasts cover none of the boxes; 0 where there is no room below. */
export function offsetClearOf(toasts: Box, boxes: readonly Box[], viewportHeight: number): number {
  let offset = 0;
  for (const box of [...boxes].sort((a, b) => a.top - b.top)) {
    const isBeside = box.right <= toasts.left || box.left >= toasts.right;
    const isAbove = box.bottom <= toasts.top + offset;
    const isBelow = box.top >= toasts.bottom + offset;
    if (!isBeside && !isAbove && !isBelow) offset = box.bottom + GAP - toasts.top;
  }
  return toasts.bottom + offset > viewportHeight ? 0 : offset;
}
