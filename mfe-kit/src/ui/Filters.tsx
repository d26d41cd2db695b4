import { type KeyboardEvent, lazy, type ReactNode, Suspense, useId, useRef, useState } from 'react';
import { Button } from './Button';
import classes from './Filters.module.css';
import { Icon } from './Icon';
import { countFilters, type FilteredFacts, type ListFilters, NO_FILTERS } from './list-filters';
import { listTexts } from './list-texts';
import { Unseen } from './Unseen';

const FilterPanel = lazy(() => import('./FilterPanel')) as <Row>(props: FiltersProps<Row>) => ReactNode;

export interface FiltersProps<Row> {
  /** The button's text. */
  label: string;
  /** The label of the dates, such as 'Approved'. */
  dates: string;
  /** The people by whom the list can be filtered, with the label of each. */
  people: Partial<Record<'approver' | 'disburser', string>>;
  /** All rows of the list; the panel counts them by person. */
  rows: readonly Row[];
  factsOf: (row: Row) => FilteredFacts;
  value: ListFilters;
  onChange: (changes: Partial<ListFilters>) => void;
}

/**
 * A button that opens the filters of a list below the tools: dates, amounts and people. They apply at once.
 * The screen keeps them in the address (`filtersFrom`, `writeFilters`) and selects the rows (`rowFilter`).
 */
export function Filters<Row>(props: FiltersProps<Row>) {
  const { label, value, onChange } = props;
  const [isOpen, setOpen] = useState(false);
  const [clearings, setClearings] = useState(0);
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const count = countFilters(value);
  const texts = listTexts();

  function closeByEscape({ key, target }: KeyboardEvent) {
    // The open list of a field closes first.
    if (key !== 'Escape' || (target as Element).getAttribute('aria-expanded') === 'true') return;
    setOpen(false);
    button.current?.focus();
  }

  return (
    <>
      <Button
        ref={button}
        icon={<Icon name="filter" size={15} />}
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        onClick={() => setOpen(!isOpen)}
      >
        {label}
        {count > 0 ? (
          <span>
            {' '}
            <span className={classes.count}>
              {count}
              <Unseen> {texts.set}</Unseen>
            </span>
          </span>
        ) : null}
      </Button>
      {count > 0 ? (
        <Button
          type="link"
          className={classes.clear}
          onClick={() => {
            onChange(NO_FILTERS);
            setClearings(clearings + 1);
            button.current?.focus();
          }}
        >
          {texts.clearAll}
        </Button>
      ) : null}
      {isOpen ? (
        <div
          id={id}
          className={classes.panel}
          role="group"
          aria-label={label}
          onKeyDownCapture={closeByEscape}
        >
          <Suspense fallback={null}>
            {/* A new one forgets what could not be read. */}
            <FilterPanel key={clearings} {...props} />
          </Suspense>
        </div>
      ) : null}
    </>
  );
}
