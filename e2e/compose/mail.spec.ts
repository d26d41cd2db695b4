import { expect, test } from '../test';
import { compose } from './stack';

test('an email is sent through the configured mail server', async ({ mkopo }) => {
  const email = 'agent@mkopo.test';
  const asked = await mkopo.portal.POST('/api/v1/auth/request-signin-otp', { body: { email } });
  expect(asked.response.status).toBe(200);
  const code = await mkopo.outbox.code({ to: email });
  await expect.poll(() => compose('logs', '--no-log-prefix', 'mail')).toContain(code);
  expect(await compose('logs', '--no-log-prefix', 'mail')).toContain(`To: ${email}`);
});
