import { type CSSProperties, useId, useState } from 'react';
import { Icon } from 'mfe-kit/ui';
import classes from './OutcomeChart.module.css';
import { type Outcome, stepsTo } from './report';

declare module 'react' {
  interface CSSProperties {
    /** A share of the chart's height or width, from 0 to 1. */
    '--share'?: number;
  }
}

export interface Bar {
  /** For the axis. */
  short: string;
  long: string;
  values: Record<Outcome, number | null>;
}

interface OutcomeChartProps {
  label: string;
  /** The name of the slider's choice, such as 'Day shown above'. */
  sliderLabel: string;
  outcomes: readonly (readonly [Outcome, string])[];
  bars: readonly Bar[];
  format: (value: number | null) => string;
}

const ICONS = { completed: 'success', failed: 'failure', pending: 'clock' } as const;

/** Names that the axis has room for. */
const NAMES = 7;

/**
 * Bars of the outcomes, one on the other. A slider below moves through them, by keyboard, touch or pointer, and the
 * line above says what the chosen one shows; a table beside the chart has all of them.
 */
export function OutcomeChart({ label, sliderLabel, outcomes, bars, format }: OutcomeChartProps) {
  const [chosen, setChosen] = useState(bars.length - 1);
  const id = useId();
  const at = Math.min(chosen, bars.length - 1);
  const current = bars[at];
  const sum = ({ values }: Bar) => outcomes.reduce((total, [outcome]) => total + (values[outcome] ?? 0), 0);
  const steps = stepsTo(Math.max(...bars.map(sum)));
  const top = steps.at(-1) ?? 1;
  const everyNth = Math.ceil(bars.length / NAMES);
  const valueText = current
    ? `${current.long}: ${outcomes.map(([outcome, name]) => `${name} ${format(current.values[outcome])}`).join(', ')}`
    : '';

  return (
    <figure className={classes.chart} aria-labelledby={id}>
      <figcaption id={id} className={classes.caption}>
        {label}
      </figcaption>
      <p className={classes.reading} aria-hidden="true">
        <strong>{current?.long}</strong>
        {outcomes.map(([outcome, name]) => (
          <span key={outcome} className={classes[`word-${outcome}`]}>
            <Icon name={ICONS[outcome]} size={14} />
            {name} <b>{current ? format(current.values[outcome]) : ''}</b>
          </span>
        ))}
      </p>
      <div className={classes.plot} aria-hidden="true">
        {steps.map((step) => (
          <div key={step} className={classes.step} style={{ '--share': step / top }}>
            <span>{format(step)}</span>
          </div>
        ))}
        <div className={classes.bars}>
          {bars.map((bar, index) => (
            <div
              key={bar.long}
              className={classes.bar}
              data-chosen={index === at}
              onPointerEnter={() => setChosen(index)}
              onPointerDown={() => setChosen(index)}
            >
              {outcomes.map(([outcome]) => {
                const value = bar.values[outcome];
                return value ? (
                  <span
                    key={outcome}
                    className={classes[outcome]}
                    style={{ '--share': value / top } satisfies CSSProperties}
                  />
                ) : null;
              })}
            </div>
          ))}
        </div>
      </div>
      <div className={classes.names} aria-hidden="true">
        {bars.map((bar, index) => (
          <span key={bar.long}>{index % everyNth === 0 ? bar.short : ''}</span>
        ))}
      </div>
      <label className={classes.slider}>
        <span>{sliderLabel}</span>
        <input
          type="range"
          min={0}
          max={bars.length - 1}
          value={at}
          aria-valuetext={valueText}
          onChange={({ target }) => setChosen(Number(target.value))}
        />
      </label>
    </figure>
  );
}
