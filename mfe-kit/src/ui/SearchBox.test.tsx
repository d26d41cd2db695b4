import { renderPart, screen } from 'mfe-kit/testing';
import { act, useEffect, useState, useTransition } from 'react';
import { expect, test } from 'vitest';
import { SearchBox } from './SearchBox';

/** As the router does it: the search in force follows the field in a transition. */
function List() {
  const [search, setSearch] = useState('');
  const [, startTransition] = useTransition();
  useEffect(() => {
    const goBack = () => setSearch('LN-2026');
    window.addEventListener('popstate', goBack);
    return () => window.removeEventListener('popstate', goBack);
  }, []);
  return (
    <>
      <SearchBox
        label="Search loans"
        placeholder="Search..."
        value={search}
        onSearch={(text) => startTransition(() => setSearch(text))}
      />
      <p>{`Searched for '${search}'`}</p>
      <button type="button" onClick={() => setSearch('')}>
        Start over
      </button>
    </>
  );
}

test('every keystroke is kept and searched for', async () => {
  const { user } = renderPart(<List />);
  await user.type(screen.getByRole('searchbox', { name: 'Search loans' }), 'wanjiku');
  expect(screen.getByRole('searchbox')).toHaveValue('wanjiku');
  expect(screen.getByText("Searched for 'wanjiku'")).toBeVisible();
});

test('typing in the middle keeps the caret there', async () => {
  const { user } = renderPart(<List />);
  const field = screen.getByRole<HTMLInputElement>('searchbox');
  await user.type(field, 'wnjiku');
  await user.type(field, 'a', { initialSelectionStart: 1, initialSelectionEnd: 1 });
  expect(field).toHaveValue('wanjiku');
  expect(field.selectionStart).toBe(2);
});

test('a search that changes outside the field shows in it', async () => {
  const { user } = renderPart(<List />);
  await user.type(screen.getByRole('searchbox'), 'wanjiku');
  await user.click(screen.getByRole('button', { name: 'Start over' }));
  expect(screen.getByRole('searchbox')).toHaveValue('');
});

test('a search that changes while the focus is in the field takes the place of what was typed', async () => {
  const { user } = renderPart(<List />);
  await user.type(screen.getByRole('searchbox'), 'zzzz');
  act(() => void window.dispatchEvent(new PopStateEvent('popstate')));
  expect(screen.getByRole('searchbox')).toHaveFocus();
  expect(screen.getByRole('searchbox')).toHaveValue('LN-2026');
});
