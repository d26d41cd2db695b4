import { useQuery } from '@tanstack/react-query';
import { type Act, acts, api, dataOf, type Schema } from 'mfe-kit';
import { answer, failure, pendingLoan, screen, waitFor } from 'mfe-kit/testing';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { loadBuild } from '../slices/federation';
import { goLive, heading, open, slice, storeUser } from '../testing/portal';
import { textOf } from '../testing/text-of';
import { sendSpans } from './send-spans';

type Span = Schema<'PageSpan'>;

let stop: () => void;
let sent: { address: string; body: Blob }[];
/** `true` if the browser accepts data to send. */
let hasRoom: boolean;

beforeEach(() => {
  vi.spyOn(console, 'error').mockImplementation(() => undefined);
  vi.spyOn(console, 'warn').mockImplementation(() => undefined);
  sent = [];
  hasRoom = true;
  const sendBeacon = (address: string, body: Blob) => {
    if (hasRoom) sent.push({ address, body });
    return hasRoom;
  };
  vi.stubGlobal('navigator', Object.assign(navigator, { sendBeacon }));
  storeUser();
});

afterEach(() => {
  stop();
  sessionStorage.clear();
});

const bodies = async () =>
  Promise.all(sent.map(async ({ body }) => JSON.parse(await textOf(body)) as Schema<'PageSpans'>));
const spans = async () => (await bodies()).flatMap((body) => body.spans);

function hide() {
  vi.spyOn(document, 'visibilityState', 'get').mockReturnValueOnce('hidden');
  document.dispatchEvent(new Event('visibilitychange'));
}

const isSent = (count = 1) => waitFor(async () => expect(await spans()).toHaveLength(count));

function Loans() {
  const { data, isError } = useQuery({
    queryKey: ['loans'],
    queryFn: () => dataOf(api.GET('/api/v1/disbursements/pending')),
    retry: false,
  });
  return <h1>{isError ? 'Failed' : (data?.length ?? 'Loading')}</h1>;
}

describe('where the deployment records traces', () => {
  beforeEach(() => {
    goLive([slice('mfe-loans', { '/': 'Dashboard', '/loans/:id': <Loans />, '/pending-loans': 'Loans' })]);
    stop = sendSpans();
  });

  test('opening a screen is one span, in the trace of its calls and without its address', async () => {
    const loans = answer('get', '/api/v1/disbursements/pending', 200, [pendingLoan()], { afterMs: 50 });
    await open('/loans/4711?search=kamau');
    expect(await heading('1')).toBeVisible();
    await isSent();
    expect(sent.map(({ address, body }) => [address, body.type])).toEqual([['/spans', 'application/json']]);
    const [{ spans: all, ...rest }, ...others] = (await bodies()) as [Schema<'PageSpans'>];
    expect([rest, others]).toEqual([{}, []]);
    const [span] = all as [Span];
    expect(span).toEqual({
      trace_id: expect.stringMatching(/^[0-9a-f]{32}$/) as string,
      span_id: expect.stringMatching(/^[0-9a-f]{16}$/) as string,
      name: 'open a screen',
      screen: '/loans/:id',
      ago_ms: expect.any(Number) as number,
      ms: expect.any(Number) as number,
      failed: false,
    });
    expect([span.ago_ms, span.ms].every((ms) => Number.isInteger(ms) && ms >= 50)).toBe(true);
    expect(span.ago_ms).toBeGreaterThan(span.ms);
    expect(loans[0]?.headers.get('traceparent')).toBe(`00-${span.trace_id}-${span.span_id}-01`);
  });

  test('a screen whose call fails has failed', async () => {
    answer('get', '/api/v1/disbursements/pending', 503, failure('Busy', 'busy'));
    await open('/loans/4711');
    expect(await heading('Failed')).toBeVisible();
    await isSent();
    expect(await spans()).toMatchObject([{ name: 'open a screen', failed: true }]);
  });

  test('each screen that a person goes to is opened, and a list’s state opens none', async () => {
    const { router, click } = await open('/dashboard');
    expect(await heading('Dashboard')).toBeVisible();
    await click(await screen.findByRole('link', { name: 'Pending Loans' }));
    expect(await heading('Loans')).toBeVisible();
    await router.navigate('/pending-loans?page=2');
    await isSent(2);
    expect((await spans()).map((span) => span.screen)).toEqual(['/', '/pending-loans']);
  });

  test.for(['/settings', '/nowhere'])('the shell’s own screen at %s is opened', async (address) => {
    await open(address);
    await isSent();
    expect(await spans()).toMatchObject([{ screen: address === '/nowhere' ? '*' : address, failed: false }]);
  });

  test('a slice that is not loaded fails its screen, and Retry tries again', async () => {
    vi.mocked(loadBuild).mockRejectedValue(new Error('Its code could not be loaded'));
    const { click } = await open('/');
    const retry = await screen.findByRole('button', { name: 'Retry' });
    await isSent();
    vi.mocked(loadBuild).mockResolvedValue(slice('mfe-loans', { '/': 'Dashboard' }));
    await click(retry);
    expect(await heading('Dashboard')).toBeVisible();
    await isSent(2);
    const told = (await spans()).map(({ name, screen, failed }) => [name, screen, failed]);
    expect(told).toEqual([
      ['open a screen', '/', true],
      ['try again', '/', false],
    ]);
  });
});

