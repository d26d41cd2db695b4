import { screen } from '@testing-library/react';
import { createRef } from 'react';
import { expect, test } from 'vitest';
import { renderPart } from '../testing/render';
import { Input, type InputRef } from './Input';

test.for([
  ['alone', {}],
  ['in a frame', { prefix: 'KES', suffix: <button type="button">Clear</button> }],
] as const)('a field %s is the element that its props and its ref are for', async ([, parts]) => {
  const field = createRef<InputRef>();
  const { user } = renderPart(
    <Input {...parts} ref={field} aria-label="Amount" name="amount" inputMode="numeric" autoComplete="off" />,
  );
  const amount = screen.getByRole('textbox', { name: 'Amount' });
  expect(field.current).toBe(amount);
  for (const [name, value] of [
    ['name', 'amount'],
    ['inputmode', 'numeric'],
    ['autocomplete', 'off'],
    ['type', 'text'],
  ] as const)
    expect(amount).toHaveAttribute(name, value);
  await user.type(amount, '2500');
  expect(amount).toHaveValue('2500');
});
