import { render } from '@testing-library/react';
import { renderPart, screen } from 'mfe-kit/testing';
import { expect, test, vi } from 'vitest';
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

test('a clipboard that is refused is said', async () => {
  const { user } = renderPart(<CopyButton text="UKE1234567" label="Copy reference" />);
  vi.spyOn(navigator.clipboard, 'writeText').mockRejectedValue(new DOMException('', 'NotAllowedError'));
  await user.click(screen.getByRole('button', { name: 'Copy reference' }));
  expect(await screen.findByText('Could not copy')).toBeInTheDocument();
});
