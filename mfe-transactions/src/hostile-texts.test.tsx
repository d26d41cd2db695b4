import { answer, disbursementRecord, HOSTILE_TEXTS, renderSlice, screen } from 'mfe-kit/testing';
import { NO_FILTERS } from 'mfe-kit/ui-data';
import { expect, test, vi } from 'vitest';
import slice from './slice';
import { transactionFrom } from './transaction/transaction';
import { selectTransactions } from './transactions/select-transactions';

const RECORDS = HOSTILE_TEXTS.map((text, index) =>
  disbursementRecord({
    id: `PAY-${index}`,
    loan_id: text,
    status: index % 2 === 0 ? 'FAILED' : 'COMPLETED',
    error_message: text,
    mpesa_ref: text,
    customer_first_name: text,
    customer_last_name: 'Kamau',
    approver_name: text,
    user_first_name: text,
    user_last_name: 'Otieno',
  }),
);

/** A text as the portal shows it: half a character is the sign that stands for one that can't be read. */
const shown = (text: string) => text.replaceAll(/\p{Surrogate}/gu, '\ufffd');

test.for([1, 2])('hostile texts are rows of the history, each as it is (page %i)', async (page) => {
  const logged = vi.spyOn(console, 'error');
  answer('get', '/api/v1/disbursement-records', 200, RECORDS);
  renderSlice(slice, `/transactions?size=50&page=${page}`);
  const [, ...rows] = await screen.findAllByRole('row');
  expect(rows.map((row) => row.querySelector('strong')?.textContent)).toEqual(
    HOSTILE_TEXTS.slice((page - 1) * 50, page * 50).map((text) => `${shown(text)} Kamau`.trim()),
  );
  expect(document.querySelectorAll('script, img, iframe, b, [onerror], [onload]')).toHaveLength(0);
  expect(logged).not.toHaveBeenCalled();
});

test('each is found by what it is', () => {
  const transactions = RECORDS.map(transactionFrom);
  const all = { status: 'all', type: 'all', filters: NO_FILTERS } as const;
  for (const [index, text] of HOSTILE_TEXTS.entries())
    expect(selectTransactions(transactions, { ...all, search: shown(text) }), JSON.stringify(text)).toContain(
      transactions[index],
    );
});
