import { QueryClientProvider } from '@tanstack/react-query';
import { render } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { queryClient, type Slice } from 'mfe-kit';
import { ThemeProvider } from 'mfe-kit/ui-data';
import { type ReactNode, Suspense } from 'react';
import { createMemoryRouter, type InitialEntry, type RouteObject, RouterProvider } from 'react-router';

function Around({ children }: { children: ReactNode }) {
  return (
    <ThemeProvider>
      <QueryClientProvider client={queryClient}>
        <Suspense fallback={null}>{children}</Suspense>
      </QueryClientProvider>
    </ThemeProvider>
  );
}

/**
 * Draws routes at an address as the shell would, without its layout; any other address draws an empty
 * `<main>`. Failing queries are not retried, so that tests need not wait.
 */
export function renderRoutes(routes: RouteObject[], at: InitialEntry = '/') {
  queryClient.setDefaultOptions({
    ...queryClient.getDefaultOptions(),
    queries: { ...queryClient.getDefaultOptions().queries, retry: false },
  });
  const router = createMemoryRouter([...routes, { path: '*', element: <Elsewhere /> }], {
    initialEntries: [at],
  });
  // userEvent provides the clipboard, which a screen may check for.
  const user = userEvent.setup();
  render(<RouterProvider router={router} />, { wrapper: Around });
  return { router, user };
}

/** Draws a slice's screens at an address. */
export function renderSlice({ routes }: Slice, at: InitialEntry = '/') {
  return renderRoutes(routes, at);
}

/** Draws a part by itself. */
export function renderPart(part: ReactNode) {
  return renderRoutes([{ path: '/', element: part }]);
}

function Elsewhere() {
  return <main data-testid="elsewhere" />;
}
