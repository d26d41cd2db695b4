import type { Page } from '@playwright/test';

/** The browser's own measurement of an interaction, from the input to the next paint, in ms. */
export async function watchInteractions(page: Page) {
  await page.evaluate(() => {
    const durations: number[] = [];
    Object.assign(window, { interactionDurations: durations });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as (PerformanceEntry & { interactionId: number })[])
        if (entry.interactionId > 0) durations.push(entry.duration);
    }).observe({ type: 'event', durationThreshold: 16 } as PerformanceObserverInit);
  });
}

/**
 * Repeats an action `times` times and returns the longest interaction of each, in ms and in order. 16
 * means 16 or less, because the browser does not report shorter ones.
 */
export async function measure(page: Page, times: number, act: (turn: number) => Promise<void>) {
  const longest: number[] = [];
  for (let turn = 0; turn < times; turn += 1) {
    await page.evaluate(() => void (window as unknown as Durations).interactionDurations.splice(0));
    await act(turn);
    longest.push(await page.evaluate(settled));
  }
  return longest;
}

interface Durations {
  interactionDurations: number[];
}

async function settled() {
  // The entry of an interaction is reported after its paint.
  for (let frame = 0; frame < 3; frame += 1) await new Promise(requestAnimationFrame);
  await new Promise((resolve) => requestIdleCallback(resolve, { timeout: 1000 }));
  return Math.max(16, ...(window as unknown as Durations).interactionDurations);
}
