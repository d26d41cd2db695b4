import { onTestFinished } from 'vitest';
import type { ShowNotification } from '../notify/notify';

/** Collects the toasts that are shown from now on, until the test ends. */
export function collectNotifications(): ShowNotification[] {
  const shown: ShowNotification[] = [];
  const collect = (event: Event) => shown.push((event as CustomEvent<ShowNotification>).detail);
  window.addEventListener('showNotification', collect);
  onTestFinished(() => window.removeEventListener('showNotification', collect));
  return shown;
}

/**
 * Returns a function that answers the messages of the toasts on the page: those that were shown and
 * neither dismissed nor replaced. They do not time out.
 */
export function standingToasts(): () => string[] {
  let standing: ShowNotification[] = [];
  const show = (event: Event) => {
    const shown = (event as CustomEvent<ShowNotification>).detail;
    standing = [...standing.filter(({ key }) => !key || key !== shown.key), shown];
  };
  const dismiss = (event: Event) => {
    standing = standing.filter(({ key }) => key !== (event as CustomEvent<string>).detail);
  };
  window.addEventListener('showNotification', show);
  window.addEventListener('dismissNotification', dismiss);
  onTestFinished(() => {
    window.removeEventListener('showNotification', show);
    window.removeEventListener('dismissNotification', dismiss);
  });
  return () => standing.map(({ message }) => message);
}
