import { renderSlice, screen, within } from 'mfe-kit/testing';
import { beforeAll, expect, test } from 'vitest';
import slice from '../slice';

// Otherwise the first test would wait for the page's code.
beforeAll(() => import('./ReportsPage'));

async function open() {
  const drawn = renderSlice(slice, '/reports');
  await screen.findByRole('heading', { level: 1, name: 'Reports' });
  return drawn;
}

const content = () => screen.getByRole('region', { name: 'Recent Activity' }).parentElement!.parentElement!;
const figure = (title: string) => screen.getByText(title).closest('dl')!;

test('REQ-309 REQ-310 the title and the export button', async () => {
  await open();
  expect(document.title).toMatch(/^Reports/);
  expect(screen.getByRole('button', { name: 'Export Report' })).toBeEnabled();
});

test.for([
  ['REQ-311', 'Period', 'This Week', ['Today', 'This Week', 'This Month', 'This Quarter', 'This Year']],
  ['REQ-312', 'Report type', 'Disbursements', ['Disbursements', 'Transactions', 'Performance']],
] as const)('%s %s starts with %s and has its options', async ([, box, first, choices]) => {
  const { user } = await open();
  await user.click(screen.getByRole('combobox', { name: box }));
  const options = screen.getAllByRole('option');
  expect(options.map(({ textContent }) => textContent)).toEqual(choices);
  expect(screen.getByRole('option', { selected: true })).toHaveTextContent(first);
});

test.for([
  ['REQ-313', 'Total Disbursed', 'KES 2,750,000', '+12.5%'],
  ['REQ-314', 'Total Transactions', '85', '+8.2%'],
  ['REQ-315', 'Average Disbursement', 'KES 32,352', '-2.3%'],
  ['REQ-316', 'Success Rate', '98.5%', '+0.5%'],
])('%s %s is %s, with a change of %s', async ([, title, value, change]) => {
  await open();
  expect(figure(title!)).toHaveTextContent(`${title}${value}${change}`);
});

test('the page says that its figures are samples', async () => {
  await open();
  expect(screen.getByText('Sample figures')).toBeVisible();
});

test('REQ-317 REQ-318 the trends have three buttons and a placeholder', async () => {
  await open();
  const trends = within(screen.getByRole('region', { name: 'Disbursement Trends' }));
  expect(trends.getAllByRole('button').map(({ textContent }) => textContent)).toEqual([
    'Daily',
    'Weekly',
    'Monthly',
  ]);
  expect(trends.getByText('Chart visualization will be implemented here')).toBeVisible();
});

test('REQ-319 the activity table has five columns', async () => {
  await open();
  const table = within(screen.getByRole('table', { name: 'Recent Activity' }));
  expect(table.getAllByRole('columnheader').map(({ textContent }) => textContent)).toEqual([
    'Date',
    'Transaction',
    'Amount',
    'Status',
    'Agent',
  ]);
  const [, first] = table.getAllByRole('row');
  expect(
    within(first!)
      .getAllByRole('cell')
      .map(({ textContent }) => textContent),
  ).toEqual(['14 Nov 2026', 'Wanjiku KamauDisbursement', 'KES 25,000', 'Successful', 'Achieng Otieno']);
});

test('REQ-310 REQ-320 no option or button changes anything, calls the provider or shows a message', async () => {
  const { user, router } = await open();
  const before = content().textContent;
  for (const [box, choice] of [
    ['Period', 'Today'],
    ['Report type', 'Performance'],
  ] as const) {
    await user.click(screen.getByRole('combobox', { name: box }));
    await user.click(screen.getByRole('option', { name: choice }));
    expect(screen.getByText(choice, { selector: '[title]' })).toBeVisible();
  }
  for (const name of ['Export Report', 'Daily', 'Weekly', 'Monthly'])
    await user.click(screen.getByRole('button', { name }));
  expect(before).toContain('This WeekDisbursements');
  expect(content().textContent).toBe(before.replace('This WeekDisbursements', 'TodayPerformance'));
  expect(router.state.location.pathname + router.state.location.search).toBe('/reports');
  expect(screen.queryByRole('alert')).not.toBeInTheDocument();
  expect(screen.queryByRole('status')).not.toBeInTheDocument();
});