test('where it does not, nothing is sent, and calls carry no trace', async () => {
  stop = () => undefined;
  goLive([slice('mfe-loans', { '/': <Loans /> })]);
  const loans = answer('get', '/api/v1/disbursements/pending', 200, []);
  await open('/');
  expect(await heading('0')).toBeVisible();
  hide();
  expect(sent).toEqual([]);
  expect(loans[0]?.headers.has('traceparent')).toBe(false);
});

describe('what is sent', () => {
  /** Ends an act, as the kit tells it. */
  let end: (change?: Partial<Act>) => void;

  beforeEach(() => {
    vi.useFakeTimers();
    vi.spyOn(acts, 'record').mockImplementation((receive) => {
      end = (change) =>
        receive({
          trace_id: '4bf92f3577b34da6a3ce929d0e0e4736',
          span_id: '00f067aa0ba902b7',
          name: 'sign in',
          screen: '/login',
          failed: false,
          began: performance.now(),
          ended: performance.now(),
          ...change,
        });
      return () => undefined;
    });
    stop = sendSpans();
  });

  const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);
  /** Blobs are read in real time. */
  const read = async () => {
    vi.useRealTimers();
    return spans();
  };

  test('spans wait a second for others, and their time counts back from the call', async () => {
    end({ began: performance.now() - 300.4 });
    await pass(999);
    end();
    expect(sent).toEqual([]);
    await pass(1);
    expect(sent).toHaveLength(1);
    expect((await read()).map(({ ago_ms, ms }) => [ago_ms, ms])).toEqual([
      [1300, 300],
      [1, 0],
    ]);
  });

  test('a call has twenty spans and 4 KiB at most', async () => {
    for (let n = 0; n < 45; n += 1) end();
    await pass(1000);
    for (let n = 0; n < 20; n += 1) end({ screen: `/${'x'.repeat(199)}` });
    await pass(1000);
    expect(Math.max(...sent.map(({ body }) => body.size))).toBeLessThanOrEqual(4096);
    vi.useRealTimers();
    const counts = (await bodies()).map((body) => body.spans.length);
    expect(counts.reduce((sum, count) => sum + count)).toBe(65);
    expect(Math.max(...counts)).toBeLessThanOrEqual(20);
  });

  test('a hundred spans wait, and later ones are dropped', async () => {
    for (let n = 0; n < 101; n += 1) end({ screen: `/${n}` });
    await pass(1000);
    const all = await read();
    expect(all).toHaveLength(100);
    expect(all.at(-1)).toMatchObject({ screen: '/99' });
  });

  test('a page that is hidden sends at once what waits', async () => {
    end();
    hide();
    expect(sent).toHaveLength(1);
    await pass(1000);
    expect(await read()).toHaveLength(1);
  });

  test('what the browser does not take waits for the next act', async () => {
    hasRoom = false;
    end({ screen: '/first' });
    await pass(60_000);
    hasRoom = true;
    end({ screen: '/second' });
    await pass(1000);
    expect((await read()).map((span) => [span.screen, span.ago_ms])).toEqual([
      ['/first', 61_000],
      ['/second', 1000],
    ]);
  });

  test('what is older than ten minutes is dropped', async () => {
    hasRoom = false;
    end();
    await pass(600_000);
    hasRoom = true;
    end({ screen: '/second' });
    await pass(1000);
    expect(await read()).toMatchObject([{ screen: '/second' }]);
  });
});
