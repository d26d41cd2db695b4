import { language, session, setPortalSettings } from 'mfe-kit';
import {
  answer,
  disbursementRecord,
  pendingLoan,
  preferences,
  renderSlice,
  screen,
  waitFor,
  within,
} from 'mfe-kit/testing';
import { beforeEach, expect, test } from 'vitest';
import { loanFrom } from './loan/loan';
import slice from './slice';

const RECORDS = '/api/v1/disbursement-records';
const PENDING = '/api/v1/disbursements/pending';

beforeEach(async () => {
  setPortalSettings({ screens: 'live' });
  session.signIn({ token: 'token-1', username: 'Achieng', email: 'agent@mkopo.test' });
  answer('get', PENDING, 200, [pendingLoan({ term: 6, total_loan_amount: 24_500 })]);
  answer('get', RECORDS, 200, [disbursementRecord()]);
  await language.use('sw');
});

const heading = (name: string) => screen.findByRole('heading', { level: 1, name });

test('the dashboard is in Swahili, with dates and amounts of Kenya', async () => {
  renderSlice(slice, '/');
  expect(await heading('Dashibodi')).toBeVisible();
  expect((await screen.findByText('Jumla iliyotolewa')).nextElementSibling).toHaveTextContent('KES 25,000');
  expect(screen.getByText(/^(Jumatatu|Jumanne|Jumatano|Alhamisi|Ijumaa|Jumamosi|Jumapili), /)).toBeVisible();
  expect(screen.getByText('Mkopo umetolewa')).toBeVisible();
  expect(screen.getAllByText(/ (zilizopita|iliyopita|uliopita)$/).length).toBeGreaterThan(0);
});

test('mobile money’s own sentence is marked as English, below advice in Swahili', async () => {
  const said = 'The balance is insufficient for the transaction.';
  answer('get', RECORDS, 200, [disbursementRecord({ status: 'FAILED', error_message: said })]);
  renderSlice(slice, '/');
  const sentence = await screen.findByText(said);
  expect(sentence).toHaveAttribute('lang', 'en');
  expect(sentence.previousElementSibling).not.toHaveAttribute('lang');
});

test('the pending loans and their filters are in Swahili', async () => {
  const { user } = renderSlice(slice, '/pending-loans');
  expect(await heading('Mikopo inayosubiri kutolewa')).toBeVisible();
  expect(await screen.findByText('Mkopo 1 unasubiri kutolewa')).toBeVisible();
  expect(screen.getByText('miezi 6 · 12%', { exact: false })).toBeVisible();
  expect(screen.getByText('Matokeo 1 kati ya 1')).toBeVisible();
  await user.click(screen.getByRole('button', { name: 'Chuja' }));
  const panel = screen.getByRole('group', { name: 'Chuja' });
  await user.type(await within(panel).findByLabelText('Kiasi kuanzia'), '24501');
  expect(screen.getByText('Hakuna mikopo inayolingana')).toBeVisible();
  expect(screen.getByRole('button', { name: 'Chuja 1 vimewekwa' })).toBeVisible();
  expect(screen.getByRole('button', { name: 'Ondoa vichujio' })).toBeVisible();
});

test('a loan and the dialog of its payout are in Swahili, with the maximum', async () => {
  answer('get', RECORDS, 200, []);
  const { rules } = preferences();
  answer('get', '/api/v1/preferences', 200, preferences({ rules: { ...rules, maximum_amount: 20_000 } }));
  const { user } = renderSlice(slice, { pathname: '/loans/LN-1', state: { loan: loanFrom(pendingLoan()) } });
  expect(await heading('Maelezo ya mkopo')).toBeVisible();
  expect(screen.getByText('Umeidhinishwa, unasubiri kutolewa')).toBeVisible();
  await user.click(screen.getByRole('button', { name: 'Toa mkopo' }));
  const dialog = await screen.findByRole('dialog', { name: 'Thibitisha utoaji wa mkopo' });
  expect(dialog).toHaveTextContent(
    'Unakaribia kutoa KES 25,000 kwa Wanjiku Kamau kupitia huduma ya pesa kwa simu.',
  );
  const maximum = await within(dialog).findByText(/Malipo hayawezi kuzidi KES 20,000\./);
  // The dialog fades in.
  await waitFor(() => expect(maximum).toBeVisible());
  expect(within(dialog).getByRole('button', { name: 'Thibitisha utoaji' })).toBeDisabled();
});
