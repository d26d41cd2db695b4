import { api, dataOf, now } from 'mfe-kit';
import { garbled, provider } from 'mfe-kit/testing';
import { http, HttpResponse } from 'msw';
import { expect, test } from 'vitest';

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
