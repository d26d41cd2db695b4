import { expect, type Page } from '@playwright/test';

/**
 * Checks that the page does not scroll sideways, that no text or control overlaps another, that no text leaves its card,
 * and that no field is wider than its place.
 */
export async function expectTidyLayout(page: Page) {
  expect(await page.evaluate(layoutProblems)).toEqual([]);
}

/** Runs in the page; an open dialog is checked alone, because it covers the page. */
function layoutProblems(): string[] {
  const root = document.querySelector('[role="dialog"]') ?? document.body;
  const problems: string[] = [];
  const { scrollWidth, clientWidth } = document.documentElement;
  if (scrollWidth > clientWidth)
    problems.push(`the page is ${scrollWidth} px wide, the window ${clientWidth}`);

  const boxes: { text: string; element: Element; box: DOMRect }[] = [];
  const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const text = texts.currentNode.textContent?.trim().slice(0, 40);
    const element = texts.currentNode.parentElement;
    if (!text || !element || element.closest('script, style, title') || isHidden(element)) continue;
    const range = document.createRange();
    range.selectNodeContents(texts.currentNode);
    for (const box of range.getClientRects()) boxes.push({ text, element, box });
  }

  for (const { text, element, box } of boxes) {
    const frames = [element.closest('td, th'), element.closest('section, [role="dialog"], aside, main')];
    for (const frame of frames) {
      const outer = frame?.getBoundingClientRect();
      if (outer && (box.left < outer.left - 1 || box.right > outer.right + 1))
        problems.push(
          `"${text}" leaves its <${frame?.tagName.toLowerCase()}> by ${Math.round(box.right - outer.right)} px`,
        );
    }
    if (box.right > clientWidth + 1) problems.push(`"${text}" is cut off by the window`);
  }
  for (const element of root.querySelectorAll('button, .ant-select, [data-frame]'))
    if (!isHidden(element))
      boxes.push({ text: nameOf(element), element, box: element.getBoundingClientRect() });
  const seen = boxes.map(({ text, element, box }) => ({ text, element, box: visiblePart(element, box) }));
  seen.forEach((one, index) => {
    for (const other of seen.slice(index + 1)) {
      if (one.element.contains(other.element) || other.element.contains(one.element)) continue;
      const width = Math.min(one.box.right, other.box.right) - Math.max(one.box.left, other.box.left);
      const height = Math.min(one.box.bottom, other.box.bottom) - Math.max(one.box.top, other.box.top);
      // Boxes of text are as high as the line, so neighboring lines may touch.
      if (width > 1 && height > 4) problems.push(`"${one.text}" overlaps "${other.text}"`);
    }
  });
  for (const field of root.querySelectorAll('input:not([type="range"]), select, textarea')) {
    if (isHidden(field)) continue;
    for (let place = field.parentElement; place && place !== root; place = place.parentElement) {
      const { overflowX, display } = getComputedStyle(place);
      if (overflowX !== 'visible') break;
      if (display.startsWith('inline') || place.scrollWidth <= place.clientWidth + 1) continue;
      problems.push(`"${nameOf(field)}" is ${place.scrollWidth - place.clientWidth} px wider than its place`);
      break;
    }
  }
  return problems;

  function nameOf(control: Element) {
    const label = document.querySelector(`[for="${control.id}"]`)?.textContent;
    return control.getAttribute('aria-label') ?? label ?? control.textContent.trim().slice(0, 40);
  }

  /** The part of a text's box that the boxes around it which scroll do not hide. */
  function visiblePart(element: Element, { left, top, right, bottom }: DOMRect) {
    const part = { left, top, right, bottom };
    for (let one: Element | null = element; one && one !== document.body; one = one.parentElement) {
      const { overflowX, overflowY } = getComputedStyle(one);
      const frame = one.getBoundingClientRect();
      if (overflowX === 'auto' || overflowX === 'scroll') {
        part.left = Math.max(part.left, frame.left);
        part.right = Math.min(part.right, frame.right);
      }
      if (overflowY === 'auto' || overflowY === 'scroll') {
        part.top = Math.max(part.top, frame.top);
        part.bottom = Math.min(part.bottom, frame.bottom);
      }
    }
    return part;
  }

  /**
   * Returns whether the text is for assistive technology only, folded, off-screen, or in the header, which
   * floats over the page.
   */
  function isHidden(element: Element) {
    if (!element.checkVisibility()) return true;
    for (let one: Element | null = element; one; one = one.parentElement) {
      const { clipPath, visibility, position } = getComputedStyle(one);
      if (clipPath !== 'none' || visibility === 'hidden' || position === 'sticky') return true;
      if (position === 'fixed' && !one.contains(root) && !root.contains(one)) return true;
    }
    const { bottom } = element.getBoundingClientRect();
    return bottom <= 0;
  }
}

