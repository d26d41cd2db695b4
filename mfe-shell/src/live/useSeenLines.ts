import { useState } from 'react';

/** CSS pixels of a line's end that may be cut off: its padding. */
const TOLERANCE = 8;

/** The lines of a list, by `data-line`, that have been on the screen. */
export function useSeenLines() {
  const [seen, setSeen] = useState<ReadonlySet<string>>(new Set());

  /** Adds the lines that are on the screen now: called when the list is drawn and when it is scrolled. */
  function look(list: HTMLElement | null) {
    if (!list) return;
    const { top, bottom } = list.getBoundingClientRect();
    const shown = [...list.querySelectorAll<HTMLElement>('[data-line]')].filter((line) => {
      const end = line.getBoundingClientRect().bottom;
      return end >= top && end <= bottom + TOLERANCE;
    });
    const names = shown.map(({ dataset }) => dataset.line ?? '').filter((name) => !seen.has(name));
    if (names.length > 0) setSeen((before) => new Set([...before, ...names]));
  }

  return { seen, look };
}
