/** Milliseconds that what a page reports waits for more of it. */
const WAIT_MS = 1000;

/** Calls `flush` a while after it is first asked for, and when the page is left. */
export function flushTogether(flush: () => void): { ask: () => void; stop: () => void } {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const flushNow = () => {
    clearTimeout(timer);
    timer = undefined;
    flush();
  };
  const onHidden = () => {
    if (document.visibilityState === 'hidden') flushNow();
  };
  document.addEventListener('visibilitychange', onHidden);
  return {
    ask: () => (timer ??= setTimeout(flushNow, WAIT_MS)),
    stop: () => {
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', onHidden);
    },
  };
}
