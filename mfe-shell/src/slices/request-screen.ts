import { screenAt } from './brought';
import { loadSlice } from './load-slice';

/** Requests the slice that has the screen of an address, once; with its code come the screen's first calls. */
export function requestScreen(pathname: string): void {
  const screen = screenAt(pathname);
  if (!screen) return;
  loadSlice(screen.slice).catch(() => {
    /* shown where the screen is drawn */
  });
}
