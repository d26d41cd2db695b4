import { Button } from 'mfe-kit/ui';
import { useState } from 'react';
import { refusals } from './is-overriding';
import classes from './OverrideBadge.module.css';
import { overrides, resetOverrides } from './overrides';

/** Shows on every page which builds this tab loads instead of the live ones, and ends that. */
export default function OverrideBadge() {
  const [isRefusalRead, setRefusalRead] = useState(false);
  const entries = Object.entries(overrides());
  const refused = isRefusalRead ? [] : refusals;
  if (entries.length === 0 && refused.length === 0) return null;
  return (
    <aside className={classes.badge} aria-label="Slice override">
      <div className={classes.said}>
        <ul>
          {entries.map(([name, address]) => (
            <li key={name}>
              <strong>{name}</strong> from {address}
            </li>
          ))}
        </ul>
        {refused.map((refusal) => (
          <p key={refusal} role="alert">
            {refusal}
          </p>
        ))}
      </div>
      {entries.length > 0 ? (
        <Button size="small" onClick={resetOverrides}>
          Reset
        </Button>
      ) : (
        <Button size="small" onClick={() => setRefusalRead(true)}>
          Dismiss
        </Button>
      )}
    </aside>
  );
}
