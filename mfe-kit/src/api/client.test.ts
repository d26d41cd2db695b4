import { api, dataOf, listOf, now, session } from 'mfe-kit';
import { answer, garbled, provider } from 'mfe-kit/testing';
import { http, HttpResponse } from 'msw';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

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

test.for(['', '<html>', '{}', '{"records":[]}', 'null', '"LN-1"'])('a list is not %j', async (body) => {
  garbled('get', '/api/v1/disbursements/pending', body);
  await expect(listOf(api.GET('/api/v1/disbursements/pending'))).rejects.toMatchObject({ kind: 'malformed' });
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
  const before = Date.now();
  const again = now().getTime();
  expect(again >= before && again <= Date.now()).toBe(true);
});

const SIGN_IN = { token: 'token-1', username: 'achieng', email: 'agent@mkopo.test' };

describe('a call that the page has started', () => {
  const STARTED = '/api/v1/disbursements/pending';
  const answered = { status: 200, headers: new Headers(), text: '[{"loan_id": "LN-1"}]', at: Date.now() };

  const start = (read: Promise<typeof answered>, token = 'token-1') => {
    window.__READS__ = {
      started: new Map([[STARTED, { authorization: `Bearer ${token}`, answer: read }]]),
      start: () => undefined,
    };
    return answer('get', STARTED, 200, []);
  };
  const pending = async (): Promise<unknown> => listOf(api.GET(STARTED));

  beforeEach(() => session.signIn(SIGN_IN));
  afterEach(() => delete window.__READS__);

  test('is not made again, once', async () => {
    const received = start(Promise.resolve(answered));
    await expect(pending()).resolves.toEqual([{ loan_id: 'LN-1' }]);
    expect(received).toHaveLength(0);
    await expect(pending()).resolves.toEqual([]);
    expect(received).toHaveLength(1);
  });

  test('is made again for another session, with other parameters, and after a change', async () => {
    const received = start(Promise.resolve(answered), 'token-2');
    await expect(pending()).resolves.toEqual([]);

    start(Promise.resolve(answered));
    const records = answer('get', '/api/v1/disbursement-records', 200, []);
    await listOf(api.GET('/api/v1/disbursement-records', { params: { query: { limit: 1 } } }));
    answer('post', '/api/v1/auth/request-signin-otp', 200, { message: 'sent' });
    await requestCode();
    await expect(pending()).resolves.toEqual([]);
    expect([received, records].map(({ length }) => length)).toEqual([1, 1]);
  });

  test('fails as one of its own would', async () => {
    start(Promise.reject(new TypeError('Failed to fetch')));
    await expect(pending()).rejects.toMatchObject({ kind: 'network' });
    start(Promise.reject(new DOMException('The time is over', 'TimeoutError')));
    await expect(pending()).rejects.toMatchObject({ kind: 'timeout' });
    start(Promise.resolve({ ...answered, status: 401, text: '{}' }));
    await expect(pending()).rejects.toMatchObject({ status: 401 });
    expect(session.state.status).toBe('signed-out');
  });

  test('tells the time at which it was answered', async () => {
    const minuteAgo = Date.now() - 60_000;
    start(
      Promise.resolve({
        ...answered,
        headers: new Headers({ Date: new Date(minuteAgo).toUTCString() }),
        at: minuteAgo,
      }),
    );
    await pending();
    const before = Date.now();
    const told = now().getTime();
    expect(told).toBeGreaterThanOrEqual(before - 5);
    expect(told).toBeLessThanOrEqual(Date.now() + 5);
  });
});

describe('a list', () => {
  const PENDING = 'http://portal.test/api/v1/disbursements/pending';

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

  test('has an empty row for each that says nothing, or not what it is known by', async () => {
    const reported = vi.spyOn(console, 'error').mockReturnValue();
    garbled('get', '/api/v1/disbursements/pending', '[{}, [], {"loan_id": 1}, {"purpose": "Stock"}]');
    await expect(pending()).resolves.toEqual([{}, {}, { loan_id: 1 }, { purpose: 'Stock' }]);
    const known = await listOf(api.GET('/api/v1/disbursements/pending'), ['loan_id', 'customer_id']);
    expect(known).toEqual([{}, {}, { loan_id: 1 }, {}]);
    expect(reported.mock.calls).toEqual([
      ['2 of 4 rows of a list could not be read'],
      ['3 of 4 rows of a list could not be read'],
    ]);
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
