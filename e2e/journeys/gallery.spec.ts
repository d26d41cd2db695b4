import type { Locator, Page } from '@playwright/test';
import { expectAccessible, inEachLook, isStill } from '../accessibility';
import { expectTidyLayout } from '../layout';
import { expect, test } from '../test';

/** The page with everything that it draws. */
async function open(page: Page, theme: 'light' | 'dark') {
  await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
  await page.setViewportSize({ width: 1280, height: 900 });
  await page.goto('/kit/gallery/');
  await expect(page.getByRole('heading', { level: 1, name: /^Parts of mfe-kit \d/ })).toBeVisible();
  await expect(state(page, 'QueryStates: Read').getByText('Wanjiku Kamau')).toBeVisible();
  await expect(state(page, 'Spinner: Plain').getByRole('status')).toHaveCSS('opacity', '1');
}

const state = (page: Page, name: string) => page.locator(`[data-preview="${name}"]`);

test('the gallery of the kit’s parts is accessible and fits narrow and wide windows', async ({ page }) => {
  await open(page, 'light');
  await inEachLook(page, async () => {
    await expectAccessible(page);
    await expectTidyLayout(page);
  });
});

/** States that a part has only while it is used. */
const USED: [string, string, (preview: Locator) => Promise<unknown>][] = [
  ['Button: Kinds', 'hovered', (preview) => preview.getByRole('button').first().hover()],
  ['Button: Kinds', 'focused', (preview) => preview.getByRole('button').first().press('Shift')],
  ['Input: Empty', 'focused', (preview) => preview.getByRole('textbox').press('Shift')],
  ['StatusTag: With a reason', 'explained', (preview) => preview.getByRole('button').hover()],
  [
    'MenuButton: Menu',
    'open',
    async (preview) => {
      await preview.getByRole('button').click();
      await expect(preview.getByRole('menuitem').first()).toBeFocused();
    },
  ],
];

test('every part looks as recorded in each of its states, light and dark', async ({ page }) => {
  const [light, dark] = [await looksOf(page, 'light'), await looksOf(page, 'dark')];
  const record = 'npx playwright test --config e2e/playwright.config.ts gallery --update-snapshots';
  expect(sideBySide(light, dark).join('\n'), `If the change is meant: ${record}`).toMatchSnapshot(
    'parts.txt',
  );
});

/** The looks of all parts, each below its name; of a part that is used, what differs from those before. */
async function looksOf(page: Page, theme: 'light' | 'dark') {
  await open(page, theme);
  const looks: string[] = [];
  for (const preview of await page.locator('[data-preview]').all()) {
    const name = await preview.getAttribute('data-preview');
    looks.push(`# ${name}`, ...(await preview.evaluate(look)), '');
  }
  for (const [name, how, use] of USED) {
    const before = await state(page, name).evaluate(look);
    await use(state(page, name));
    await page.waitForFunction(isStill);
    const used = await state(page, name).evaluate(look);
    looks.push(`# ${name}, ${how}`, ...used.filter((line) => !before.includes(line)), '');
    await page.keyboard.press('Escape');
  }
  for (const [name, role] of [
    ['Select: Chosen', 'listbox'],
    ['Modal: Confirmation', 'dialog'],
  ] as const) {
    await state(page, name)
      .getByRole(role === 'dialog' ? 'button' : 'combobox')
      .click();
    const opened = role === 'dialog' ? page.getByRole(role) : page.locator('.ant-select-dropdown');
    await expect(opened).toBeVisible();
    await page.waitForFunction(isStill);
    looks.push(`# ${name}, open`, ...(await opened.evaluate(look)), '');
    await page.keyboard.press('Escape');
  }
  return looks;
}

/**
 * The looks in both themes as one: a property that the dark theme changes has its value there behind an arrow. Lines
 * that repeat the one before are counted.
 */
function sideBySide(light: string[], dark: string[]): string[] {
  expect(dark).toHaveLength(light.length);
  const lines = light.map((line, index) => {
    const [own, other] = [line.split(' | '), dark[index]!.split(' | ')];
    if (own.length !== other.length) return `${line} → ${dark[index]}`;
    return own.map((part, at) => (part === other[at] ? part : `${part} → ${other[at]}`)).join(' | ');
  });
  return lines.flatMap((line, index) => {
    if (line === lines[index - 1]) return [];
    const end = lines.findIndex((other, at) => at > index && other !== line);
    return end - index > 1 ? `${line} (${end - index} times)` : line;
  });
}

