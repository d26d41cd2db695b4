import {
  getInstance,
  loadRemote,
  registerPlugins,
  registerRemotes,
  satisfy,
} from '@module-federation/runtime-tools/runtime';
import type { Slice } from 'mfe-kit';
import kit from 'mfe-kit/package.json';
import type { SliceBuild } from '../live-slices';
import { screenAt } from './brought';
import { integrities } from './integrity';

/** The time limit for a slice's manifest or script, in milliseconds. */
const TIMEOUT_MS = 10_000;

/** Why a manifest was not taken, in sentences; the runtime would replace them by its own codes. */
const reasons = new Map<string, Error>();
/** The addresses of the files that each build starts with, by that of its manifest. */
const first = new Map<string, string[]>();
const registered = new Set<string>();
let isPrepared = false;

/** A build that needs another shell, so that trying again is useless. */
export class WrongShell extends Error {
  override readonly name = 'WrongShell';
}

/** Loads one build of a slice, once: no retry, no falling back. Rejects with what went wrong. */
export async function loadBuild(name: string, build: SliceBuild): Promise<Slice> {
  if (!satisfy(kit.version, build.shell)) throw wrongShell('mfe-kit', build.shell, kit.version);
  prepare();
  const remote = name.replaceAll('-', '_');
  const entry = new URL(build.entry, window.location.href).href;
  integrities.set(entry, build.integrity);
  reasons.delete(entry);
  // Registering again clears the runtime's memory of a failed try.
  registerRemotes([{ name: remote, entry }], { force: registered.has(remote) });
  registered.add(remote);

  const module = await loadRemote<{ default?: Partial<Slice> }>(`${remote}/slice`, { from: 'runtime' }).catch(
    async (cause: unknown) => {
      throw reasons.get(entry) ?? new Error(await reasonOf(entry, cause), { cause });
    },
  );
  const slice = module?.default;
  if (!slice || !Array.isArray(slice.routes)) throw new Error('It exports no slice');
  return slice as Slice;
}

/** Why a build could not be loaded, in words for the person in front of the page. */
async function reasonOf(entry: string, cause: unknown): Promise<string> {
  try {
    const { reasonFor } = await import('./load-failures');
    return await reasonFor(cause, first.get(entry) ?? []);
  } catch {
    return 'Its code could not be loaded';
  }
}

/** Adds time limits, and checks everything that is loaded against its integrity, and every build against the shell's libraries. */
function prepare() {
  if (isPrepared) return;
  isPrepared = true;
  window.__INTEGRITY__ = (address) => integrities.get(new URL(address, window.location.href).href) ?? '';
  registerPlugins([
    {
      name: 'time-outs-and-integrity',
      async fetch(url, init) {
        const integrity = integrities.get(url);
        const answer = await fetch(url, {
          ...init,
          ...(integrity ? { integrity } : {}),
          signal: AbortSignal.timeout(TIMEOUT_MS),
        });
        const manifest = answer.ok ? ((await answer.clone().json()) as Manifest) : null;
        const reason = manifest
          ? (misfitIn(manifest) ?? withoutIntegrity(url, manifest, Boolean(integrity)))
          : new Error(
              answer.status === 404
                ? 'This version does not exist on the server'
                : `The server answered its manifest with HTTP ${answer.status}`,
            );
        if (reason) {
          reasons.set(url, reason);
          throw reason;
        }
        startReads(manifest?.reads);
        return answer;
      },
      createScript({ url }) {
        const integrity = integrities.get(url) ?? '';
        const script = Object.assign(document.createElement('script'), { integrity, fetchPriority: 'high' });
        // Needed to check the file of another origin, and for a development server to know who asks for it.
        if (new URL(url, window.location.href).origin !== window.location.origin)
          script.crossOrigin = 'anonymous';
        return { script, timeout: TIMEOUT_MS };
      },
    },
  ]);
}

/** Starts the calls of the screen that is about to be drawn, while its code is loaded. */
function startReads(reads: Manifest['reads'] = {}) {
  const screen = screenAt(window.location.pathname);
  if (screen) window.__READS__?.start(reads[screen.path] ?? []);
}

interface Manifest {
  /** The calls that a screen makes first, by its path. */
  reads?: Record<string, string[]>;
  shared?: { name: string; requiredVersion: string }[];
  metaData: { remoteEntry: { name: string } };
  exposes: { assets: { js: { sync: string[] } } }[];
  integrity?: Record<string, string>;
}

/** Notes the integrity of a build's files. A build that is checked has to name them all. */
function withoutIntegrity(url: string, manifest: Manifest, isChecked: boolean): Error | undefined {
  const { metaData, exposes, integrity = {} } = manifest;
  const start = [metaData.remoteEntry.name, ...exposes.flatMap(({ assets }) => assets.js.sync)];
  if (isChecked && start.some((file) => !integrity[file]))
    return new Error('Its manifest does not name the integrity of its files');
  for (const [file, digest] of Object.entries(integrity)) integrities.set(new URL(file, url).href, digest);
  first.set(
    url,
    start.map((file) => new URL(file, url).href),
  );
  return undefined;
}

/** The first shared library that a build needs in a version that the shell does not have. */
function misfitIn({ shared = [] }: Manifest): WrongShell | undefined {
  const carried = getInstance()?.options.shared ?? {};
  for (const { name, requiredVersion } of shared) {
    const versions = carried[name]?.map(({ version }) => version) ?? [];
    if (!versions.some((version) => satisfy(version, requiredVersion)))
      return wrongShell(name, requiredVersion, versions.join(', ') || 'none');
  }
  return undefined;
}

const wrongShell = (library: string, wanted: string, carried: string) =>
  new WrongShell(`It was built for ${library} ${wanted}; this shell has ${carried}`);
