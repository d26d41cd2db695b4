import { language, portalSettings, session } from 'mfe-kit';
import { useSyncExternalStore } from 'react';

/**
 * Draws a part again in place when the language or the time zone changes, so that all that is typed, open or focused in
 * it stays. What the router draws is not drawn again with its parent: each such part uses it.
 */
export function useWords(): void {
  useSyncExternalStore(subscribe, words);
}

const words = () => `${language.current} ${portalSettings().timeZone}`;

function subscribe(redraw: () => void) {
  const stops = [language.subscribe(redraw), session.subscribe(redraw)];
  return () => stops.forEach((stop) => stop());
}
