import { render } from '@testing-library/react';
import { renderPart, screen } from 'mfe-kit/testing';
import { expect, test } from 'vitest';
import { CopyButton } from './CopyButton';

test('without a clipboard there is no button', () => {
  expect('clipboard' in navigator).toBe(false);
  render(<CopyButton text="UKE1234567" label="Copy reference" />);
  expect(screen.queryByRole('button')).toBeNull();
});

test('the text is copied, and the button says so', async () => {
  const { user } = renderPart(<CopyButton text="UKE1234567" label="Copy reference" />);
  await user.click(screen.getByRole('button', { name: 'Copy reference' }));
  expect(await screen.findByText('Copied')).toBeInTheDocument();
  expect(await navigator.clipboard.readText()).toBe('UKE1234567');
});
