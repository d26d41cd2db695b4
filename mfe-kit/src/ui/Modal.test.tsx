import { renderPart, screen } from 'mfe-kit/testing';
import { expect, test } from 'vitest';
import { Modal } from './Modal';

function Dialog({ hasControls = true }: { hasControls?: boolean }) {
  return (
    <>
      <button type="button">Behind</button>
      <Modal open closable={false} footer={null} title="Confirm">
        <p tabIndex={-1} ref={(text) => text?.focus()}>
          Are you sure?
        </p>
        {hasControls ? (
          <>
            <button type="button">Cancel</button>
            <button type="button" disabled>
              Not now
            </button>
            <button type="button">Confirm</button>
          </>
        ) : null}
      </Modal>
    </>
  );
}

const focused = () => document.activeElement?.textContent;

test('Tab goes from the last control to the first, and Shift+Tab back', async () => {
  const { user } = renderPart(<Dialog />);
  await screen.findByRole('dialog', { name: 'Confirm' });
  const order: unknown[] = [];
  for (const shift of [false, false, false, true, true]) {
    await user.tab({ shift });
    order.push(focused());
  }
  expect(order).toEqual(['Cancel', 'Confirm', 'Cancel', 'Confirm', 'Cancel']);
});

test('the native Tab is prevented at the end, so that the browser cannot move the focus to its toolbar', async () => {
  renderPart(<Dialog />);
  (await screen.findByRole('button', { name: 'Confirm' })).focus();
  const tab = new KeyboardEvent('keydown', { key: 'Tab', bubbles: true, cancelable: true });
  document.activeElement?.dispatchEvent(tab);
  expect(tab.defaultPrevented).toBe(true);
  expect(focused()).toBe('Cancel');
});

test('in a dialog without controls the focus stays where it is', async () => {
  const { user } = renderPart(<Dialog hasControls={false} />);
  const text = await screen.findByText('Are you sure?');
  text.focus();
  await user.tab();
  expect(text).toHaveFocus();
});
