/** The HTML of the first screen, and the buttons and links that were clicked in it. */
type Prerendered = HTMLElement & { clicks: Element[] };

type Field = HTMLInputElement | HTMLTextAreaElement;

const CONTROLS = 'header :is(a, button), main :is(a, button, input, select, textarea)';

/**
 * Shows the page that React draws in `root` instead of the HTML of the first screen (`mfe-kit/build/prerender.mjs`),
 * as soon as it has a heading, as every screen and every failure does. Both happen before the next paint: what was
 * typed, the focus and the selection are kept, and clicks are repeated.
 */
export function takeOver(root: HTMLElement): void {
  const html = document.querySelector<Prerendered>('#prerendered');
  if (!html) return;
  const drawn = new MutationObserver(() => {
    if (!root.querySelector('h1')) return;
    drawn.disconnect();
    replaceWhenReleased(html, root);
  });
  drawn.observe(root, { childList: true, subtree: true });
}

/** A click on a button that is replaced between pressing and releasing it would be lost. */
function replaceWhenReleased(html: Prerendered, root: HTMLElement) {
  if (html.matches(':active')) setTimeout(() => replaceWhenReleased(html, root), 20);
  else replace(html, root);
}

function replace(html: Prerendered, root: HTMLElement) {
  root.hidden = false;
  const before = [...html.querySelectorAll<HTMLElement>(CONTROLS)];
  const after = [...root.querySelectorAll<HTMLElement>(CONTROLS)];
  // Otherwise it is another page, such as that of a slice that could not be loaded.
  if (kindsOf(before) === kindsOf(after)) {
    after.forEach((control, index) => keepInput(before[index], control));
    keepFocus(document.activeElement, after[before.indexOf(document.activeElement as HTMLElement)]);
    for (const clicked of html.clicks) after[before.indexOf(clicked as HTMLElement)]?.click();
  }
  html.remove();
}

const kindsOf = (controls: HTMLElement[]) =>
  controls
    .map((control) => [control.tagName, ...['type', 'name', 'href'].map((key) => control.getAttribute(key))])
    .join();

/** Types in the second control what was typed in the first, so that React takes notice. */
function keepInput(before: HTMLElement | undefined, after: HTMLElement) {
  if (!isField(before) || !isField(after)) return;
  if ('checked' in before && 'checked' in after && before.checked !== after.checked) after.click();
  if (before.value === before.defaultValue || before.value === after.value) return;
  // Past the `value` that React has on the element itself, by which it notices changes.
  Reflect.set(Object.getPrototypeOf(after) as object, 'value', before.value, after);
  after.dispatchEvent(new Event('input', { bubbles: true }));
}

function keepFocus(before: Element | null, after: HTMLElement | undefined) {
  after?.focus({ preventScroll: true });
  // An email field has no selection that a script can read.
  if (isField(before) && isField(after) && before.selectionStart !== null)
    after.setSelectionRange(
      before.selectionStart,
      before.selectionEnd,
      before.selectionDirection ?? undefined,
    );
}

const isField = (control: Element | null | undefined): control is Field =>
  control instanceof HTMLInputElement || control instanceof HTMLTextAreaElement;
