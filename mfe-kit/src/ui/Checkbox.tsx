import type { ComponentProps } from 'react';
import classes from './Checkbox.module.css';

/** The props of a `Checkbox`: those of the element. */
export interface CheckboxProps extends Omit<ComponentProps<'input'>, 'type' | 'size' | 'ref'> {
  /** Neither on nor off, as when only some of a list are chosen. */
  indeterminate?: boolean;
}

/** A checkbox; `children` are its label. */
export function Checkbox({ indeterminate = false, className, children, ...input }: CheckboxProps) {
  return (
    <label className={[classes.checkbox, className].filter(Boolean).join(' ')}>
      <input
        {...input}
        type="checkbox"
        ref={(box) => {
          if (box) box.indeterminate = indeterminate;
        }}
      />
      {children === undefined ? null : <span>{children}</span>}
    </label>
  );
}
