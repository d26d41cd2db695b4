// What the pages do more where there is a script. Without it every page works as it comes.
(() => {
  'use strict';

  // What is live: the same page is read again, and what changed of it takes its place.

  const main = document.querySelector('main[data-every]');

  /** Whether somebody is at something in `part` that they would lose. */
  function isInUse(part) {
    const focused = document.activeElement;
    if (part.contains(focused) && focused.matches('input:not([type=hidden]), select, textarea')) return true;
    const changed = [...part.querySelectorAll('select')].some((select) =>
      [...select.options].some((option) => option.selected !== option.defaultSelected),
    );
    const selection = getSelection();
    return changed || (selection?.isCollapsed === false && part.contains(selection.anchorNode));
  }

  /** What `part` would be, but for what the visitor opened and what the script itself shows. */
  function written(part) {
    const copy = part.cloneNode(true);
    for (const open of copy.querySelectorAll('details[open]')) open.removeAttribute('open');
    for (const button of copy.querySelectorAll('[data-copy]')) prepareCopy(button);
    return copy.innerHTML;
  }

  function renew(part, fresh) {
    if (isInUse(part)) return;
    if (written(part) === written(fresh)) return;
    const focused = part.contains(document.activeElement) ? document.activeElement.id : '';
    const open = [...part.querySelectorAll('details[open]')].map((details) => details.id);
    part.replaceChildren(...document.importNode(fresh, true).childNodes);
    for (const id of open) document.getElementById(id)?.setAttribute('open', '');
    if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
    for (const button of part.querySelectorAll('[data-copy]')) prepareCopy(button);
  }

  async function look() {
    const answer = await fetch(location.href, { headers: { Accept: 'text/html' } });
    // Signed out, or the service was replaced: the page itself says which.
    if (answer.status === 401) return location.reload();
    if (!answer.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
    for (const part of document.querySelectorAll('[data-live]')) {
      const fresh = page.getElementById(part.id);
      if (fresh) renew(part, fresh);
    }
  }

  async function keepLooking(every) {
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, every));
      // A service that is away for a moment is asked again.
      if (!document.hidden) await look().catch(() => {});
    }
  }

  // Copying, where the browser allows it.

  function prepareCopy(button) {
    button.hidden = !navigator.clipboard;
  }

  async function copy(button) {
    await navigator.clipboard.writeText(button.dataset.copy);
    const word = button.querySelector('span');
    const before = word.textContent;
    word.textContent = 'Copied';
    setTimeout(() => {
      word.textContent = before;
    }, 1500);
  }

  // Asking before something is lost.

  const dialog = document.querySelector('dialog');

  function ask(form, submitter) {
    dialog.querySelector('h2').textContent = form.dataset.confirm;
    dialog.querySelector('p').textContent = form.dataset.consequence;
    dialog.querySelector('[value=yes]').textContent = submitter?.textContent ?? 'Yes';
    dialog.returnValue = '';
    dialog.showModal();
    dialog.addEventListener(
      'close',
      () => {
        if (dialog.returnValue !== 'yes') return;
        delete form.dataset.confirm;
        form.requestSubmit(submitter);
      },
      { once: true },
    );
  }

  document.addEventListener('submit', (event) => {
    if (!event.target.dataset.confirm || !dialog?.showModal) return;
    event.preventDefault();
    ask(event.target, event.submitter);
  });

  document.addEventListener('click', (event) => {
    const button = event.target.closest('[data-copy]');
    if (button) void copy(button);
  });

  // The menu closes as menus do.
  document.addEventListener('keydown', (event) => {
    const menu = document.querySelector('.menu[open]');
    if (event.key !== 'Escape' || !menu) return;
    menu.removeAttribute('open');
    menu.querySelector('summary').focus();
  });

  for (const button of document.querySelectorAll('[data-copy]')) prepareCopy(button);

  // What was done is said once, not after every reload.
  const address = new URL(location.href);
  if (address.searchParams.has('done')) {
    address.searchParams.delete('done');
    address.searchParams.delete('what');
    history.replaceState(null, '', address);
  }

  if (main) void keepLooking(Number(main.dataset.every));
})();
