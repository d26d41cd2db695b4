import { type RefObject, useLayoutEffect, useState } from 'react';

/** CSS pixels between toasts and what they must not cover. */
const GAP = 12;

/** The elements that toasts never cover: the page's title, its primary actions, and fields. */
const KEPT_CLEAR = 'h1, [data-primary], .ant-btn-primary, input';

/** Dialogs, which toasts cover only where there is no room below: somebody has to read all of a dialog. */
const DIALOG = '[role="dialog"]';

type Box = Pick<DOMRect, 'left' | 'right' | 'top' | 'bottom'>;

/**
 * The distance in CSS pixels that the toasts have to move down from their place at the top right so that they
 * cover no title, primary action or field of the page or of a dialog, and if there is room no dialog at all.
 */
export function useOffsetClearOfControls(toasts: RefObject<HTMLElement | null>, count: number): number {
  const [offset, setOffset] = useState(0);

  useLayoutEffect(() => {
    if (count === 0) return;
    const place = () => {
      if (!toasts.current) return;
      const { left, right, top, bottom } = toasts.current.getBoundingClientRect();
      const moved = Number(toasts.current.dataset.offset);
      const controls = visibleBoxes(KEPT_CLEAR);
      const dialogs = visibleBoxes(DIALOG);
      const home = { left, right, top: top - moved, bottom: bottom - moved };
      const clearOf = (boxes: readonly Box[]) => offsetClearOf(home, boxes, window.innerHeight);
      setOffset(clearOf([...controls, ...dialogs]) || clearOf(controls));
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

function visibleBoxes(selector: string): Box[] {
  const elements = [...document.querySelectorAll(selector)].filter((element) => element.checkVisibility());
  return elements.map((element) => element.getBoundingClientRect());
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
