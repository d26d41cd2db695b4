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

/** The time limit for a slice's manifest or script, in milliseconds. */
const TIMEOUT_MS = 10_000;

const integrities = new Map<string, string>();
/** Why a manifest was not taken, in sentences; the runtime would replace them by its own codes. */
const reasons = new Map<string, Error>();
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
    (cause: unknown) => {
      throw reasons.get(entry) ?? new Error(reasonOf(cause), { cause });
    },
  );
  const slice = module?.default;
  if (!slice || !Array.isArray(slice.routes)) throw new Error('It exports no slice');
  return slice as Slice;
}

/** The runtime's own codes, in words for the person in front of the page. */
const REASONS: Record<string, string> = {
  'RUNTIME-001': 'Its code does not define a slice',
  'RUNTIME-003': 'Its manifest could not be loaded, or is not the published one',
  'RUNTIME-008': 'Its code could not be loaded',
  'RUNTIME-013': 'Its manifest is not valid',
};

function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const code = Object.keys(REASONS).find((known) => text.includes(known));
  return (code && REASONS[code]) || (text.split('\n')[0] ?? '');
}

/** Adds time limits, and checks every manifest against its integrity and the shell's libraries. */
function prepare() {
  if (isPrepared) return;
  isPrepared = true;
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
        const reason = answer.ok
          ? misfitIn((await answer.clone().json()) as Manifest)
          : new Error(
              answer.status === 404
                ? 'This version does not exist on the server'
                : `The server answered its manifest with HTTP ${answer.status}`,
            );
        if (reason) {
          reasons.set(url, reason);
          throw reason;
        }
        return answer;
      },
      createScript: () => ({ timeout: TIMEOUT_MS }),
    },
  ]);
}

interface Manifest {
  shared?: { name: string; requiredVersion: string }[];
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
