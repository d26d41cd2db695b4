import { useQuery } from '@tanstack/react-query';
import kit from 'mfe-kit/package.json';
import { Button, Card } from 'mfe-kit/ui';
import shell from '../../package.json';
import type { SliceBuild } from '../live-slices';
import { overridePanel } from '../overrides/is-overriding';
import { type LoadedSlice, loadedSlices } from '../slices/load-slice';
import { liveSlicesQuery } from '../slices/slice-list';
import classes from './AboutPortal.module.css';

interface Part {
  name: string;
  version: string;
  /** The address of its code. */
  from: string;
  note: string;
}

/** The parts of this page: the shell and every slice, with version and origin. */
export function AboutPortal() {
  const { data: list, isError } = useQuery(liveSlicesQuery());
  const parts: Part[] = [
    {
      name: shell.name,
      version: shell.version,
      from: `${window.location.origin}/`,
      note: `Shell, with mfe-kit ${kit.version}${list?.shell ? `, build ${list.shell.build}` : ''}`,
    },
    ...Object.entries(list?.slices ?? {}).map(([name, live]) =>
      sliceOf(name, live, loadedSlices().get(name)),
    ),
  ];
  return (
    <Card
      title="About"
      flush
      action={
        list?.portal.allow_override ? (
          <Button size="small" onClick={() => overridePanel.set(true)}>
            Overrides
          </Button>
        ) : null
      }
    >
      <table className={classes.parts}>
        <thead>
          <tr>
            <th scope="col">Part</th>
            <th scope="col">Version</th>
          </tr>
        </thead>
        <tbody>
          {parts.map(({ name, version, from, note }) => (
            <tr key={name}>
              <th scope="row">
                {name}
                <p>{note}</p>
                <p>{from}</p>
              </th>
              <td>{version}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {isError ? <p className={classes.failed}>The list of slices could not be read.</p> : null}
    </Card>
  );
}

function sliceOf(name: string, live: SliceBuild, slice: LoadedSlice | undefined): Part {
  const build = slice?.used ?? slice?.live ?? live;
  return { name, version: build.version, from: folderOf(build), note: noteOn(build, slice) };
}

function noteOn(build: SliceBuild, slice: LoadedSlice | undefined): string {
  if (build.integrity === '') return 'Override';
  if (!slice) return 'Live, not loaded yet';
  if (!slice.used) return `Could not be loaded: ${slice.failure ?? ''}`;
  if (slice.failure) return `Previous version: ${slice.live.version} could not be loaded: ${slice.failure}`;
  return 'Live';
}

const folderOf = ({ entry }: SliceBuild) => new URL('.', new URL(entry, window.location.href)).href;
