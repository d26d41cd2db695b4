import { api, dataOf, listOf, now, session } from 'mfe-kit';
import { garbled, provider } from 'mfe-kit/testing';
import { http, HttpResponse } from 'msw';
import { describe, expect, test, vi } from 'vitest';

const requestCode = () =>
  api.POST('/api/v1/auth/request-signin-otp', { body: { email: 'agent@mkopo.test' } });

test('REQ-105 an answer that is not read need not be JSON', async () => {
  garbled('post', '/api/v1/auth/request-signin-otp', 'sent');
  await expect(requestCode()).resolves.toMatchObject({ data: undefined });
});

test('an answer that is read has to be JSON', async () => {
  garbled('post', '/api/v1/auth/request-signin-otp', 'sent');
  await expect(dataOf(requestCode())).rejects.toMatchObject({ kind: 'malformed' });
});

test('the time is the provider’s, as its last answer told it', async () => {
  const answered = (date: string) =>
    provider.use(
      http.post('http://portal.test/api/v1/auth/request-signin-otp', () =>
        HttpResponse.json({ message: 'sent' }, { headers: { Date: date } }),
      ),
    );
  answered('Sat, 14 Nov 2026 09:00:00 GMT');
  await requestCode();
  const told = now().getTime() - Date.parse('2026-11-14T09:00:00Z');
  expect(told).toBeGreaterThanOrEqual(0);
  expect(told).toBeLessThan(60_000);
  answered(new Date().toUTCString());
  await requestCode();
  expect(Math.abs(now().getTime() - Date.now())).toBeLessThan(5);
});

describe('a list', () => {
  const PENDING = 'http://portal.test/api/v1/disbursements/pending';
  const SIGN_IN = { token: 'token-1', username: 'achieng', email: 'agent@mkopo.test' };

  /** Serves a list as the provider does, and returns what it was asked with. */
  function serveList() {
    const asked: { etag: string | null; cache: RequestCache }[] = [];
    const list = { rows: [{ loan_id: 'LN-1' }], version: 1 };
    provider.use(
      http.get(PENDING, ({ request }) => {
        const etag = `"${list.version}"`;
        asked.push({ etag: request.headers.get('If-None-Match'), cache: request.cache });
        const headers = { ETag: etag, 'Cache-Control': 'no-store' };
        if (request.headers.get('If-None-Match') === etag)
          return new HttpResponse(null, { status: 304, headers });
        return HttpResponse.json(list.rows, { headers });
      }),
    );
    return { asked, list };
  }

  const pending = async (): Promise<unknown> => listOf(api.GET('/api/v1/disbursements/pending'));

  test('is sent again only when it has changed, and never stored in the browser’s cache', async () => {
    const { asked, list } = serveList();
    session.signIn(SIGN_IN);
    await expect(pending()).resolves.toEqual([{ loan_id: 'LN-1' }]);
    await expect(pending()).resolves.toEqual([{ loan_id: 'LN-1' }]);
    Object.assign(list, { rows: [], version: 2 });
    await expect(pending()).resolves.toEqual([]);
    await expect(pending()).resolves.toEqual([]);
    expect(asked).toEqual([null, '"1"', '"1"', '"2"'].map((etag) => ({ etag, cache: 'no-store' })));
  });

  test('has an empty row for each that is none, and reports how many', async () => {
    const reported = vi.spyOn(console, 'error').mockReturnValue();
    garbled('get', '/api/v1/disbursements/pending', '[null, {"loan_id": 1}, "LN-2", 3]');
    await expect(pending()).resolves.toEqual([{}, { loan_id: 1 }, {}, {}]);
    expect(reported).toHaveBeenCalledWith('3 of 4 rows of a list could not be read');
  });

  test('is forgotten at sign-out, also when it arrives later', async () => {
    const { asked } = serveList();
    session.signIn(SIGN_IN);
    await pending();
    session.clear();
    session.signIn(SIGN_IN);
    const late = pending();
    session.clear();
    await late.catch(() => undefined);
    session.signIn(SIGN_IN);
    await pending();
    expect(asked.map(({ etag }) => etag)).toEqual([null, null, null]);
  });

  test('is not shared with the next user of the tab', async () => {
    const { asked } = serveList();
    session.signIn(SIGN_IN);
    await pending();
    session.signIn({ ...SIGN_IN, token: 'token-2' });
    await pending();
    expect(asked.map(({ etag }) => etag)).toEqual([null, null]);
  });
});
