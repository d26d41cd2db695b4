import { renderPart, screen } from 'mfe-kit/testing';
import { expect, test } from 'vitest';
import { StatusTag } from './StatusTag';

const REASON = 'The balance is insufficient for the transaction.';

const open = () =>
  renderPart(
    <>
      <StatusTag tone="bad" reason={REASON}>
        Failed
      </StatusTag>
      <button type="button">Elsewhere</button>
    </>,
  );

const tag = () => screen.getByRole('button', { name: 'Failed' });

test('a status without a reason is an icon and a word, and cannot be focused', () => {
  renderPart(<StatusTag tone="good">Successful</StatusTag>);
  expect(screen.getByText('Successful')).toBeVisible();
  expect(document.querySelector('svg')).toHaveAttribute('aria-hidden', 'true');
  expect(screen.queryByRole('button')).not.toBeInTheDocument();
});

test('the reason is the status’s description for assistive technology', () => {
  open();
  expect(tag()).toHaveAccessibleDescription(REASON);
  expect(screen.queryByRole('tooltip')).not.toBeInTheDocument();
});

test('the reason shows on hover, stays while it is hovered itself, and goes when the pointer leaves', async () => {
  const { user } = open();
  await user.hover(tag());
  expect(screen.getByRole('tooltip')).toHaveTextContent(REASON);
  await user.hover(screen.getByText(REASON));
  expect(screen.getByRole('tooltip')).toBeVisible();
  await user.hover(screen.getByRole('button', { name: 'Elsewhere' }));
  expect(screen.queryByRole('tooltip')).not.toBeInTheDocument();
});

test('the reason shows on focus by keyboard and goes with it', async () => {
  const { user } = open();
  await user.tab();
  expect(tag()).toHaveFocus();
  expect(screen.getByRole('tooltip')).toBeVisible();
  await user.tab();
  expect(screen.queryByRole('tooltip')).not.toBeInTheDocument();
});

test('Escape hides the reason and leaves the focus where it is', async () => {
  const { user } = open();
  await user.tab();
  await user.keyboard('{Escape}');
  expect(screen.queryByRole('tooltip')).not.toBeInTheDocument();
  expect(tag()).toHaveFocus();
});

test('a reason that is hovered and focused stays until both have ended', async () => {
  const { user } = open();
  await user.tab();
  await user.hover(tag());
  await user.unhover(tag());
  expect(screen.getByRole('tooltip')).toBeVisible();
  await user.tab();
  expect(screen.queryByRole('tooltip')).not.toBeInTheDocument();
});

test('a tap shows the reason, and a tap elsewhere hides it', async () => {
  const { user } = open();
  await user.pointer({ keys: '[TouchA]', target: tag() });
  expect(screen.getByRole('tooltip')).toBeVisible();
  await user.pointer({ keys: '[TouchA]', target: screen.getByRole('button', { name: 'Elsewhere' }) });
  expect(screen.queryByRole('tooltip')).not.toBeInTheDocument();
});
