import { expect, test } from '../portal';
import { address, compose } from './stack';

test('an email is sent through the configured mail server', async ({ outbox }) => {
  const email = 'agent@mkopo.test';
  const asked = await fetch(`${address}/api/v1/auth/request-signin-otp`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ email }),
  });
  expect(asked.status).toBe(200);
  const code = await outbox.code(email);
  await expect.poll(() => compose('logs', '--no-log-prefix', 'mail')).toContain(code);
  expect(await compose('logs', '--no-log-prefix', 'mail')).toContain(`To: ${email}`);
});
