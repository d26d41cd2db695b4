// Progressive enhancements; the pages work without JavaScript.
(() => {
  'use strict';

  // Live parts: fetch the page again and replace the parts that changed.

  const main = document.querySelector('main[data-refresh-ms]');

  /** Whether replacing `part` would lose input or a text selection. */
  function isInUse(part) {
    const focused = document.activeElement;
    if (part.contains(focused) && focused.matches('input:not([type=hidden]), select, textarea')) return true;
    const changed = [...part.querySelectorAll('select')].some((select) =>
      [...select.options].some((option) => option.selected !== option.defaultSelected),
    );
    const selection = getSelection();
    return changed || (selection?.isCollapsed === false && part.contains(selection.anchorNode));
  }

  /** The HTML of `part`, ignoring opened details and the state of copy buttons. */
  function comparableHtml(part) {
    const copy = part.cloneNode(true);
    for (const open of copy.querySelectorAll('details[open]')) open.removeAttribute('open');
    for (const button of copy.querySelectorAll('[data-copy]')) prepareCopy(button);
    return copy.innerHTML;
  }

  function replace(part, fresh) {
    if (isInUse(part)) return;
    if (comparableHtml(part) === comparableHtml(fresh)) return;
    const focused = part.contains(document.activeElement) ? document.activeElement.id : '';
    const open = [...part.querySelectorAll('details[open]')].map((details) => details.id);
    part.replaceChildren(...document.importNode(fresh, true).childNodes);
    for (const id of open) document.getElementById(id)?.setAttribute('open', '');
    if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
    for (const button of part.querySelectorAll('[data-copy]')) prepareCopy(button);
  }

  async function refresh() {
    const response = await fetch(location.href, { headers: { Accept: 'text/html' } });
    // The session ended or the token changed: show the sign-in page.
    if (response.status === 401) return location.reload();
    if (!response.ok) return;
    const page = new DOMParser().parseFromString(await response.text(), 'text/html');
    for (const part of document.querySelectorAll('[data-live]')) {
      const fresh = page.getElementById(part.id);
      if (fresh) replace(part, fresh);
    }
  }

  async function keepRefreshing(interval) {
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, interval));
      // Ignore failures: the server may be restarting.
      if (!document.hidden) await refresh().catch(() => {});
    }
  }

  // Copy buttons, if the browser has a clipboard API.

  function prepareCopy(button) {
    button.hidden = !navigator.clipboard;
  }

  async function copy(button) {
    await navigator.clipboard.writeText(button.dataset.copy);
    const label = button.querySelector('span');
    const text = label.textContent;
    label.textContent = 'Copied';
    setTimeout(() => {
      label.textContent = text;
    }, 1500);
  }

  // Confirmation dialogs.

  const dialog = document.querySelector('dialog');

  function confirmedField() {
    const field = document.createElement('input');
    field.type = 'hidden';
    field.name = 'confirmed';
    field.value = 'yes';
    return field;
  }

  function askToConfirm(form, submitter) {
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
        // Without it, the server asks on a page.
        form.append(confirmedField());
        form.requestSubmit(submitter);
      },
      { once: true },
    );
  }

  document.addEventListener('submit', (event) => {
    if (!event.target.dataset.confirm || !dialog?.showModal) return;
    event.preventDefault();
    askToConfirm(event.target, event.submitter);
  });

  document.addEventListener('click', (event) => {
    const button = event.target.closest('[data-copy]');
    if (button) void copy(button);
  });

  // Escape closes the menu.
  document.addEventListener('keydown', (event) => {
    const menu = document.querySelector('.menu[open]');
    if (event.key !== 'Escape' || !menu) return;
    menu.removeAttribute('open');
    menu.querySelector('summary').focus();
  });

  for (const button of document.querySelectorAll('[data-copy]')) prepareCopy(button);

  // Show the success message once, not after every reload.
  const address = new URL(location.href);
  if (address.searchParams.has('done')) {
    address.searchParams.delete('done');
    address.searchParams.delete('what');
    history.replaceState(null, '', address);
  }

  // A sign-in link: the token leaves the address, then the form is submitted.
  const redeem = document.querySelector('form[data-submit]');
  if (redeem) {
    history.replaceState(null, '', location.pathname);
    redeem.submit();
  }

  if (main) void keepRefreshing(Number(main.dataset.refreshMs));
})();
