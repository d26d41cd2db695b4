import AxeBuilder from '@axe-core/playwright';
import { expect, type Page } from '@playwright/test';

/** Checks the page against WCAG 2.2 AA, once its styles are there and its animations are done. */
export async function expectAccessible(page: Page) {
  await page.waitForFunction(() =>
    [...document.querySelectorAll('link[rel=stylesheet]')].every((link) => (link as HTMLLinkElement).sheet),
  );
  await page.waitForFunction(isStill);
  const { violations } = await new AxeBuilder({ page })
    // Off by default, although WCAG 2.5.3 requires it.
    .options({ rules: { 'label-content-name-mismatch': { enabled: true } }, resultTypes: ['violations'] })
    .withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'])
    // Only frames of other origins need more, which no page has.
    .setLegacyMode()
    .analyze();
  expect(violations.map(({ id, nodes }) => ({ id, at: nodes.map((node) => node.html) }))).toEqual([]);
}

/** Runs in the page: an element that fades in does not have its final colors yet. Spinners never stop, and are ignored. */
export function isStill() {
  const isMoving = document
    .getAnimations()
    .some(
      ({ playState, effect }) => playState === 'running' && effect?.getComputedTiming().endTime !== Infinity,
    );
  return !isMoving && !document.querySelector('[class*="-appear"], [class*="-enter"], [class*="-leave"]');
}
