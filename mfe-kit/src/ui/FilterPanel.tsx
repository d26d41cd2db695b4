import Select from 'antd/es/select';
import { formatDate, isolated, searched, startOfDate } from 'mfe-kit';
import { useMemo, useState } from 'react';
import { Field } from './Field';
import classes from './Filters.module.css';
import type { FiltersProps } from './Filters';
import { Input } from './Input';
import { amountFilter, type FilteredFacts } from './list-filters';
import { listTexts } from './list-texts';

type Person = 'approver' | 'disburser';

/** The fields of `Filters`. */
export default function FilterPanel<Row>({
  dates,
  people,
  rows,
  factsOf,
  value,
  onChange,
}: FiltersProps<Row>) {
  const facts = useMemo(() => rows.map(factsOf), [rows, factsOf]);
  const { from, to, min, max } = value;
  const texts = listTexts();
  const isDateWrong = from !== '' && to !== '' && from > to;
  const isAmountWrong = min !== '' && max !== '' && Number(min) > Number(max);
  const draft = (key: 'from' | 'to' | 'min' | 'max', given: Pick<DraftProps, 'type' | 'label' | 'error'>) => (
    <Draft {...given} value={value[key]} onChange={(typed) => onChange({ [key]: typed })} />
  );
  return (
    <div className={classes.fields}>
      {draft('from', { type: 'date', label: texts.datesFrom(dates) })}
      {draft('to', {
        type: 'date',
        label: texts.datesTo(dates),
        error: isDateWrong ? texts.dayIsBefore : undefined,
      })}
      {draft('min', { type: 'amount', label: texts.amountFrom })}
      {draft('max', {
        type: 'amount',
        label: texts.amountTo,
        error: isAmountWrong ? texts.amountIsBelow : undefined,
      })}
      {(Object.entries(people) as [Person, string][]).map(([person, label]) => (
        <Field key={person} label={label}>
          {(control) => (
            <Select
              {...control}
              virtual={false}
              showSearch={{
                filterOption: (text, option) => searched(option?.label ?? '').includes(searched(text)),
              }}
              options={optionsOf(facts, person)}
              value={value[person]}
              onChange={(name) => onChange({ [person]: name })}
            />
          )}
        </Field>
      ))}
    </div>
  );
}

interface DraftProps {
  type: 'date' | 'amount';
  label: string;
  value: string;
  error?: string | undefined;
  onChange: (value: string) => void;
}

/** A field that keeps what is typed itself, however late the address is updated, and an amount that can't be read. */
function Draft({ type, label, value, error, onChange }: DraftProps) {
  const [draft, setDraft] = useState<string | null>(null);
  const day = type === 'date' ? startOfDate(value) : null;
  const isUnread = type === 'amount' && draft !== null && draft.trim() !== '' && amountFilter(draft) === '';
  return (
    // The browser writes the day in its own way.
    <Field
      label={label}
      hint={day ? formatDate(day) : undefined}
      error={isUnread ? listTexts().amountUnread : error}
      isLive
    >
      {(control) => (
        <Input
          {...control}
          {...(type === 'date' ? { type, max: '9999-12-31' } : { inputMode: 'numeric', prefix: 'KES' })}
          autoComplete="off"
          value={draft ?? value}
          onChange={({ target }) => {
            setDraft(target.value);
            onChange(type === 'date' ? target.value : amountFilter(target.value));
          }}
          onBlur={() => {
            if (!isUnread) setDraft(null);
          }}
        />
      )}
    </Field>
  );
}

function optionsOf(facts: readonly FilteredFacts[], person: Person) {
  const counts = new Map<string, number>();
  for (const { [person]: name = '' } of facts) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [
    { value: '', label: listTexts().anyone },
    ...[...counts.keys()]
      .sort((one, other) => one.localeCompare(other))
      .map((name) => ({ value: name, label: `${isolated(name)} (${counts.get(name)})` })),
  ];
}
