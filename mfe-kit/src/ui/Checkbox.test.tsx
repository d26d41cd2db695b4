import { screen } from '@testing-library/react';
import { expect, test } from 'vitest';
import { renderPart } from '../testing/render';
import { Checkbox } from './Checkbox';

const box = () => screen.getByRole('checkbox');

test('a click on the label and Space switch a checkbox', async () => {
  const { user } = renderPart(<Checkbox>Remember me</Checkbox>);
  expect(box()).toHaveAccessibleName('Remember me');
  await user.click(screen.getByText('Remember me'));
  expect(box()).toBeChecked();
  expect(box()).toHaveFocus();
  await user.keyboard(' ');
  expect(box()).not.toBeChecked();
});

test('a checkbox can be disabled', () => {
  renderPart(<Checkbox disabled>Archived</Checkbox>);
  expect(box()).toBeDisabled();
});
