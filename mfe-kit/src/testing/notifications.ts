import { onTestFinished } from 'vitest';
import type { ShowNotification } from '../notify/notify';

/** Collects what asks for a toast from here on, until the test ends. */
export function collectNotifications(): ShowNotification[] {
  const shown: ShowNotification[] = [];
  const collect = (event: Event) => shown.push((event as CustomEvent<ShowNotification>).detail);
  window.addEventListener('showNotification', collect);
  onTestFinished(() => window.removeEventListener('showNotification', collect));
  return shown;
}
