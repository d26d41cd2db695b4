import { render } from '@testing-library/react';
import { renderRoutes, screen, waitFor } from 'mfe-kit/testing';
import { act } from 'react';
import { createBrowserRouter, renderMatches, RouterProvider } from 'react-router';
import { expect, onTestFinished, test, vi } from 'vitest';
import { useAddressState } from './useAddressState';

const read = (address: URLSearchParams) => ({ search: address.get('search') ?? '' });
const write = (address: URLSearchParams, { search }: { search: string }) => address.set('search', search);

/** A list whose search grows by a letter with each click. */
function List() {
  const [{ search }, change] = useAddressState(read, write);
  return (
    <button type="button" onClick={() => change((asked) => ({ search: `${asked.search}a` }))}>
      {`Searched for '${search}'`}
    </button>
  );
}

const routes = [
  { path: '/', element: <List /> },
  { path: '/elsewhere', element: <main /> },
];
const click = () => act(() => screen.getByRole('button').click());

/** The list as the shell draws a slice's screens. */
const inShell = [
  {
    path: '*',
    element: renderMatches([{ params: {}, pathname: '/', pathnameBase: '/', route: routes[0]! }]),
  },
];

/** Draws the list in a browser that refuses changes of its address, until `allow()`. */
function openRefused() {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'], shouldAdvanceTime: true });
  const router = createBrowserRouter(inShell);
  onTestFinished(() => {
    router.dispose();
    window.history.replaceState(null, '', '/');
  });
  render(<RouterProvider router={router} />);
  const refused = vi.spyOn(window.history, 'replaceState').mockImplementation(() => {
    throw new DOMException('More than 100 times per 10 seconds', 'SecurityError');
  });
  return { router, allow: () => refused.mockRestore(), refused };
}

test('changes that the browser refuses are made as soon as it allows them', async () => {
  const { allow } = openRefused();
  click();
  click();
  await act(() => vi.advanceTimersByTimeAsync(1500));
  expect(window.location.search).toBe('');
  allow();
  await act(() => vi.advanceTimersByTimeAsync(1000));
  expect(window.location.search).toBe('?search=aa');
  expect(screen.getByText("Searched for 'aa'")).toBeVisible();
});

test('a change that the browser refuses is not made on the next screen', async () => {
  const { router, allow } = openRefused();
  click();
  await act(() => router.navigate('/elsewhere'));
  allow();
  await act(() => vi.advanceTimersByTimeAsync(2000));
  expect(window.location.pathname + window.location.search).toBe('/elsewhere');
});

test('after Back, a change is to the state of that address', async () => {
  const { router } = renderRoutes(routes, '/?search=back&tab=1');
  await act(() => router.navigate('/?search=b'));
  click();
  await waitFor(() => expect(router.state.location.search).toBe('?search=ba'));
  await act(() => router.navigate(-1));
  click();
  await waitFor(() => expect(router.state.location.search).toBe('?search=backa&tab=1'));
});
