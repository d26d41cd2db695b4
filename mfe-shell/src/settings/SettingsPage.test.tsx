import { renderPart, screen, within } from 'mfe-kit/testing';
import { cleanup } from '@testing-library/react';
import { expect, test } from 'vitest';
import SettingsPage from './SettingsPage';

const value = (label: string) => screen.getByLabelText<HTMLInputElement>(label).value;
const chosen = (label: string) =>
  screen.getByLabelText(label).closest('.ant-select')?.textContent ?? '(no select)';

test('REQ-321..330 the settings start as specified', () => {
  renderPart(<SettingsPage />);
  expect(screen.getByRole('region', { name: 'General Settings' })).toBeVisible();
  expect(screen.getByRole('region', { name: 'Disbursement Settings' })).toBeVisible();
  expect(chosen('Language')).toBe('English');
  expect(chosen('Timezone')).toBe('East Africa Time (Africa/Nairobi)');
  expect(value('Session Timeout (minutes)')).toBe('30');
  expect(value('Maximum Disbursement Amount')).toBe('100,000');
  expect(screen.getByText('KES')).toBeVisible();
  expect(value('Retry Attempts')).toBe('3');
  for (const [label, isOn] of [
    ['Email Notifications', true],
    ['SMS Notifications', false],
    ['Two-Factor Authentication', true],
    ['Require Confirmation', true],
    ['Auto-retry Failed Disbursements', true],
  ] as const)
    expect(screen.getByRole<HTMLInputElement>('switch', { name: label })).toHaveAttribute(
      'aria-checked',
      String(isOn),
    );
});

test.for([
  ['Language', ['English', 'Swahili']],
  ['Timezone', ['East Africa Time (Africa/Nairobi)', 'UTC']],
] as const)('REQ-321 REQ-322 %s offers its two choices and takes another', async ([label, options]) => {
  const { user } = renderPart(<SettingsPage />);
  await user.click(screen.getByLabelText(label));
  const list = await screen.findAllByRole('option');
  expect(list.map((option) => option.textContent)).toEqual(options);
  await user.click(screen.getByTitle(options[1]));
  expect(chosen(label)).toBe(options[1]);
});

test('REQ-327 REQ-333 the maximum amount is grouped when it is left, and anything else stays as typed', async () => {
  const { user } = renderPart(<SettingsPage />);
  const maximum = screen.getByLabelText('Maximum Disbursement Amount');
  for (const [typed, shown] of [
    ['2500000', '2,500,000'],
    ['75 000', '75,000'],
    ['-5', '-5'],
    ['many', 'many'],
    ['12.5', '12.5'],
    ['99999999999999999999', '99999999999999999999'],
  ] as const) {
    await user.clear(maximum);
    await user.type(maximum, typed);
    await user.tab();
    expect(maximum).toHaveValue(shown);
  }
  await user.clear(maximum);
  await user.tab();
  expect(maximum).toHaveValue('');
});

test('REQ-331..333 anything may be typed, Save Changes does nothing, and a fresh page has the defaults', async () => {
  const { user } = renderPart(<SettingsPage />);
  const stored = JSON.stringify(localStorage);
  await user.clear(screen.getByLabelText('Retry Attempts'));
  await user.type(screen.getByLabelText('Retry Attempts'), '-5');
  await user.clear(screen.getByLabelText('Session Timeout (minutes)'));
  await user.click(screen.getByRole('switch', { name: 'SMS Notifications' }));
  // A call would have no prepared answer and fail the test.
  await user.click(screen.getByRole('button', { name: 'Save Changes' }));
  expect(screen.getByText('Changes here are not saved yet')).toBeVisible();
  expect(value('Retry Attempts')).toBe('-5');
  expect(value('Session Timeout (minutes)')).toBe('');
  expect(screen.getByRole('switch', { name: 'SMS Notifications' })).toBeChecked();
  expect(within(document.body).queryByRole('alert')).toBeNull();
  expect(JSON.stringify(localStorage)).toBe(stored);
  cleanup();
  renderPart(<SettingsPage />);
  expect(value('Retry Attempts')).toBe('3');
});
