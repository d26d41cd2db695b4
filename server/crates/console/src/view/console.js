// Progressive enhancements; the pages work without JavaScript.
(() => {
  'use strict';

  // Live parts: fetch the page again and update the parts that changed.

  const main = document.querySelector('main[data-refresh-ms]');

  /** The form that the open dialog asks about. */
  let askedAbout = null;

  /** Whether `field` has input that was not submitted. */
  function isChanged(field) {
    if (!field.matches('select')) return field.value !== field.defaultValue;
    return [...field.options].some((option) => option.selected !== option.defaultSelected);
  }

  /** Whether `part` has input that was not submitted, or that was rejected. */
  function hasInput(part) {
    const fields = [...part.querySelectorAll('input, select, textarea')];
    return fields.some((field) => isChanged(field) || field.matches('[aria-invalid]'));
  }

  /** Whether updating `part` would lose input, a text selection or the form that the dialog asks about. */
  function isInUse(part) {
    const focused = document.activeElement;
    if (part.contains(focused) && focused.matches('input:not([type=hidden]), select, textarea')) return true;
    const selection = getSelection();
    const isSelected = selection?.isCollapsed === false && part.contains(selection.anchorNode);
    return isSelected || part.contains(askedAbout) || hasInput(part);
  }

  /** What tells `node` from its siblings. Rows have no id, but their first control has one, or an address. */
  function keyOf(node) {
    if (!(node instanceof Element)) return node.nodeName;
    // The options of a select that was used ignore changes of their attributes.
    if (node.matches('select')) return node.outerHTML;
    const control = node.matches('tr, li') ? node.querySelector('[id], [href]') : null;
    const name = node.id || control?.id || control?.getAttribute('href');
    // An alert is announced when it is added, so it is not made of something else.
    return `${node.nodeName} ${node.role} ${name}`;
  }

  /**
   * Makes `old` like `fresh`. What is in both stays the same element, so it keeps the focus, its scroll position and
   * whether it is open.
   */
  function update(old, fresh) {
    if (old.isEqualNode(fresh)) return;
    if (!(old instanceof Element)) {
      old.nodeValue = fresh.nodeValue;
      return;
    }
    for (const name of old.getAttributeNames())
      if (!fresh.hasAttribute(name) && name !== 'open') old.removeAttribute(name);
    for (const name of fresh.getAttributeNames()) old.setAttribute(name, fresh.getAttribute(name));

    const rest = [...old.childNodes];
    const children = [...fresh.childNodes].map((child) => {
      const key = keyOf(child);
      const index = rest.findIndex((node) => keyOf(node) === key);
      if (index === -1) return child;
      const [kept] = rest.splice(index, 1);
      update(kept, child);
      return kept;
    });
    for (const node of rest) node.remove();
    // An element that is moved loses the focus, so those that are in their place stay there.
    children.forEach((child, index) => {
      const current = old.childNodes[index] ?? null;
      if (child !== current) old.insertBefore(child, current);
    });
  }

  /** Why the page is no longer refreshed, by the status of the answer. */
  const REASONS = {
    401: 'You are signed out. Sign in again in another tab to go on here with what you have typed.',
    404: 'This sandbox is gone: it has expired or was removed. This page shows an earlier state of it.',
  };

  function warn(text) {
    const note = document.getElementById('outdated') ?? document.createElement('p');
    if (note.textContent === text) return;
    Object.assign(note, { id: 'outdated', className: 'note bad', role: 'alert', textContent: text });
    main.querySelector('.head').after(note);
  }

  async function refresh() {
    const response = await fetch(location.href, { headers: { Accept: 'text/html' } });
    // The session ended or the token changed: show the sign-in page, unless input would be lost.
    if (response.status === 401 && !hasInput(main)) return location.reload();
    if (response.status in REASONS) return warn(REASONS[response.status]);
    if (!response.ok) return;
    const page = new DOMParser().parseFromString(await response.text(), 'text/html');
    for (const button of page.querySelectorAll('[data-copy]')) prepareCopy(button);
    for (const part of document.querySelectorAll('[data-live]')) {
      const fresh = page.getElementById(part.id);
      if (fresh && !isInUse(part)) update(part, fresh);
    }
    // It is another one if somebody signed in again in another tab.
    const { value } = page.querySelector('[name=csrf]');
    for (const field of document.querySelectorAll('[name=csrf]')) field.value = value;
    document.getElementById('outdated')?.remove();
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

  // The label of a button is not announced when it changes.
  const announced = document.createElement('p');
  Object.assign(announced, { className: 'visually-hidden', role: 'status' });
  document.body.append(announced);

  async function copy(button) {
    const label = button.querySelector('span');
    const show = (text, status) => {
      label.textContent = text;
      announced.textContent = status;
    };
    const result = await navigator.clipboard.writeText(button.dataset.copy).then(
      () => 'Copied',
      () => 'Could not copy',
    );
    show(result, result);
    setTimeout(() => show('Copy', ''), 1500);
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
    const { question, consequence, yes } = form.elements;
    dialog.querySelector('h2').textContent = question.value;
    dialog.querySelector('p').textContent = consequence.value;
    dialog.querySelector('[value=yes]').textContent = yes.value;
    dialog.returnValue = '';
    askedAbout = form;
    dialog.showModal();
    dialog.addEventListener(
      'close',
      () => {
        askedAbout = null;
        if (dialog.returnValue !== 'yes') return;
        // Without it, the server asks on a page.
        form.append(confirmedField());
        form.requestSubmit(submitter);
      },
      { once: true },
    );
  }

  document.addEventListener('submit', (event) => {
    const { question, confirmed } = event.target.elements;
    if (!question || confirmed || !dialog?.showModal) return;
    event.preventDefault();
    askToConfirm(event.target, event.submitter);
  });

  document.addEventListener('click', (event) => {
    const button = event.target.closest('[data-copy]');
    if (button) void copy(button);
  });

  // Escape closes a menu, and so does pointing at or focusing something else, which it may cover.
  function closeMenus({ type, key, target }) {
    for (const menu of document.querySelectorAll(':is(.menu, .switch)[open]')) {
      const isEscape = key === 'Escape';
      if (type === 'keydown' ? !isEscape : menu.contains(target)) continue;
      menu.removeAttribute('open');
      if (isEscape) menu.querySelector('summary').focus();
    }
  }
  for (const type of ['keydown', 'pointerdown', 'focusin']) document.addEventListener(type, closeMenus);

  for (const button of document.querySelectorAll('[data-copy]')) prepareCopy(button);

  // Show the success message once, not after every reload.
  const address = new URL(location.href);
  if (address.searchParams.has('done')) {
    address.searchParams.delete('done');
    address.searchParams.delete('what');
    history.replaceState(null, '', address);
  }

  // A sign-in link: the token leaves the address, then the form is submitted, unless a page elsewhere linked to it.
  const redeem = document.querySelector('form[data-redeem]');
  if (redeem) {
    history.replaceState(null, '', location.pathname);
    if ('submit' in redeem.dataset) redeem.submit();
  }

  if (main) void keepRefreshing(Number(main.dataset.refreshMs));
})();
