import { act, fireEvent } from '@testing-library/react';
import { dismissNotification, notify, setPortalSettings } from 'mfe-kit';
import { renderPart, screen, within } from 'mfe-kit/testing';
import { beforeEach, expect, test, vi } from 'vitest';
import { Toasts } from './Toasts';

beforeEach(() => {
  vi.useFakeTimers();
  renderPart(
    <>
      <button type="button">On the page</button>
      <Toasts />
    </>,
  );
});

const show = (...given: Parameters<typeof notify>) => act(() => notify(...given));
const pass = (ms: number) => act(() => vi.advanceTimersByTimeAsync(ms));

const messages = () =>
  screen.getAllByRole('button', { name: 'Dismiss' }).map((button) => button.parentElement?.textContent);

/** From another script, which knows only the event's name. */
const dispatch = (detail: unknown) =>
  act(() => void window.dispatchEvent(new CustomEvent('showNotification', { detail })));

test('REQ-377 a toast without a duration stays 5000 ms', async () => {
  show({ type: 'success', message: 'Saved' });
  await pass(4999);
  expect(screen.getByText('Saved')).toBeVisible();
  await pass(1);
  expect(screen.queryByText('Saved')).toBeNull();
});

test('REQ-378 a showNotification event shows its message for its duration', async () => {
  dispatch({ type: 'warning', message: 'From elsewhere', duration: 8000 });
  await pass(7999);
  expect(screen.getByText('From elsewhere')).toBeVisible();
  await pass(1);
  expect(screen.queryByText('From elsewhere')).toBeNull();
});

test('errors are announced at once, the others politely', () => {
  show({ type: 'error', message: 'Failed' });
  for (const type of ['success', 'info', 'warning', 'loading'] as const) show({ type, message: type });
  expect(within(screen.getByRole('alert')).getByText('Failed')).toBeVisible();
  for (const type of ['success', 'info', 'warning', 'loading'])
    expect(within(screen.getByRole('status')).getByText(type)).toBeVisible();
});

test('a toast that says the same as one before takes its place', () => {
  for (let saved = 0; saved < 3; saved += 1) show({ type: 'success', message: 'Saved' });
  expect(screen.getAllByText('Saved')).toHaveLength(1);
});

test('where the screens are live, a toast takes the place of one that says something else', () => {
  setPortalSettings({ screens: 'live' });
  show({ type: 'loading', message: 'Sending', key: 'send', duration: 0 });
  for (const message of ['First failure', 'Second failure', 'Third failure'])
    show({ type: 'error', message });
  show({ type: 'success', message: 'Profile saved' });
  show({ type: 'success', message: 'Password changed' });
  // Failures and what is still going on stay, so that nobody misses them.
  expect(messages()).toEqual(['Second failure', 'Third failure', 'Sending', 'Password changed']);
  act(() => screen.getAllByRole('button', { name: 'Dismiss' }).at(-1)!.focus());
  show({ type: 'info', message: 'Two sessions ended' });
  // A toast that has the focus is being read.
  expect(messages()).toEqual([
    'Second failure',
    'Third failure',
    'Sending',
    'Password changed',
    'Two sessions ended',
  ]);
});

test('an event without a message shows nothing, and one of an unknown type is an info', () => {
  for (const detail of [undefined, null, {}, { type: 'error' }, { message: 7 }]) dispatch(detail);
  expect(screen.queryByRole('button', { name: 'Dismiss' })).toBeNull();
  dispatch({ type: 'party', message: 'Odd' });
  expect(within(screen.getByRole('status')).getByText('Odd')).toBeVisible();
});

test('a duration longer than timers can count does not end at once', async () => {
  show({ type: 'info', message: 'Long', duration: Infinity });
  await pass(60_000);
  expect(screen.getByText('Long')).toBeVisible();
});

test('REQ-379 a progress toast stays until it is dismissed by its key', async () => {
  show({ type: 'loading', message: 'Sending reset code...', key: 'reset', duration: 0 });
  show({ type: 'info', message: 'Another', duration: 0 });
  await pass(60_000);
  expect(screen.getByText('Sending reset code...')).toBeVisible();
  act(() => dismissNotification('reset'));
  expect(screen.queryByText('Sending reset code...')).toBeNull();
  expect(screen.getByText('Another')).toBeVisible();
});

test('a toast replaces the one with the same key, with its own duration', async () => {
  show({ type: 'error', message: 'Your session has expired.', key: 'session', duration: 2000 });
  await pass(1500);
  show({ type: 'info', message: 'Please log in again.', key: 'session' });
  expect(screen.queryByText('Your session has expired.')).toBeNull();
  await pass(4999);
  expect(screen.getByText('Please log in again.')).toBeVisible();
  await pass(1);
  expect(screen.queryByText('Please log in again.')).toBeNull();
});

test('the timer pauses under the pointer, and continues with the time left', async () => {
  show({ type: 'info', message: 'Read me' });
  await pass(3000);
  fireEvent.pointerOver(screen.getByText('Read me'));
  await pass(60_000);
  expect(screen.getByText('Read me')).toBeVisible();
  fireEvent.pointerOut(screen.getByText('Read me'), { relatedTarget: document.body });
  await pass(1999);
  expect(screen.getByText('Read me')).toBeVisible();
  await pass(1);
  expect(screen.queryByText('Read me')).toBeNull();
});

test('timers pause while the focus is inside, also that of a new toast', async () => {
  show({ type: 'info', message: 'First' });
  act(() => screen.getByRole('button', { name: 'Dismiss' }).focus());
  show({ type: 'info', message: 'Second' });
  await pass(60_000);
  expect(screen.getByText('First')).toBeVisible();
  expect(screen.getByText('Second')).toBeVisible();
  act(() => screen.getByRole('button', { name: 'On the page' }).focus());
  await pass(5000);
  expect(screen.queryByText('Second')).toBeNull();
});

test('dismissing by keyboard moves the focus to the next toast, and from the last one back to the page', () => {
  const onPage = screen.getByRole('button', { name: 'On the page' });
  act(() => onPage.focus());
  show({ type: 'info', message: 'First' });
  show({ type: 'info', message: 'Second' });
  const [first, second] = screen.getAllByRole('button', { name: 'Dismiss' });
  act(() => first!.focus());
  act(() => first!.click());
  expect(second).toHaveFocus();
  act(() => second!.click());
  expect(onPage).toHaveFocus();
  expect(screen.queryByText('Second')).toBeNull();
});

test.for(['info', 'error'] as const)('the focus in a toast goes to the %s that replaces it', (type) => {
  show({ type: 'loading', message: 'Sending…', key: 'code', duration: 0 });
  act(() => screen.getByRole('button', { name: 'Dismiss' }).focus());
  show({ type, message: 'Sent', key: 'code' });
  expect(screen.getByRole('button', { name: 'Dismiss' })).toHaveFocus();
});

test('the focus in a toast that is over goes back to where it came from', () => {
  const onPage = screen.getByRole('button', { name: 'On the page' });
  act(() => onPage.focus());
  show({ type: 'loading', message: 'Sending…', key: 'code', duration: 0 });
  act(() => screen.getByRole('button', { name: 'Dismiss' }).focus());
  act(() => dismissNotification('code'));
  expect(onPage).toHaveFocus();
});

test('a toast that is shown after the focus was inside has a running timer', async () => {
  show({ type: 'info', message: 'First', key: 'only' });
  act(() => screen.getByRole('button', { name: 'Dismiss' }).focus());
  act(() => dismissNotification('only'));
  show({ type: 'info', message: 'Second' });
  await pass(5000);
  expect(screen.queryByText('Second')).toBeNull();
});
