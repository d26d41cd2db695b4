import Select from 'antd/es/select';
import { useEffect, useRef } from 'react';
import { Button } from './Button';
import { Icon, type IconName } from './Icon';
import { pageButtons } from './page-buttons';
import { listTexts } from './list-texts';
import classes from './Pagination.module.css';

const PAGE_SIZES = [10, 25, 50, 100];

interface PaginationProps {
  /** Counted from 1. */
  page: number;
  /** Shown even if it can't be chosen. */
  pageSize: number;
  /** Rows on all pages; with none, nothing is drawn (REQ-301). */
  total: number;
  onPage: (page: number) => void;
  onPageSize: (pageSize: number) => void;
}

/** The page navigation of a list (REQ-299 to REQ-308). A page past the end counts as the last one. */
export function Pagination({ page: asked, pageSize, total, onPage, onPageSize }: PaginationProps) {
  const last = Math.ceil(total / pageSize);
  const page = Math.max(1, Math.min(asked, last));
  const texts = listTexts();
  const { nav, holdFocus } = useFocusOnPage(page);
  if (total === 0) return null;
  const from = (page - 1) * pageSize + 1;
  const to = Math.min(page * pageSize, total);

  const step = (icon: IconName, label: string, to: number) => (
    <Button
      size="small"
      className={classes.page}
      aria-label={label}
      title={label}
      disabled={to < 1 || to > last || to === page}
      onClick={() => {
        holdFocus();
        onPage(to);
      }}
    >
      <Icon name={icon} size={15} />
    </Button>
  );

  return (
    <div className={classes.under}>
      <span role="status">{texts.shown(from, to, total)}</span>
      <Select
        aria-label={texts.rowsPerPage}
        virtual={false}
        popupMatchSelectWidth={false}
        value={pageSize}
        onChange={onPageSize}
        options={PAGE_SIZES.map((size) => ({ value: size, label: texts.perPage(size) }))}
        // The current size is shown even if it can't be chosen: a list starts at 7, and the choices at 10.
        labelRender={({ value }) => texts.perPage(Number(value))}
      />
      <nav ref={nav} className={classes.pages} aria-label={texts.pages}>
        {step('first', texts.firstPage, 1)}
        {step('previous', texts.previousPage, page - 1)}
        {pageButtons(page, last).map((button) =>
          typeof button === 'number' ? (
            <Button
              key={button}
              size="small"
              className={classes.page}
              aria-label={texts.page(button)}
              aria-current={button === page ? 'page' : undefined}
              onClick={() => onPage(button)}
            >
              {button}
            </Button>
          ) : (
            <span key={button} className={classes.gap} aria-hidden="true">
              …
            </span>
          ),
        )}
        {step('next', texts.nextPage, page + 1)}
        {step('last', texts.lastPage, last)}
      </nav>
    </div>
  );
}

/**
 * A button that goes to the first or last page is disabled there, and a disabled button loses the
 * focus; the focus moves to the current page's button.
 */
function useFocusOnPage(page: number) {
  const nav = useRef<HTMLElement>(null);
  const isStepping = useRef(false);

  useEffect(() => {
    if (!isStepping.current) return;
    isStepping.current = false;
    const { activeElement } = document;
    if (activeElement === document.body || activeElement?.matches(':disabled'))
      nav.current?.querySelector<HTMLElement>('[aria-current="page"]')?.focus({ preventScroll: true });
  }, [page]);

  return { nav, holdFocus: () => (isStepping.current = true) };
}
