import { render } from '@testing-library/react';
import { session } from 'mfe-kit';
import { screen } from 'mfe-kit/testing';
import { createMemoryRouter, RouterProvider } from 'react-router';
import { expect, test } from 'vitest';
import { SignedIn } from './SignedIn';

test('REQ-017 until the stored user is read, there is a spinner, and nobody is redirected', async () => {
  expect(session.state.status).toBe('loading');
  const router = createMemoryRouter(
    [
      { path: '/reports', element: <SignedIn>Reports</SignedIn> },
      { path: '/login', element: 'Sign in' },
    ],
    { initialEntries: ['/reports'] },
  );
  render(<RouterProvider router={router} />);
  expect(await screen.findByRole('status', { name: 'Loading' })).toBeVisible();
  expect(router.state.location.pathname).toBe('/reports');
});
