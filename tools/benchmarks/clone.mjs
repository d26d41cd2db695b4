import { execFileSync, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const root = join(import.meta.dirname, '../..');

/** A temporary clone of the last commit, and a command that runs in it. */
export class Clone {
  #running;
  #log;

  constructor(temporary) {
    /** A folder that is removed in the end, with all that is in it. */
    this.temporary = temporary;
    /** The clone, which is in it. */
    this.folder = join(temporary, 'clone');
    this.#log = join(temporary, 'log');
  }

  /** Calls `use` with a clone, and then ends what it started and removes everything. */
  static async with(use) {
    const clone = new Clone(await mkdtemp(join(tmpdir(), 'mkopo-clone-')));
    for (const signal of ['SIGINT', 'SIGTERM'])
      process.on(signal, () => void clone.#remove().then(() => process.exit(1)));
    try {
      execFileSync('git', ['clone', '--quiet', root, clone.folder]);
      await use(clone);
    } finally {
      await clone.#remove();
    }
  }

  /** This process's environment, without what would change what is built, and where. */
  static environment() {
    const changes = /^(CARGO_TARGET_DIR|CARGO_BUILD_.*|RUSTC_WRAPPER|MAKE.*|MFLAGS|MKOPO_.*|PORT)$/;
    return Object.fromEntries(Object.entries(process.env).filter(([name]) => !changes.test(name)));
  }

  /** Starts a command in the clone, in a process group of its own. */
  start(command, env) {
    const log = openSync(this.#log, 'w');
    const stdio = ['ignore', log, log];
    this.#running = spawn('sh', ['-c', command], { cwd: this.folder, env, detached: true, stdio });
    closeSync(log);
  }

  /** The exit code of the command, or `null`. */
  get exitCode() {
    return this.#running.exitCode;
  }

  /** The seconds until something is so; fails if the command ends before, or after too many seconds. */
  async time(isSo, { within = 3600, of = 'the command' } = {}) {
    const started = performance.now();
    while (!(await isSo())) {
      const end = this.#running.exitCode ?? this.#running.signalCode;
      if (end !== null) throw new Error(`it ended with ${end}:\n${(await this.said()).slice(-20_000)}`);
      if (performance.now() - started > within * 1000)
        throw new Error(`nothing is seen of ${of} after ${within} s:\n${(await this.said()).slice(-20_000)}`);
      await sleep(50);
    }
    return (performance.now() - started) / 1000;
  }

  /** The output of the command so far. */
  said() {
    return readFile(this.#log, 'utf8');
  }

  async #remove() {
    for (const signal of this.#running ? ['SIGTERM', 'SIGKILL'] : []) {
      try {
        process.kill(-this.#running.pid, signal);
        await sleep(3000);
      } catch {
        break; // None of its processes is left.
      }
    }
    await rm(this.temporary, { recursive: true, force: true, maxRetries: 5 });
  }
}
