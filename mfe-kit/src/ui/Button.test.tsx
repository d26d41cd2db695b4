import { screen } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import { renderPart } from '../testing/render';
import { Button } from './Button';

const button = () => screen.getByRole('button');

test('a button sends a form only if it says so', async () => {
  const onSubmit = vi.fn((event: { preventDefault: () => void }) => event.preventDefault());
  const { user } = renderPart(
    <form onSubmit={onSubmit}>
      <Button>Cancel</Button>
      <Button htmlType="submit">Save</Button>
    </form>,
  );
  await user.click(screen.getByRole('button', { name: 'Cancel' }));
  expect(onSubmit).not.toHaveBeenCalled();
  await user.click(screen.getByRole('button', { name: 'Save' }));
  expect(onSubmit).toHaveBeenCalledOnce();
});

test('a busy button keeps the focus and says that it is busy, and clicks do nothing', async () => {
  const [onClick, onSubmit] = [vi.fn(), vi.fn()];
  const { user } = renderPart(
    <form onSubmit={onSubmit}>
      <Button htmlType="submit" loading onClick={onClick}>
        Saving
      </Button>
    </form>,
  );
  await user.tab();
  expect(button()).toHaveFocus();
  expect(button()).toHaveAttribute('aria-busy', 'true');
  await user.click(button());
  await user.keyboard('{Enter}');
  expect(onClick).not.toHaveBeenCalled();
  expect(onSubmit).not.toHaveBeenCalled();
});

test('Enter that is held down presses a button once', async () => {
  const onClick = vi.fn();
  const { user } = renderPart(<Button onClick={onClick}>Pay</Button>);
  await user.tab();
  await user.keyboard('{Enter>5/}');
  expect(onClick).toHaveBeenCalledOnce();
  await user.keyboard('{Enter}');
  expect(onClick).toHaveBeenCalledTimes(2);
});

test('an icon is no part of the name', () => {
  renderPart(<Button icon={<svg aria-hidden="true" />}>Download</Button>);
  expect(button()).toHaveAccessibleName('Download');
});
