import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Schema } from 'mfe-kit';
import { answer, provider } from 'mfe-kit/testing';
import { http, HttpResponse } from 'msw';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { build, PORTAL, SHELL, storeUser } from './testing/portal';

const PENDING = '/api/v1/disbursements/pending';
const html = readFileSync(join(import.meta.dirname, 'index.html'), 'utf8');

beforeEach(() => storeUser());

afterEach(() => {
  delete window.__READS__;
  delete window.__SLICES__;
});

/** Runs the page's script, which requests what the dashboard needs; returns the headers of the dashboard's first call. */
async function firstCall(portal: Partial<Schema<'LiveSlices'>['portal']>): Promise<Headers> {
  const loans = answer('get', PENDING, 200, []);
  answer('get', '/slices.json', 200, {
    portal: { ...PORTAL, ...portal },
    shell: SHELL,
    slices: { 'mfe-loans': build('mfe-loans', [], { integrity: '' }) },
  });
  const manifest = {
    reads: { '/': [PENDING] },
    exposes: [{ assets: { js: { sync: [], async: [] }, css: { async: [] } } }],
  };
  provider.use(
    http.get('http://portal.test/slices/mfe-loans/1.2.3/mf-manifest.json', () => HttpResponse.json(manifest)),
  );
  const script = [...html.matchAll(/<script>([\s\S]*?)<\/script>/g)]
    .map(([, code]) => code)
    .find((code) => code?.includes('__READS__'));
  // eslint-disable-next-line @typescript-eslint/no-implied-eval, @typescript-eslint/no-unsafe-call -- as the page runs it
  new Function(script!.replace('__FRAME__', '[]'))();
  await expect.poll(() => loans.length).toBe(1);
  return loans[0]!.headers;
}

test('the calls that the page starts are of the act that opens its first screen', async () => {
  const headers = await firstCall({ traces: true });
  expect(headers.get('traceparent')).toMatch(/^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-01$/);
  expect(window.__READS__?.traceparent).toBe(headers.get('traceparent'));
});

test.for([{}, { traces: false }])('they are of none where portal has %j', async (portal) => {
  const headers = await firstCall(portal);
  expect(headers.has('traceparent')).toBe(false);
  expect(window.__READS__).not.toHaveProperty('traceparent');
});
