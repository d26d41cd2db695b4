import { useQuery } from '@tanstack/react-query';
import { Button, Field, Input } from 'mfe-kit/ui';
import { Modal, Select, ThemeProvider } from 'mfe-kit/ui-data';
import { type SubmitEvent, useState } from 'react';
import type { SliceList } from '../live-slices';
import { overrides } from '../overrides/is-overriding';
import { endOverride, entryOf, setOverride } from '../overrides/overrides';
import classes from './OverridePanel.module.css';
import { liveSlicesQuery } from './slice-list';

/** Which builds this tab loads instead of the live ones; each can be ended, and others added. */
export default function OverridePanel({ onClose }: { onClose: () => void }) {
  const { data: list } = useQuery(liveSlicesQuery());
  const kept = Object.entries(overrides());
  const end = (...names: string[]) => {
    names.forEach(endOverride);
    window.location.reload();
  };
  return (
    <ThemeProvider>
      <Modal open title="Slice overrides" footer={null} onCancel={onClose} width={480} centered>
        <p>
          {kept.length > 0
            ? 'This tab loads these builds instead of the live ones.'
            : 'This tab loads the live builds.'}
        </p>
        <ul className={classes.overrides} role="list">
          {kept.map(([name, place]) => (
            <li key={name}>
              <span>
                <strong>{name}</strong>
                <small>{place}</small>
              </span>
              <Button aria-label={`End override of ${name}`} onClick={() => end(name)}>
                End
              </Button>
            </li>
          ))}
        </ul>
        {list ? <AddForm list={list} /> : null}
        <div className="actions">
          {kept.length > 1 ? <Button onClick={() => end(...Object.keys(overrides()))}>End all</Button> : null}
          <Button onClick={onClose}>Close</Button>
        </div>
      </Modal>
    </ThemeProvider>
  );
}

function AddForm({ list: { portal, slices } }: { list: SliceList }) {
  const names = Object.keys(slices);
  const [name, setName] = useState(names[0] ?? '');
  const [place, setPlace] = useState('');
  const [refusal, setRefusal] = useState<string>();

  async function add(event: SubmitEvent) {
    event.preventDefault();
    const problem = (await problemWith(name, place.trim())) ?? setOverride(name, place.trim(), portal);
    setRefusal(problem ? `${problem[0]?.toUpperCase() ?? ''}${problem.slice(1)}.` : undefined);
    if (!problem) window.location.reload();
  }

  return (
    <form className={classes.add} onSubmit={(event) => void add(event)}>
      <Field label="Slice">
        {(control) => (
          <Select
            {...control}
            virtual={false}
            options={names.map((value) => ({ value, label: value }))}
            value={name}
            onChange={setName}
          />
        )}
      </Field>
      <Field label="Version or address" error={refusal} isLive>
        {(control) => (
          <Input
            {...control}
            placeholder="1.4.0 or http://localhost:3002"
            value={place}
            onChange={({ target }) => setPlace(target.value)}
          />
        )}
      </Field>
      <Button type="primary" htmlType="submit">
        Add override
      </Button>
    </form>
  );
}

/** The reason why a version can't be loaded, if there is one; the page tries an address when it loads. */
async function problemWith(name: string, place: string): Promise<string | null> {
  if (!/^\d/.test(place)) return null;
  try {
    const { ok } = await fetch(entryOf(name, place));
    return ok ? null : `this portal has no version ${place} of ${name}`;
  } catch {
    return 'the portal could not be reached';
  }
}
