import { registerPlugins, registerRemotes, loadRemote, satisfy } from '@module-federation/enhanced/runtime';
import type { Slice } from 'mfe-kit';
import kit from 'mfe-kit/package.json';
import type { SliceBuild } from './slice-list';

/** Milliseconds until a slice's manifest or script is given up. */
const TIMEOUT_MS = 10_000;

const integrities = new Map<string, string>();
const registered = new Set<string>();
let isPrepared = false;

/** Loads one build of a slice, once: no retry, no falling back. Rejects with what went wrong. */
export async function loadBuild(name: string, build: SliceBuild): Promise<Slice> {
  if (!satisfy(kit.version, build.shell)) {
    throw new Error(`It was built for mfe-kit ${build.shell}; this shell has ${kit.version}`);
  }
  prepare();
  const remote = name.replaceAll('-', '_');
  const entry = new URL(build.entry, window.location.href).href;
  integrities.set(entry, build.integrity);
  // Registering anew clears what the runtime remembers of a failed try.
  registerRemotes([{ name: remote, entry }], { force: registered.has(remote) });
  registered.add(remote);

  const module = await loadRemote<{ default?: Partial<Slice> }>(`${remote}/slice`, { from: 'runtime' }).catch(
    (cause: unknown) => {
      throw new Error(reasonOf(cause), { cause });
    },
  );
  const slice = module?.default;
  if (!slice || !Array.isArray(slice.routes)) throw new Error('It exports no slice');
  return slice as Slice;
}

/** The runtime's own codes, in words for the person in front of the page. */
const REASONS: Record<string, string> = {
  'RUNTIME-001': 'Its code defines no slice',
  'RUNTIME-003': 'Its manifest could not be had, or is not the published one',
  'RUNTIME-008': 'Its code could not be had',
  'RUNTIME-013': 'Its manifest is none',
};

function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const code = Object.keys(REASONS).find((known) => text.includes(known));
  return (code && REASONS[code]) || (text.split('\n')[0] ?? '');
}

/** Every manifest is checked against its integrity, and nothing is waited for without end. */
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
        if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
        return answer;
      },
      createScript: () => ({ timeout: TIMEOUT_MS }),
    },
  ]);
}