test('the gallery works with the keyboard alone, and its code can be copied', async ({ page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await open(page, 'light');
  await page.keyboard.press('Tab');
  await expect(page.getByRole('link', { name: 'Skip to the parts' })).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('main')).toBeFocused();

  await page.getByRole('link', { name: 'StatusTag' }).press('Enter');
  await expect(page.getByRole('heading', { level: 2, name: 'StatusTag' })).toBeInViewport();
  await page.getByRole('button', { name: 'Copy the code of StatusTag, With a reason' }).press('Enter');
  expect(await page.evaluate(() => navigator.clipboard.readText())).toContain(
    '<StatusTag tone="bad" reason=',
  );

  await page.getByRole('button', { name: 'Switch to dark theme' }).first().press('Enter');
  await expect(page.locator('html')).toHaveClass('dark');
  await page.goto('/kit/gallery');
  await expect(page).toHaveURL(/\/kit\/gallery\/$/);
});

/**
 * Runs in the page: the looks of an element and of all elements in it, a line for each that has looks of its own. Only
 * properties that do not depend on the fonts of the machine: colors, borders, distances, and the sizes of elements
 * without text.
 */
function look(root: Element): string[] {
  const lines: string[] = [];
  describe(root, getComputedStyle(root), 0);
  return lines.slice(1);

  function describe(element: Element, parent: CSSStyleDeclaration, depth: number) {
    const style = getComputedStyle(element);
    if (style.display === 'none' || style.visibility === 'hidden') return;
    const size = element.textContent ? [] : [sizeOf(element)];
    const role = element.getAttribute('role');
    const name = `${'  '.repeat(depth)}${element.tagName.toLowerCase()}${role ? `[${role}]` : ''}`;
    const looks = [...size, ...propertiesOf(style, parent)].filter(Boolean);
    if (depth === 0 || looks.length > 0) lines.push([name, ...looks].join(' | '));
    for (const pseudo of ['::before', '::after']) {
      const drawn = getComputedStyle(element, pseudo);
      if (!/^(none|normal)$/.test(drawn.content) && drawn.display !== 'none')
        lines.push([`${'  '.repeat(depth + 1)}${pseudo}`, ...propertiesOf(drawn, style)].join(' | '));
    }
    if (element.tagName.toLowerCase() === 'svg') return;
    for (const child of element.children) describe(child, style, depth + 1);
  }

  function sizeOf(element: Element): string {
    // Not the bounding box, which changes while a spinner turns.
    const { width, height } = getComputedStyle(element);
    const [wide, high] = [Number.parseFloat(width), Number.parseFloat(height)];
    if (Number.isNaN(wide)) return '';
    const isWide = wide > 60; // as wide as there is room
    return isWide ? `${Math.round(high)} high` : `${Math.round(wide)} × ${Math.round(high)}`;
  }

  function propertiesOf(style: CSSStyleDeclaration, parent: CSSStyleDeclaration): string[] {
    const inherited = ['color', 'font-size', 'font-weight', 'line-height', 'cursor', 'text-align'];
    const ofItself: [string, string][] = [
      ['background-color', 'rgba(0, 0, 0, 0)'],
      ['border-radius', '0px'],
      ['box-shadow', 'none'],
      ['opacity', '1'],
      ['padding', '0px'],
      ['gap', 'normal'],
      ['text-decoration-line', 'none'],
      ['outline-style', 'none'],
    ];
    const edges = ['top', 'right', 'bottom', 'left'].map((edge) => {
      const [width, line, color] = ['width', 'style', 'color'].map((what) =>
        style.getPropertyValue(`border-${edge}-${what}`),
      );
      return width === '0px' || line === 'none' ? 'none' : `${width} ${line} ${color}`;
    });
    const isSame = edges.every((edge) => edge === edges[0]);
    const border = isSame ? edges[0] : edges.join(', ');
    return [
      ...inherited
        .filter((name) => style.getPropertyValue(name) !== parent.getPropertyValue(name))
        .map((name) => `${name}: ${style.getPropertyValue(name)}`),
      ...ofItself
        .filter(([name, usual]) => style.getPropertyValue(name) !== usual)
        .map(([name]) => `${name}: ${style.getPropertyValue(name)}`),
      ...(border === 'none' ? [] : [`border: ${border}`]),
    ];
  }
}
