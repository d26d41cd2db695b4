import Button from 'antd/es/button';
import Select from 'antd/es/select';
import { Icon, type IconName } from './Icon';
import { pageButtons } from './page-buttons';
import classes from './Pagination.module.css';

const PAGE_SIZES = [10, 25, 50, 100];

interface PaginationProps {
  /** Counted from 1. */
  page: number;
  pageSize: number;
  /** Rows on all pages together; with none, nothing is drawn (REQ-301). */
  total: number;
  pageSizes?: readonly number[];
  onPage: (page: number) => void;
  onPageSize: (pageSize: number) => void;
}

/** The way through the pages of a list (REQ-299 to REQ-308). */
export function Pagination({
  page,
  pageSize,
  total,
  pageSizes = PAGE_SIZES,
  onPage,
  onPageSize,
}: PaginationProps) {
  if (total === 0) return null;
  const last = Math.ceil(total / pageSize);
  const from = (page - 1) * pageSize + 1;
  const to = Math.min(page * pageSize, total);

  return (
    <div className={classes.under}>
      <span>{`Showing ${from} to ${to} of ${total} results`}</span>
      <Select
        aria-label="Rows per page"
        virtual={false}
        value={pageSize}
        onChange={onPageSize}
        options={sizesWith(pageSize, pageSizes).map((size) => ({
          value: size,
          label: `${size} / page`,
          disabled: !pageSizes.includes(size),
        }))}
      />
      <nav className={classes.pages} aria-label="Pages">
        <Step icon="first" label="First page" isDisabled={page === 1} onClick={() => onPage(1)} />
        <Step
          icon="previous"
          label="Previous page"
          isDisabled={page === 1}
          onClick={() => onPage(page - 1)}
        />
        {pageButtons(page, last).map((button) =>
          typeof button === 'number' ? (
            <Button
              key={button}
              size="small"
              className={classes.page}
              aria-label={`Page ${button}`}
              aria-current={button === page ? 'page' : undefined}
              onClick={() => onPage(button)}
            >
              {button}
            </Button>
          ) : (
            <span key={button} aria-hidden="true">
              …
            </span>
          ),
        )}
        <Step icon="next" label="Next page" isDisabled={page === last} onClick={() => onPage(page + 1)} />
        <Step icon="last" label="Last page" isDisabled={page === last} onClick={() => onPage(last)} />
      </nav>
    </div>
  );
}

/** The size in force shows even where it can't be chosen: a list starts at 7, and the choices at 10. */
function sizesWith(pageSize: number, pageSizes: readonly number[]) {
  return pageSizes.includes(pageSize) ? pageSizes : [pageSize, ...pageSizes];
}

function Step({
  icon,
  label,
  isDisabled,
  onClick,
}: {
  icon: IconName;
  label: string;
  isDisabled: boolean;
  onClick: () => void;
}) {
  return (
    <Button size="small" className={classes.page} aria-label={label} disabled={isDisabled} onClick={onClick}>
      <Icon name={icon} size={15} />
    </Button>
  );
}
