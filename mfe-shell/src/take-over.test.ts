import { expect, onTestFinished, test, vi } from 'vitest';
import { takeOver } from './take-over';

const FORM = `
  <header><button>Theme</button></header>
  <main>
    <h1>Sign in</h1>
    <form>
      <input type="email" name="email">
      <input type="text" name="code">
      <input type="checkbox" name="remember">
      <button type="submit">Sign in</button>
    </form>
  </main>`;

type Page = HTMLElement & { clicks: Element[] };

/** A page with the HTML of the first screen, and a root in which the same screen, or another, is drawn. */
function page() {
  document.body.innerHTML = `<div id="prerendered">${FORM}</div><div id="root" hidden></div>`;
  onTestFinished(() => document.body.replaceChildren());
  const [html, root] = document.body.children as unknown as [Page, HTMLElement];
  html.clicks = [];
  takeOver(root);
  return {
    html,
    root,
    in: (place: Element, name: string) => place.querySelector<HTMLInputElement>(`[name=${name}]`)!,
    /** The change is noticed after the task that makes it, as it is of React. */
    draw: async (drawn = FORM) => {
      root.innerHTML = drawn;
      await Promise.resolve();
    },
  };
}

test('what was typed, the focus and the selection are kept', async () => {
  const { html, root, in: field, draw } = page();
  field(html, 'email').value = 'agent@mkopo.test';
  field(html, 'remember').click();
  field(html, 'code').value = '123456';
  field(html, 'code').focus();
  field(html, 'code').setSelectionRange(2, 4);
  const typed = vi.fn<(name: string) => void>();
  root.addEventListener('input', ({ target }) => typed((target as HTMLInputElement).name));

  await draw();
  expect(root).toBeVisible();
  expect(html).not.toBeInTheDocument();
  expect(field(root, 'email')).toHaveValue('agent@mkopo.test');
  expect(field(root, 'remember')).toBeChecked();
  expect(field(root, 'code')).toHaveFocus();
  expect(field(root, 'code')).toHaveValue('123456');
  expect([field(root, 'code').selectionStart, field(root, 'code').selectionEnd]).toEqual([2, 4]);
  expect(typed.mock.calls.flat(), 'React is told').toEqual(['email', 'code', 'remember']);
});

test('the HTML stays until the screen has its heading', async () => {
  const { html, root, draw } = page();
  await draw('<div role="status">Loading</div>');
  expect(html).toBeVisible();
  expect(root).not.toBeVisible();
  await draw();
  expect(root).toBeVisible();
});

test('a button that was clicked is clicked again', async () => {
  const { html, root, draw } = page();
  html.clicks.push(html.querySelector('[type=submit]')!);
  const submitted = vi.fn<(event: Event) => void>((event) => event.preventDefault());
  root.addEventListener('submit', submitted);
  await draw();
  expect(submitted).toHaveBeenCalledOnce();
});

test('another page gets nothing of what was typed', async () => {
  const { html, root, in: field, draw } = page();
  field(html, 'code').value = 'secret';
  await draw('<main><h1>This part of the portal could not be loaded</h1><input name="code"></main>');
  expect(root).toBeVisible();
  expect(field(root, 'code')).toHaveValue('');
});

test('a button that is being pressed is replaced when it is released', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { html, root, draw } = page();
  const isPressed = vi.spyOn(html, 'matches').mockReturnValue(true);
  await draw();
  expect(html).toBeVisible();
  isPressed.mockReturnValue(false);
  vi.advanceTimersByTime(20);
  expect(root).toBeVisible();
});
