/** Runs in the worker of `prerender.mjs`: draws the given screens of a slice, and posts their HTML. */
import { stored, YEAR } from './prerender-browser.mjs';
import { QueryClientProvider } from '@tanstack/react-query';
import { queryClient, session, setPortalSettings } from 'mfe-kit';
import { ThemeProvider } from 'mfe-kit/ui';
import { parentPort, workerData } from 'node:worker_threads';
import { createElement } from 'react';
import { prerender } from 'react-dom/static.edge';
import { createMemoryRouter, RouterProvider } from 'react-router';
import slice from 'slice-to-prerender';

const DEPLOYMENTS = { '': { demo: false }, '-demo': { demo: true, console: '{console}' } };

session.start();

const drawn = {};
for (const path of workerData) drawn[path] = await drawnAt(path).catch((error) => ({ error: String(error) }));
parentPort.postMessage(drawn);

async function drawnAt(path) {
  const html = {};
  for (const [kind, settings] of Object.entries(DEPLOYMENTS))
    for (const theme of ['light', 'dark']) {
      setPortalSettings({ brand: '{brand}', product: '{product}', ...settings });
      stored.theme = theme;
      html[theme + kind] = await htmlAt(path);
    }
  return { html };
}

async function htmlAt(path) {
  const router = createMemoryRouter(slice.routes, { initialEntries: [path] });
  const page = createElement(
    ThemeProvider,
    null,
    createElement(QueryClientProvider, { client: queryClient }, createElement(RouterProvider, { router })),
  );
  let failure;
  const { prelude } = await prerender(page, { onError: (error) => (failure ??= error) });
  const html = await new Response(prelude).text();
  if (failure) throw failure;
  return html.replaceAll(YEAR, '{year}');
}
