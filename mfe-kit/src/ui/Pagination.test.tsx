import { renderPart, screen, within } from 'mfe-kit/testing';
import { useState } from 'react';
import { expect, test } from 'vitest';
import { Pagination } from './Pagination';

function List({
  total,
  pageSize: first = 7,
  page: start = 1,
}: {
  total: number;
  pageSize?: number;
  page?: number;
}) {
  const [page, setPage] = useState(start);
  const [pageSize, setPageSize] = useState(first);
  return (
    <Pagination page={page} pageSize={pageSize} total={total} onPage={setPage} onPageSize={setPageSize} />
  );
}

const button = (name: string) => screen.getByRole('button', { name });
const current = () => screen.getByRole('button', { current: 'page' });

test('REQ-301 without items nothing is drawn', () => {
  renderPart(<List total={0} />);
  expect(screen.queryByRole('navigation')).not.toBeInTheDocument();
  expect(screen.queryByText(/Showing/)).not.toBeInTheDocument();
  expect(screen.queryByRole('combobox')).not.toBeInTheDocument();
});

test('REQ-302 REQ-303 first, previous, next and last go through the pages', async () => {
  const { user } = renderPart(<List total={60} />);
  expect(screen.getByText('Showing 1 to 7 of 60 results')).toBeVisible();
  expect(button('First page')).toBeDisabled();
  expect(button('Previous page')).toBeDisabled();

  await user.click(button('Next page'));
  expect(screen.getByText('Showing 8 to 14 of 60 results')).toBeVisible();
  expect(current()).toHaveAccessibleName('Page 2');

  await user.click(button('Last page'));
  expect(screen.getByText('Showing 57 to 60 of 60 results')).toBeVisible();
  expect(button('Next page')).toBeDisabled();
  expect(button('Last page')).toBeDisabled();

  await user.click(button('Previous page'));
  expect(current()).toHaveAccessibleName('Page 8');
  await user.click(button('First page'));
  expect(current()).toHaveAccessibleName('Page 1');
});

test('REQ-304 REQ-308 in the middle there are seven places, two of them gaps', () => {
  renderPart(<List total={60} page={5} />);
  const pages = within(screen.getByRole('navigation', { name: 'Pages' }));
  expect(
    pages.getAllByRole('button').map((each) => each.textContent || each.getAttribute('aria-label')),
  ).toEqual(['First page', 'Previous page', '1', '4', '5', '6', '9', 'Next page', 'Last page']);
  expect(pages.getAllByText('…')).toHaveLength(2);
});

test('the pages work by keyboard, and the focus stays when a button is disabled', async () => {
  const { user } = renderPart(<List total={14} />);
  button('Next page').focus();
  await user.keyboard('{Enter}');
  expect(button('Next page')).toBeDisabled();
  expect(button('Page 2')).toHaveFocus();
  await user.keyboard('{Shift>}{Tab}{Tab}{/Shift} ');
  expect(button('Page 1')).toHaveFocus();
  expect(current()).toHaveAccessibleName('Page 1');
});

test('REQ-300 the sizes are 10, 25, 50 and 100; a starting size of 7 shows until another is chosen', async () => {
  const { user } = renderPart(<List total={60} />);
  expect(screen.getByText('7 / page')).toBeVisible();
  await user.click(screen.getByRole('combobox', { name: 'Rows per page' }));
  expect(screen.getAllByRole('option').map((option) => option.textContent)).toEqual([
    '10 / page',
    '25 / page',
    '50 / page',
    '100 / page',
  ]);
  await user.click(screen.getByRole('option', { name: '25 / page' }));
  expect(screen.getByText('Showing 1 to 25 of 60 results')).toBeVisible();
  expect(screen.queryByText('7 / page')).not.toBeInTheDocument();
});

test('a page past the end counts as the last one', () => {
  renderPart(<List total={60} page={1000} />);
  expect(screen.getByText('Showing 57 to 60 of 60 results')).toBeVisible();
  expect(current()).toHaveAccessibleName('Page 9');
});

test('on a single page all steps are disabled', () => {
  renderPart(<List total={3} />);
  for (const name of ['First page', 'Previous page', 'Next page', 'Last page'])
    expect(button(name)).toBeDisabled();
});
