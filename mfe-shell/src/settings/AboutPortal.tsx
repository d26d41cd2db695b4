import { useQuery } from '@tanstack/react-query';
import { useSession } from 'mfe-kit';
import kit from 'mfe-kit/package.json';
import { Button, Card } from 'mfe-kit/ui';
import { Fragment, type ReactNode } from 'react';
import shell from '../../package.json';
import type { SliceBuild } from '../live-slices';
import { overridePanel } from '../overrides/is-overriding';
import { type LoadedSlice, loadedSlices } from '../slices/load-slice';
import { liveSlicesQuery } from '../slices/slice-list';
import { aboutTexts, type AboutTexts } from './about-texts';
import classes from './AboutPortal.module.css';

interface Part {
  name: string;
  version: string;
  from: string;
  note: string;
}

/** The parts of this page, for admins: the shell and every slice, with version and origin. */
export function AboutPortal() {
  const { user } = useSession();
  return user?.role === 'admin' ? <Parts /> : null;
}

function Parts() {
  const { data: list, isError } = useQuery(liveSlicesQuery());
  const texts = aboutTexts();
  const parts: Part[] = [
    {
      name: shell.name,
      version: shell.version,
      from: `${window.location.origin}/`,
      note: [texts.shell(kit.version), ...(list?.shell ? [texts.build(list.shell.build)] : [])].join(', '),
    },
    ...Object.entries(list?.slices ?? {}).map(([name, live]) =>
      sliceOf(name, live, loadedSlices().get(name), texts),
    ),
  ];
  return (
    <Card
      title={texts.about}
      flush
      action={
        list?.portal.allow_override ? (
          <Button size="small" onClick={() => overridePanel.set(true)}>
            {texts.overrides}
          </Button>
        ) : null
      }
    >
      <details className={classes.folded}>
        <summary>{texts.parts}</summary>
        <table className={classes.parts}>
          <thead>
            <tr>
              <th scope="col">{texts.part}</th>
              <th scope="col">{texts.version}</th>
            </tr>
          </thead>
          <tbody>
            {parts.map(({ name, version, from, note }) => (
              <tr key={name}>
                <th scope="row">
                  {name}
                  <p>{note}</p>
                  <p>{breakable(from)}</p>
                </th>
                <td>{version}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
      {isError ? <p className={classes.failed}>{texts.listNotRead}</p> : null}
    </Card>
  );
}

/** An address that may break after its slashes, and not inside of a word. */
function breakable(address: string): ReactNode {
  return address.split(/(?<=\/)(?=[^/])/).map((part, index) => (
    <Fragment key={index}>
      {part}
      <wbr />
    </Fragment>
  ));
}

function sliceOf(name: string, live: SliceBuild, slice: LoadedSlice | undefined, texts: AboutTexts): Part {
  const build = slice?.used ?? slice?.live ?? live;
  return { name, version: build.version, from: folderOf(build), note: noteOn(build, slice, texts) };
}

function noteOn(build: SliceBuild, slice: LoadedSlice | undefined, texts: AboutTexts): string {
  if (build.integrity === '') return texts.override;
  if (!slice) return texts.notLoadedYet;
  if (!slice.used) return texts.notLoaded(slice.failure ?? '');
  if (slice.failure) return texts.previous(slice.live.version, slice.failure);
  return texts.live;
}

const folderOf = ({ entry }: SliceBuild) => new URL('.', new URL(entry, window.location.href)).href;
