import { language, setPortalSettings } from 'mfe-kit';
import { answer, disbursementRecord, failure, renderSlice, screen } from 'mfe-kit/testing';
import { beforeEach, expect, test } from 'vitest';
import { sampleReport } from './reports/sample-live-report';
import slice from './slice';

beforeEach(async () => {
  setPortalSettings({ screens: 'live' });
  await language.use('sw');
});

const RECORDS = '/api/v1/disbursement-records';

test('the history is in Swahili, with pages and statuses', async () => {
  answer('get', RECORDS, 200, [disbursementRecord(), disbursementRecord({ id: 'PAY-2', status: 'FAILED' })]);
  const { user } = renderSlice(slice, '/transactions');
  expect(await screen.findByText('Miamala 2 imepatikana')).toBeVisible();
  expect(screen.getAllByRole('columnheader').map(({ textContent }) => textContent)).toEqual([
    'Jina la mteja',
    'Tarehe ya kutolewa',
    'Kiasi',
    'Hali',
    'Kumbukumbu',
    'Aliyeidhinisha',
    'Aliyetoa',
  ]);
  expect(screen.getByText('Matokeo 1 hadi 2 kati ya 2')).toBeVisible();
  expect(screen.getByRole('button', { name: 'Ukurasa 1' })).toBeVisible();
  expect(screen.getByText('Umefaulu')).toBeVisible();
  await user.click(screen.getByRole('combobox', { name: 'Hali' }));
  await user.click(screen.getByRole('option', { name: 'Umeshindikana' }));
  expect(screen.getByText('Muamala 1 umepatikana')).toBeVisible();
});

test('mobile money’s own sentence is marked as English, after advice in Swahili', async () => {
  const said = 'The balance is insufficient for the transaction.';
  answer('get', RECORDS, 200, [disbursementRecord({ status: 'FAILED', error_message: said })]);
  renderSlice(slice, '/transactions');
  const sentence = await screen.findByText(said);
  expect(sentence).toHaveAttribute('lang', 'en');
  expect(sentence.previousElementSibling).not.toHaveAttribute('lang');
});

test('a failure that only the server has words for is marked as English', async () => {
  answer('get', RECORDS, 503, failure('The ledger is closed', 'ledger_closed'));
  renderSlice(slice, '/transactions');
  expect(await screen.findByText('The ledger is closed')).toHaveAttribute('lang', 'en');
});

test('a failure is told in Swahili by its code', async () => {
  answer('get', RECORDS, 503, failure('The service is busy.', 'busy'));
  renderSlice(slice, '/transactions');
  expect(await screen.findByRole('alert')).toHaveTextContent(
    'HitilafuHuduma ina shughuli nyingi. Jaribu tena baada ya muda mfupi.',
  );
});

test('the report is in Swahili, with the names of days', async () => {
  answer('get', '/api/v1/reports', 200, sampleReport());
  renderSlice(slice, '/reports');
  expect(await screen.findByRole('heading', { level: 1, name: 'Ripoti' })).toBeVisible();
  expect(await screen.findByRole('slider', { name: 'Siku inayoonyeshwa juu' })).toHaveAttribute(
    'aria-valuetext',
    expect.stringMatching(/^Jumapili, 15 Nov: /),
  );
});
