import { useMemo, useSyncExternalStore } from 'react';
import { startOfDay } from '../format/days';
import { now } from './clock';

/**
 * The midnight in the deployment's time zone at which the current day began; the same object for the whole day. Redraws
 * at the next one, and when the tab is shown again: the timers of a hidden one, or of a machine that slept, are late.
 */
export function useToday(): Date {
  const time = useSyncExternalStore(subscribe, today);
  return useMemo(() => new Date(time), [time]);
}

const today = () => startOfDay(now()).getTime();

function subscribe(redraw: () => void) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const wait = () => {
    clearTimeout(timer);
    timer = setTimeout(check, startOfDay(now(), -1).getTime() - now().getTime());
  };
  const check = () => {
    redraw();
    wait();
  };
  wait();
  document.addEventListener('visibilitychange', check);
  return () => {
    clearTimeout(timer);
    document.removeEventListener('visibilitychange', check);
  };
}