/** Checks that the page does not scroll sideways, and that each control of it can be seen and clicked. */
export async function expectControlsInSight(page: Page) {
  expect(await page.evaluate(hiddenControls)).toEqual([]);
}

/** Runs in the page. */
function hiddenControls(): string[] {
  const problems: string[] = [];
  const { scrollWidth, clientWidth } = document.documentElement;
  if (scrollWidth > clientWidth)
    problems.push(`the page is ${scrollWidth} px wide, the window ${clientWidth}`);
  const controls = 'button, a.btn, input:not([type=hidden]), select, summary';
  for (const control of document.querySelectorAll(`main :is(${controls})`)) {
    if (!control.checkVisibility()) continue;
    const name = control.getAttribute('aria-label') ?? control.textContent.trim().slice(0, 40);
    const [box, card] = [control, control.closest('section, main')].map((one) =>
      one?.getBoundingClientRect(),
    );
    if (box && card && (box.left < card.left - 1 || box.right > card.right + 1))
      problems.push(`"${name}" leaves its card`);
    control.scrollIntoView({ block: 'center' });
    const { left, top, width, height } = control.getBoundingClientRect();
    const above = document.elementFromPoint(left + width / 2, top + height / 2);
    if (!above || (!control.contains(above) && !above.contains(control)))
      problems.push(`"${name}" is covered by <${above?.tagName.toLowerCase()}>`);
  }
  return problems;
}

/** The fields into which a phone would zoom, and the controls that a finger does not meet within 40 px. */
export function touchProblemsOf(page: Page, part = 'body'): Promise<string[]> {
  return page.evaluate(touchProblems, part);
}

/** Runs in the page. */
function touchProblems(part: string): string[] {
  const SIZE = 40;
  const root = document.querySelector(part) ?? document.body;
  const problems: string[] = [];
  const controls =
    'a[href], button, input:not([type=hidden]), select, textarea, summary, [role=switch], [role=slider]';
  for (const control of root.querySelectorAll(controls)) {
    if (!isTarget(control)) continue;
    const labels = 'labels' in control ? [...((control.labels as NodeListOf<Element> | null) ?? [])] : [];
    const [text = ''] = [control, ...labels]
      .map((one) => one.textContent.trim().slice(0, 40))
      .filter(Boolean);
    const name = control.getAttribute('aria-label') ?? text;
    const isTyped = control.matches(
      'input:not([type=checkbox], [type=radio], [type=range]), select, textarea',
    );
    const size = Number.parseFloat(getComputedStyle(control).fontSize);
    if (isTyped && size < 16) problems.push(`the text of "${name}" has ${size} px`);
    control.scrollIntoView({ block: 'center', behavior: 'instant' });
    // Fields are as large as the frame around them, and a checkbox as its label.
    const frame = control.closest('[class*="_framed"], .ant-select, label') ?? control;
    const { left, top, width, height } = frame.getBoundingClientRect();
    const [x, y] = [left + width / 2, top + height / 2];
    const reach = SIZE / 2 - 1;
    const hits = [-reach, 0, reach].map((dy) => document.elementFromPoint(x, y + dy));
    const missed = hits.find((hit) => !meets(hit, frame, control));
    if (missed !== undefined) {
      const beside = `<${missed?.tagName.toLowerCase()} class="${missed?.className}">`;
      problems.push(`"${name}" has ${Math.round(width)} x ${Math.round(height)} px, beside ${beside}`);
    }
  }
  return problems;

  /** Returns whether a tap on the hit element acts on the control; rows of a table follow their link. */
  function meets(hit: Element | null, frame: Element, control: Element): boolean {
    if (!hit) return false;
    const row = hit.closest('tr');
    const isRow = Boolean(row?.contains(control)) && getComputedStyle(hit).cursor === 'pointer';
    return frame.contains(hit) || isRow;
  }

  /** Links within a sentence are as high as its lines. */
  function isTarget(control: Element): boolean {
    if (!control.checkVisibility({ visibilityProperty: true }) || control.matches(':disabled')) return false;
    for (let one: Element | null = control; one; one = one.parentElement)
      if (getComputedStyle(one).clipPath !== 'none') return false;
    const { bottom, width } = control.getBoundingClientRect();
    if (bottom <= 0 || width === 0) return false;
    const isInline = control.matches('a') && getComputedStyle(control).display === 'inline';
    const around = control.parentElement?.textContent.trim() ?? '';
    return !(isInline && around.length > control.textContent.trim().length);
  }
}
