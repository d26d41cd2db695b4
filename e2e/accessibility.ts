import { expect, type Page, test } from '@playwright/test';
import axe from 'axe-core';
import { untilDrawn } from './acts';

const STANDARDS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];

/** Checks the page against WCAG 2.2 AA, once its styles are there and its animations are done. */
export async function expectAccessible(page: Page) {
  await page.waitForFunction(() =>
    [...document.querySelectorAll('link[rel=stylesheet]')].every((link) => (link as HTMLLinkElement).sheet),
  );
  await page.waitForFunction(isStill);
  // A page that is checked again has it already.
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe.source);
  expect(await page.evaluate(violations, STANDARDS)).toEqual([]);
}

/** Runs in the page. */
async function violations(standards: string[]) {
  const found = await (window as unknown as { axe: typeof axe }).axe.run({
    runOnly: standards,
    // Off by default, although WCAG 2.5.3 requires it.
    rules: { 'label-content-name-mismatch': { enabled: true } },
    resultTypes: ['violations'],
  });
  return found.violations.map(({ id, nodes }) => ({ id, at: nodes.map(({ html }) => html) }));
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

/** Changes the theme of the system, and waits until the page has followed, which the portal does by a script. */
export async function changeTheme(page: Page, colorScheme: 'light' | 'dark') {
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
  await page.waitForFunction(
    (scheme) => getComputedStyle(document.documentElement).colorScheme.includes(scheme),
    colorScheme,
  );
  await untilDrawn(page);
}

type Look = readonly ['light' | 'dark', number];

const LOOKS: readonly Look[] = [
  ['light', 1280],
  ['dark', 320],
];

/** Runs a check of a page in each theme and width: in a wide light window and a narrow dark one, unless others are given. */
export async function inEachLook(page: Page, check: () => Promise<void>, looks = LOOKS) {
  for (const [colorScheme, width] of looks)
    await test.step(`${colorScheme}, ${width} px`, async () => {
      await page.setViewportSize({ width, height: 900 });
      await changeTheme(page, colorScheme);
      await check();
    });
}
