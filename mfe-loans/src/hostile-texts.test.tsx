import { answer, HOSTILE_TEXTS, pendingLoan, renderSlice, screen, within } from 'mfe-kit/testing';
import { NO_FILTERS } from 'mfe-kit/ui-data';
import { beforeEach, expect, test, vi } from 'vitest';
import { loanFrom } from './loan/loan';
import { selectLoans, SORTS } from './pending-loans/select-loans';
import slice from './slice';

const LOANS = HOSTILE_TEXTS.map((text, index) =>
  pendingLoan({
    loan_id: `LN-${index} ${text}`,
    customer_first_name: text,
    customer_last_name: 'Kamau',
    approver_name: text,
    loan_status: 'APPROVED',
  }),
);

/** A text as the portal shows it: half a character is the sign that stands for one that can't be read. */
const shown = (text: string) => text.replaceAll(/\p{Surrogate}/gu, '\ufffd');

/** The elements that a hostile text would make if it were drawn as markup. */
const markup = () =>
  document.querySelectorAll('script, img, iframe, b, [onerror], [onload], [href^="javascript:"]');

const everything = { search: '', band: 'all', sort: null, filters: NO_FILTERS } as const;

let logged: ReturnType<typeof vi.spyOn>;
beforeEach(() => {
  logged = vi.spyOn(console, 'error');
});

// A longer list is not drawn as a whole.
test.for([0, 40])('hostile names are rows of the list, each as it is (from %i)', async (from) => {
  answer('get', '/api/v1/disbursements/pending', 200, LOANS.slice(from, from + 40));
  renderSlice(slice, '/pending-loans');
  const [, ...rows] = await screen.findAllByRole('row');
  expect(rows.map((row) => row.querySelector('strong')?.textContent)).toEqual(
    HOSTILE_TEXTS.slice(from, from + 40).map((text) => `${shown(text)} Kamau`.trim()),
  );
  for (const row of rows) expect(within(row).getByRole('link').getAttribute('href')).toMatch(/^\/loans\/LN-/);
  expect(markup()).toHaveLength(0);
  expect(logged).not.toHaveBeenCalled();
});

test('each is found by what it is, alone and typed', () => {
  const loans = LOANS.map(loanFrom);
  for (const [index, text] of HOSTILE_TEXTS.entries())
    expect(selectLoans(loans, { ...everything, search: shown(text) }), JSON.stringify(text)).toContain(
      loans[index],
    );
  for (const key of Object.keys(SORTS))
    expect(selectLoans(loans, { ...everything, sort: { key, direction: 'ascending' } })).toHaveLength(
      loans.length,
    );
});

test.for(['<script>alert(1)</script>', 'فاطمة'])(
  '%s is found as somebody pastes it into the search',
  async (text) => {
    answer('get', '/api/v1/disbursements/pending', 200, LOANS);
    const { user } = renderSlice(slice, '/pending-loans');
    await user.click(await screen.findByRole('searchbox'));
    await user.paste(text);
    const [, row] = await screen.findAllByRole('row');
    expect(row).toHaveTextContent(text);
    expect(screen.getAllByRole('row').length).toBeLessThan(10);
  },
);

test.for(['__proto__', 'constructor', 'toString'])(
  'an address that sorts by %s sorts by nothing',
  async (key) => {
    answer('get', '/api/v1/disbursements/pending', 200, LOANS.slice(0, 2));
    renderSlice(slice, `/pending-loans?sort=${key}:ascending`);
    expect(await screen.findAllByRole('row')).toHaveLength(3);
  },
);

const FIELDS = 9;
const starts = Array.from({ length: Math.ceil(HOSTILE_TEXTS.length / FIELDS) }, (_, index) => index * FIELDS);

test.for(starts)('loan details show hostile texts in every field (from %i)', async (from) => {
  const texts = Array.from(
    { length: FIELDS },
    (_, at) => HOSTILE_TEXTS[(from + at) % HOSTILE_TEXTS.length] ?? '',
  );
  const [id, first, status = '', purpose = '', phone, nationalId, approver, reference, disburser] = texts;
  const loan = loanFrom(
    Object.assign(pendingLoan(), {
      loan_id: id,
      customer_first_name: first,
      loan_status: status,
      purpose,
      customer_phone_number: phone,
      customer_id_number: nationalId,
      approver_name: approver,
      mpesa_ref: reference,
      disbursed_by: disburser,
      disbursed_at: '2026-11-14T09:30:02.000Z',
    }),
  );
  renderSlice(slice, { pathname: `/loans/${encodeURIComponent(loan.id)}`, state: { loan } });
  await screen.findByRole('heading', { level: 1, name: 'Loan Details' });
  for (const text of [purpose, status.toLowerCase()])
    expect(document.body).toHaveTextContent(shown(text).replaceAll(/\s+/g, ' ').trim());
  expect(markup()).toHaveLength(0);
  expect(logged).not.toHaveBeenCalled();
});
